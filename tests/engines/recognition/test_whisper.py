"""A Whisper model on this machine hears what people say, and nothing where nobody speaks."""

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.recognition.port import Transcription
from cutroom.engines.recognition.whisper import WhisperRecognizer, _spread
from cutroom.engines.recognition.whisper_languages import NAMES, language_code, whisper_code
from cutroom.engines.types import SAMPLE_RATE, TimeSpan
from dev.fixtures.speech_clips import (
    Clip,
    clips_folder,
    ensure_clips,
    join,
    music,
    noise,
    sentences,
    silence,
    two_cities,
)
from tests.engines.recognition.recognizer_suite import RecogniserSuite, Reporting, error_rate, model_folder, spoken

THREADS = 2


class TestWhisperBase(RecogniserSuite):
    """The conformance suite."""

    @pytest.fixture(scope="class")
    @classmethod
    def recogniser(cls) -> Reporting:
        return WhisperRecognizer(model_folder("whisper-base"), cpu_threads=THREADS)


@pytest.fixture(scope="module")
def base() -> WhisperRecognizer:
    return WhisperRecognizer(model_folder("whisper-base"), cpu_threads=THREADS)


@pytest.fixture(scope="module")
def folder() -> Path:
    return ensure_clips(clips_folder())


@pytest.fixture(scope="module")
def tale(base: WhisperRecognizer, folder: Path) -> tuple[Clip, Transcription, list[float]]:
    """44 s, which are two windows, with the progress that was told."""
    clip = two_cities(folder)
    told: list[float] = []
    return clip, base.transcribe(clip.samples, language=None, speech=spoken(clip), on_progress=told.append), told


def test_nothing_is_lost_or_said_twice_where_windows_meet(tale: tuple[Clip, Transcription, list[float]]) -> None:
    clip, recognised, told = tale
    assert error_rate(clip, recognised) <= 0.02
    assert len(told) == 2
    assert (recognised.language, recognised.language_probability > 0.8) == ("en", True)


def test_words_keep_step_with_the_voice(tale: tuple[Clip, Transcription, list[float]]) -> None:
    """A word of leisurely reading lasts from a tenth of a second to less than two."""
    _, recognised, _ = tale
    lengths = [word.end_seconds - word.start_seconds for word in recognised.words]
    assert 0.15 < float(np.median(lengths)) < 0.45
    assert max(lengths) < 2.0
    gaps = [right.start_seconds - left.end_seconds for left, right in pairwise(recognised.words)]
    assert max(gaps) < 2.0


@pytest.mark.parametrize("seed", [0, 1])
def test_music_and_noise_taken_for_speech_give_no_words(base: WhisperRecognizer, seed: int) -> None:
    for sound in (music(20, seed=seed), noise(20, seed=seed), silence(20, seed=seed)):
        assert base.transcribe(sound, language="en", speech=[TimeSpan(0, 20)]).words == ()


def test_what_is_really_said_again_is_kept(base: WhisperRecognizer, folder: Path) -> None:
    """Three times the same looks like a model that runs away."""
    clip, _ = join([sentences(folder)[2], sentences(folder)[4]] * 3, pause_seconds=(0.5,))
    recognised = base.transcribe(clip.samples, language="en", speech=spoken(clip))
    assert error_rate(clip, recognised) <= 0.05


def test_what_the_model_skips_is_heard_by_itself(base: WhisperRecognizer, folder: Path) -> None:
    """Of one sentence said eight times the model gives one, and leaves out the rest of the window."""
    clip, _ = join([sentences(folder)[4]] * 8, pause_seconds=(0.4,))
    recognised = base.transcribe(clip.samples, language="en", speech=spoken(clip))
    assert error_rate(clip, recognised) <= 0.4


def test_the_same_recording_gives_the_same_words(base: WhisperRecognizer, folder: Path) -> None:
    clip = sentences(folder)[2]
    noisy = (clip.samples + noise(clip.seconds, level=0.1)[: len(clip.samples)]).astype(np.float32)  # second hearings
    once, again = (base.transcribe(noisy, language="en", speech=[TimeSpan(0, clip.seconds)]) for _ in range(2))
    assert once == again


def test_a_model_of_one_language_knows_no_other(folder: Path) -> None:
    tiny = WhisperRecognizer(model_folder("whisper-tiny.en"), cpu_threads=THREADS)
    clip = sentences(folder)[1]
    with pytest.raises(EngineError, match="de") as caught:
        tiny.transcribe(clip.samples, language="de", speech=spoken(clip))
    assert not isinstance(caught.value, EngineUnavailableError)
    found = tiny.transcribe(clip.samples, language=None, speech=spoken(clip))
    assert (found.language, found.language_probability) == ("en", 1.0)


def test_a_folder_without_the_model_is_refused_before_anything_is_fetched(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.bin").write_bytes(b"no model")
    with pytest.raises(EngineUnavailableError, match=r"lacks tokenizer\.json"):
        WhisperRecognizer(tmp_path, cpu_threads=THREADS)
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(EngineUnavailableError, match="cannot be loaded"):
        WhisperRecognizer(tmp_path, cpu_threads=THREADS)


def test_one_model_serves_all_recognisers_of_a_process() -> None:
    first, second = (WhisperRecognizer(model_folder("whisper-tiny.en"), cpu_threads=THREADS) for _ in range(2))
    assert first._model is second._model


def test_the_adapters_load_no_engine_when_they_are_imported() -> None:
    code = (
        "import sys\n"
        "from cutroom.engines.recognition import openai, silero, whisper\n"
        "heavy = {'faster_whisper', 'ctranslate2', 'onnxruntime', 'openai', 'httpx2', 'numpy', 'av'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]"


def test_nobody_else_meets_the_module_that_stands_in_for_pyav(base: WhisperRecognizer) -> None:
    assert base.name == "whisper"
    assert "av" not in sys.modules


@pytest.mark.parametrize(
    ("count", "expected"), [(1, [0]), (2, [0, 1]), (3, [0, 2, 1]), (8, [2, 6, 4, 0, 7]), (100, [25, 75, 50, 0, 99])]
)
def test_windows_that_vote_on_the_language_are_spread(count: int, expected: list[int]) -> None:
    assert _spread(count) == expected


@pytest.mark.parametrize(
    ("given", "ours", "theirs"),
    [
        ("en", "en", "en"),
        ("pt-BR", "pt", "pt"),
        ("zh-Hant-TW", "zh", "zh"),
        ("English", "en", "en"),
        ("jv", "jv", "jw"),
        ("jw", "jv", "jw"),
        ("nb-NO", "no", "no"),
        ("iw", "he", "he"),
        ("haitian creole", "ht", "ht"),
        ("tlh", None, None),
        ("", None, None),
    ],
)
def test_languages_have_one_code(given: str, ours: str | None, theirs: str | None) -> None:
    assert (language_code(given), whisper_code(given)) == (ours, theirs)


def test_the_table_of_languages_is_the_model_s(base: WhisperRecognizer) -> None:
    assert {whisper_code(code) for code in NAMES} == set(base._model.supported_languages)


def test_speech_of_a_minute_without_a_pause_is_heard_whole(base: WhisperRecognizer, folder: Path) -> None:
    clip = two_cities(folder)
    end = len(clip.samples) / SAMPLE_RATE
    recognised = base.transcribe(clip.samples, language="en", speech=[TimeSpan(1.0, end - 2.0)])
    assert error_rate(clip, recognised) <= 0.05
