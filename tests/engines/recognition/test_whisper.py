"""Local Whisper transcription: accuracy, hallucination filtering, model loading and language codes."""

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.recognition.port import Transcription
from cutroom.engines.recognition.whisper import AVX512, WhisperRecognizer, _sample_indices, _use_widest_vectors
from cutroom.engines.recognition.whisper_languages import NAMES, language_code, whisper_code
from cutroom.engines.types import SAMPLE_RATE, TimeSpan
from dev.fixtures.speech_clips import (
    Clip,
    clips_folder,
    ensure_clips,
    join_clips,
    music,
    noise,
    sentences,
    silence,
    two_cities,
)
from tests.engines.recognition.recognizer_suite import (
    ProgressRecognizer,
    SpeechRecognizerSuite,
    error_rate,
    model_folder,
    speech_spans,
)

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

THREADS = 2


class TestWhisperBase(SpeechRecognizerSuite):
    """The conformance suite."""

    @pytest.fixture(scope="class")
    @classmethod
    def recognizer(cls) -> ProgressRecognizer:
        return WhisperRecognizer(model_folder("whisper-base"), cpu_threads=THREADS)


@pytest.fixture(scope="module")
def base() -> WhisperRecognizer:
    return WhisperRecognizer(model_folder("whisper-base"), cpu_threads=THREADS)


@pytest.fixture(scope="module")
def folder() -> Path:
    return ensure_clips(clips_folder())


@pytest.fixture(scope="module")
def two_windows(base: WhisperRecognizer, folder: Path) -> tuple[Clip, Transcription, list[float]]:
    """44 s, so two windows, with the reported progress."""
    clip = two_cities(folder)
    progress: list[float] = []
    return (
        clip,
        base.transcribe(clip.samples, language=None, speech=speech_spans(clip), on_progress=progress.append),
        progress,
    )


def test_window_boundary_loses_and_repeats_nothing(two_windows: tuple[Clip, Transcription, list[float]]) -> None:
    clip, transcription, progress = two_windows
    assert error_rate(clip, transcription) <= 0.02
    assert len(progress) == 2
    assert (transcription.language, transcription.language_probability > 0.8) == ("en", True)


def test_word_durations_are_plausible(two_windows: tuple[Clip, Transcription, list[float]]) -> None:
    """In slow reading a word lasts between 0.1 and 2 seconds."""
    _, transcription, _ = two_windows
    lengths = [word.end_seconds - word.start_seconds for word in transcription.words]
    assert 0.15 < float(np.median(lengths)) < 0.45
    assert max(lengths) < 2.0
    gaps = [right.start_seconds - left.end_seconds for left, right in pairwise(transcription.words)]
    assert max(gaps) < 2.0


@pytest.mark.parametrize(
    "audio", [music(20, seed=0), noise(20, seed=1), silence(20, seed=0)], ids=["music", "noise", "silence"]
)
def test_music_and_noise_yield_no_words(base: WhisperRecognizer, audio: "Samples") -> None:
    assert base.transcribe(audio, language="en", speech=[TimeSpan(0, 20)]).words == ()


def test_genuine_repetition_is_kept(base: WhisperRecognizer, folder: Path) -> None:
    """The same text three times resembles a repetition loop."""
    clip, _ = join_clips([sentences(folder)[2], sentences(folder)[4]] * 3, pause_seconds=(0.5,))
    transcription = base.transcribe(clip.samples, language="en", speech=speech_spans(clip))
    assert error_rate(clip, transcription) <= 0.05


def test_skipped_speech_is_decoded_again(base: WhisperRecognizer, folder: Path) -> None:
    """For a sentence repeated eight times, the model emits it once and skips the rest of the window."""
    clip, _ = join_clips([sentences(folder)[4]] * 8, pause_seconds=(0.4,))
    transcription = base.transcribe(clip.samples, language="en", speech=speech_spans(clip))
    assert error_rate(clip, transcription) <= 0.4


def test_transcription_is_deterministic(base: WhisperRecognizer, folder: Path) -> None:
    clip = sentences(folder)[2]
    noisy = (clip.samples + noise(clip.seconds, level=0.1)[: len(clip.samples)]).astype(
        np.float32
    )  # forces a second pass
    once, again = (base.transcribe(noisy, language="en", speech=[TimeSpan(0, clip.seconds)]) for _ in range(2))
    assert once == again


def test_english_only_model_rejects_other_languages(folder: Path) -> None:
    tiny = WhisperRecognizer(model_folder("whisper-tiny.en"), cpu_threads=THREADS)
    clip = sentences(folder)[1]
    with pytest.raises(EngineError, match="de") as caught:
        tiny.transcribe(clip.samples, language="de", speech=speech_spans(clip))
    assert not isinstance(caught.value, EngineUnavailableError)
    found = tiny.transcribe(clip.samples, language=None, speech=speech_spans(clip))
    assert (found.language, found.language_probability) == ("en", 1.0)


def test_incomplete_model_folder_is_unavailable_without_download(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.bin").write_bytes(b"not a model")
    with pytest.raises(EngineUnavailableError, match=r"is missing tokenizer\.json"):
        WhisperRecognizer(tmp_path, cpu_threads=THREADS)
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(EngineUnavailableError, match="cannot be loaded"):
        WhisperRecognizer(tmp_path, cpu_threads=THREADS)


def test_recognizers_share_one_model_per_process() -> None:
    first, second = (WhisperRecognizer(model_folder("whisper-tiny.en"), cpu_threads=THREADS) for _ in range(2))
    assert first._model is second._model


def test_importing_adapters_loads_no_engine() -> None:
    code = (
        "import sys\n"
        "from cutroom.engines.recognition import openai, silero, whisper\n"
        "heavy = {'faster_whisper', 'ctranslate2', 'onnxruntime', 'openai', 'httpx2', 'numpy', 'av'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=500)
    assert done.stdout.strip() == "[]"


def test_pyav_stub_does_not_leak(base: WhisperRecognizer) -> None:
    assert base.name == "whisper"
    assert "av" not in sys.modules


@pytest.mark.parametrize(
    ("count", "expected"), [(1, [0]), (2, [0, 1]), (3, [0, 2, 1]), (8, [2, 6, 4, 0, 7]), (100, [25, 75, 50, 0, 99])]
)
def test_language_detection_samples_spread_windows(count: int, expected: list[int]) -> None:
    assert _sample_indices(count) == expected


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
def test_language_codes_are_normalized(given: str, ours: str | None, theirs: str | None) -> None:
    assert (language_code(given), whisper_code(given)) == (ours, theirs)


def test_language_table_matches_the_model(base: WhisperRecognizer) -> None:
    assert {whisper_code(code) for code in NAMES} == set(base._model.supported_languages)


def test_long_continuous_speech_is_fully_transcribed(base: WhisperRecognizer, folder: Path) -> None:
    clip = two_cities(folder)
    end = len(clip.samples) / SAMPLE_RATE
    transcription = base.transcribe(clip.samples, language="en", speech=[TimeSpan(1.0, end - 2.0)])
    assert error_rate(clip, transcription) <= 0.05


@pytest.mark.parametrize(
    ("features", "expected"), [(sorted(AVX512), "AVX512"), (["avx2", "avx512f"], None), ([], None)], ids=str
)
def test_avx512_is_used_only_where_the_processor_has_all_of_it(
    features: list[str], expected: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CT2_FORCE_CPU_ISA", raising=False)
    cpu_info = tmp_path / "cpuinfo"
    cpu_info.write_text(f"model name : any\nflags : fpu {' '.join(features)}\n")
    _use_widest_vectors(cpu_info)
    assert os.environ.get("CT2_FORCE_CPU_ISA") == expected


def test_the_windows_of_language_detection_are_encoded_once(
    base: WhisperRecognizer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = base._model.model
    calls: list[str] = []

    class CountingModel:
        def __getattr__(self, name: str) -> object:
            calls.append(name)
            return getattr(model, name)

    monkeypatch.setattr(base._model, "model", CountingModel())
    samples = two_cities(folder).samples
    speech = [TimeSpan(0.0, len(samples) / SAMPLE_RATE)]
    assert base.transcribe(samples, language=None, speech=speech).language == "en"
    assert calls.count("detect_language") == 2
    detected = calls.count("encode")
    calls.clear()
    base.transcribe(samples, language="en", speech=speech)
    assert calls.count("encode") == detected
