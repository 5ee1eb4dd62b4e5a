"""Spleeter takes speech and music apart, in memory that does not grow with the recording."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.registry import Engines
from cutroom.engines.separation.spleeter import BINS, FRAMES_STEP, WINDOW_FRAMES, SpleeterSeparator, lay_windows
from cutroom.platform.settings import Settings
from tests.engines.recognition.recognizer_suite import model_folder
from tests.engines.separation.separator_suite import SeparatorSuite

MODEL = "spleeter-2stems"
# (frame, pitch, shares of both sides) of noise, as torch gave them with the code that the weights come with
VOICES = [(0, 951, [0.21348, 0.21518]), (5, 1018, [0.22374, 0.22389]), (5, 100, [0.00022, 0.00022])]
OTHERS = [(0, 991, [0.79953, 0.79856]), (50, 1023, [0.76721, 0.76590]), (100, 900, [0.99971, 0.99971])]


class TestSpleeter(SeparatorSuite):
    """The conformance suite, and what only this one can."""

    @pytest.fixture(scope="class")
    @classmethod
    def separator(cls) -> SpleeterSeparator:
        return SpleeterSeparator(model_folder(MODEL), cpu_threads=2)

    def test_the_networks_say_what_they_said_in_torch(self, separator: SpleeterSeparator) -> None:
        """The graph is our own, so it could be another one."""
        random = np.random.default_rng(0).random((1, 2, 2 * FRAMES_STEP, BINS)).astype(np.float32)
        voices, others = separator._session.run(None, {"X": random * np.linspace(30, 0.01, BINS, dtype=np.float32)})
        for frame, pitch, shares in VOICES:
            assert voices[0, :, frame, pitch] == pytest.approx(shares, abs=1e-4)
        for frame, pitch, shares in OTHERS:
            assert others[0, :, frame, pitch] == pytest.approx(shares, abs=1e-4)


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
def test_windows_are_of_like_length_and_lie_side_by_side(frames: int, lengths: list[int]) -> None:
    laid = lay_windows(frames)
    assert [end - start for start, end in laid] == lengths
    assert [frame for start, end in laid for frame in range(start, end)] == list(range(frames))


def test_a_missing_model_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(EngineUnavailableError, match=MODEL):
        SpleeterSeparator(tmp_path)


@pytest.mark.parametrize("keep", [4, 1000, 30_000_000])
def test_half_a_model_is_unavailable(tmp_path: Path, keep: int) -> None:
    for path in model_folder(MODEL).glob("*.safetensors"):
        shutil.copyfile(path, tmp_path / path.name)
        with (tmp_path / path.name).open("rb+") as file:
            file.truncate(keep)
    with pytest.raises(EngineUnavailableError, match=MODEL):
        SpleeterSeparator(tmp_path)


@pytest.mark.parametrize("name", ["none", "spleeter-9stems"])
def test_settings_name_the_separator(name: str) -> None:
    settings = Settings.model_construct(models_dir=model_folder(MODEL).parent, speech_threads=1)
    engines = Engines(settings)
    assert engines.separator() is engines.separator()
    with pytest.raises(EngineUnavailableError):
        Engines(settings.model_copy(update={"separator": name})).separator()
