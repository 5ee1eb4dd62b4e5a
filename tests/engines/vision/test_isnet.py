"""ISNet separates a subject from its background."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.vision.isnet import IsnetBackgroundRemover
from dev.fixtures.photographs import FACE, photograph
from tests.engines.recognition.recognizer_suite import model_folder

if TYPE_CHECKING:
    from cutroom.engines.types import Image
    from cutroom.engines.vision.port import Mask

MODEL = "isnet-small"


@pytest.fixture(scope="module")
def remover() -> IsnetBackgroundRemover:
    return IsnetBackgroundRemover(model_folder(MODEL), name=MODEL, cpu_threads=2)


@pytest.fixture(scope="module")
def photographs() -> "dict[str, Image]":
    """A person, and a cup at three times its size."""
    larger = np.repeat(np.repeat(photograph("coffee.png"), 3, axis=0), 3, axis=1)
    return {"person": photograph("astronaut.png"), "cup": larger}


@pytest.fixture(scope="module")
def masks(remover: IsnetBackgroundRemover, photographs: "dict[str, Image]") -> "dict[str, Mask]":
    """Computed once, because a mask takes seconds, and concurrently, because the remover must allow it."""
    with ThreadPoolExecutor(len(photographs)) as pool:
        return dict(zip(photographs, pool.map(remover.mask, photographs.values()), strict=True))


def test_person_is_separated_from_the_background(masks: "dict[str, Mask]") -> None:
    mask = masks["person"]
    assert mask.shape == photograph("astronaut.png").shape[:2]
    assert mask.dtype == np.uint8
    x, y, width, height = (round(512 * share) for share in FACE)
    assert mask[y : y + height, x : x + width].mean() > 235  # the face
    assert mask[400:500, 100:200].mean() > 245  # the suit
    assert mask[:150, 400:].mean() < 10  # the shuttle behind
    assert mask[:200, :60].mean() < 10  # the flag
    assert ((mask > 20) & (mask < 235)).mean() < 0.05  # a sharp edge


def test_cup_is_separated_from_the_table_in_a_large_image(
    photographs: "dict[str, Image]", masks: "dict[str, Mask]"
) -> None:
    mask = masks["cup"]
    assert mask.shape == photographs["cup"].shape[:2]
    rows, columns = mask.shape
    assert mask[rows * 2 // 5 : rows * 3 // 5, columns * 2 // 5 : columns * 3 // 5].mean() > 240
    assert mask[: rows // 6, : columns // 6].mean() < 10


def test_remover_is_thread_safe(
    remover: IsnetBackgroundRemover, photographs: "dict[str, Image]", masks: "dict[str, Mask]"
) -> None:
    assert np.array_equal(remover.mask(photographs["person"]), masks["person"])


@pytest.mark.parametrize("shape", [(9, 9), (9, 9, 4)])
def test_other_array_types_are_rejected(remover: IsnetBackgroundRemover, shape: tuple[int, ...]) -> None:
    with pytest.raises(EngineError, match="8-bit RGB"):
        remover.mask(np.zeros(shape, np.uint8))


def test_missing_or_broken_model_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(EngineUnavailableError, match=MODEL):
        IsnetBackgroundRemover(tmp_path, name=MODEL, cpu_threads=1)
    (tmp_path / f"{MODEL}.onnx").write_bytes(b"no model")
    with pytest.raises(EngineUnavailableError, match=MODEL):
        IsnetBackgroundRemover(tmp_path, name=MODEL, cpu_threads=1)
