"""Spleeter separation: conformance, agreement with the reference implementation and model loading."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.registry import Engines
from cutroom.engines.separation.spleeter import BINS, FRAMES_STEP, WINDOW_FRAMES, SpleeterSeparator, plan_windows
from cutroom.platform.settings import Settings
from tests.engines.recognition.recognizer_suite import model_folder
from tests.engines.separation.separator_suite import SourceSeparatorSuite

MODEL = "spleeter-2stems"
# (frame, bin, mask of both channels) for noise, from the reference torch implementation
VOCALS = [(0, 951, [0.21348, 0.21518]), (5, 1018, [0.22374, 0.22389]), (5, 100, [0.00022, 0.00022])]
ACCOMPANIMENT = [(0, 991, [0.79953, 0.79856]), (50, 1023, [0.76721, 0.76590]), (100, 900, [0.99971, 0.99971])]


class TestSpleeter(SourceSeparatorSuite):
    """The conformance suite and adapter-specific tests."""

    @pytest.fixture(scope="class")
    @classmethod
    def separator(cls) -> SpleeterSeparator:
        return SpleeterSeparator(model_folder(MODEL), cpu_threads=2)

    def test_network_output_matches_torch(self, separator: SpleeterSeparator) -> None:
        """The graph is built by dev/convert_models.py, so it is compared with the original."""
        random = np.random.default_rng(0).random((1, 2, 2 * FRAMES_STEP, BINS)).astype(np.float32)
        vocals, accompaniment = separator._session.run(
            None, {"X": random * np.linspace(30, 0.01, BINS, dtype=np.float32)}
        )
        for frame, frequency, mask in VOCALS:
            assert vocals[0, :, frame, frequency] == pytest.approx(mask, abs=1e-4)
        for frame, frequency, mask in ACCOMPANIMENT:
            assert accompaniment[0, :, frame, frequency] == pytest.approx(mask, abs=1e-4)


@pytest.mark.parametrize(
    ("frames", "lengths"),
    [
        (0, []),
        (1, [1]),
        (WINDOW_FRAMES, [WINDOW_FRAMES]),
        (WINDOW_FRAMES + 1, [256, 257]),
        (2587, [431, 431, 431, 431, 431, 432]),
    ],
)
def test_windows_are_adjacent_and_balanced(frames: int, lengths: list[int]) -> None:
    windows = plan_windows(frames)
    assert [end - start for start, end in windows] == lengths
    assert [frame for start, end in windows for frame in range(start, end)] == list(range(frames))


def test_missing_model_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(EngineUnavailableError, match=MODEL):
        SpleeterSeparator(tmp_path)


@pytest.mark.parametrize("keep", [4, 1000, 30_000_000])
def test_truncated_model_is_unavailable(tmp_path: Path, keep: int) -> None:
    for path in model_folder(MODEL).glob("*.safetensors"):
        shutil.copyfile(path, tmp_path / path.name)
        with (tmp_path / path.name).open("rb+") as file:
            file.truncate(keep)
    with pytest.raises(EngineUnavailableError, match=MODEL):
        SpleeterSeparator(tmp_path)


@pytest.mark.parametrize("name", ["none", "spleeter-9stems"])
def test_separator_is_selected_by_settings(name: str) -> None:
    settings = Settings.model_construct(models_dir=model_folder(MODEL).parent, speech_threads=1)
    engines = Engines(settings)
    assert engines.source_separator() is engines.source_separator()
    with pytest.raises(EngineUnavailableError):
        Engines(settings.model_copy(update={"separator": name})).source_separator()
