"""MiniLM in numpy matches the reference implementation."""

# ruff: noqa: E501 - one of the reference sentences is long

from pathlib import Path

import numpy as np
import pytest

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.writing import minilm
from cutroom.engines.writing.minilm import DIMENSIONS, MAX_TEXTS, MiniLmEmbedder, _batches
from cutroom.engines.writing.port import TextEmbedder
from tests.engines.recognition.recognizer_suite import model_folder
from tests.engines.writing.text_embedder_suite import TextEmbedderSuite

# First components of each vector, computed by torch from the same weights.
REFERENCE = {
    "The cat sat on the mat.": (
        0.13023999333381653,
        -0.015769999474287033,
        -0.036720000207424164,
        0.057989999651908875,
        -0.059790000319480896,
        0.03305000066757202,
    ),
    "How do bees make honey in winter?": (
        -0.043209999799728394,
        -0.004819999914616346,
        0.003590000094845891,
        0.04236999899148941,
        -0.044110000133514404,
        0.03187999874353409,
    ),
    "Prices rose by 2,500 euros in 1984!": (
        0.059130001813173294,
        0.017340000718832016,
        0.07113999873399734,
        0.0782100036740303,
        0.06419999897480011,
        -0.011099999770522118,
    ),
    "x": (
        -0.09791000187397003,
        -0.06400000303983688,
        -0.023180000483989716,
        -0.04619999974966049,
        0.021700000390410423,
        -0.02848999947309494,
    ),
    "Ein kleines Haus am See, sagte er.": (
        -0.062150001525878906,
        0.09148000180721283,
        0.029090000316500664,
        0.025709999725222588,
        -0.028839999809861183,
        0.09471999853849411,
    ),
    "O barco voltou ao porto antes da tempestade, e nós ficamos felizes.": (
        0.013369999825954437,
        0.014840000309050083,
        -0.02525000087916851,
        -0.02102000080049038,
        -0.052319999784231186,
        -0.01696000061929226,
    ),
    "": (
        -0.11884000152349472,
        0.04830000177025795,
        -0.0025500000920146704,
        -0.011009999550879002,
        0.05195000022649765,
        0.010289999656379223,
    ),
    "We walked slowly along the river and talked about the weather, and then, when it was late, we went home and slept for eleven hours without a dream.": (
        0.08201999962329865,
        0.09578999876976013,
        0.08722999691963196,
        0.13734999299049377,
        0.06212000176310539,
        -0.026580000296235085,
    ),
    "日本語のテキスト": (
        0.0016499999910593033,
        0.14297999441623688,
        0.06817000359296799,
        -0.022779999300837517,
        -0.07594999670982361,
        0.04095999896526337,
    ),
    "antidisestablishmentarianism — naïve café": (
        0.07175000011920929,
        0.005810000002384186,
        0.019220000132918358,
        0.02897999994456768,
        -0.044849999248981476,
        -0.030169999226927757,
    ),
}


class TestMiniLm(TextEmbedderSuite):
    """The conformance suite."""

    @pytest.fixture(scope="class")
    @classmethod
    def embedder(cls) -> TextEmbedder:
        return MiniLmEmbedder(model_folder("minilm-l6-v2"))


def test_vectors_match_torch() -> None:
    found = MiniLmEmbedder(model_folder("minilm-l6-v2")).embed(list(REFERENCE))
    assert found.shape == (len(REFERENCE), DIMENSIONS)
    assert np.abs(found[:, :6] - np.array(list(REFERENCE.values()))).max() < 2e-5


def test_texts_are_batched_by_length_within_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "BATCH_TOKENS", 20)
    assert _batches([5, 9, 5, 30, 8]) == [[0, 2], [4, 1], [3]]


def test_invalid_model_cannot_be_loaded(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"\xff" * 64)
    with pytest.raises(EngineUnavailableError, match="cannot be loaded"):
        MiniLmEmbedder(tmp_path)


def test_number_of_texts_is_bounded() -> None:
    with pytest.raises(EngineError, match="At most"):
        MiniLmEmbedder(model_folder("minilm-l6-v2")).embed(["a"] * (MAX_TEXTS + 1))
