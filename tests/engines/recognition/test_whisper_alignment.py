"""Alignment of known text by Whisper: times, punctuation, and what it cannot align."""

from pathlib import Path

import numpy as np
import pytest

from cutroom.engines.errors import EngineError
from cutroom.engines.recognition.whisper import WhisperRecognizer
from cutroom.engines.recognition.whisper_alignment import WhisperAligner
from cutroom.engines.types import SAMPLE_RATE
from dev.fixtures.speech_clips import Clip, clips_folder, ensure_clips, two_cities
from tests.engines.recognition.recognizer_suite import model_folder, speech_spans

WORDS_AT_ONCE = 8
MEDIAN_SECONDS, NINTH_DECILE_SECONDS = 0.06, 0.3


@pytest.fixture(scope="module")
def clip() -> Clip:
    return two_cities(ensure_clips(clips_folder()))


@pytest.fixture(scope="module")
def aligner() -> WhisperAligner:
    return WhisperAligner(model_folder("whisper-base"), cpu_threads=2)


def test_words_are_where_the_recognizer_hears_them(aligner: WhisperAligner, clip: Clip) -> None:
    """Only the sound of the words is encoded, so that times differ a little."""
    recognizer = WhisperRecognizer(model_folder("whisper-base"), cpu_threads=2)
    words = recognizer.transcribe(clip.samples, language="en", speech=speech_spans(clip)).words
    errors = []
    for at in range(0, len(words) - WORDS_AT_ONCE, WORDS_AT_ONCE):
        known = words[at : at + WORDS_AT_ONCE]
        start = max(0.0, known[0].start_seconds - 0.15)
        end = known[-1].end_seconds + 0.15
        sound = clip.samples[round(start * SAMPLE_RATE) : round(end * SAMPLE_RATE)]
        found = aligner.align(sound, " ".join(word.text for word in known), language="en")
        assert [word.text for word in found] == [word.text for word in known]
        errors += [abs(a.start_seconds + start - b.start_seconds) for a, b in zip(found, known, strict=True)]
    assert float(np.median(errors)) <= MEDIAN_SECONDS
    assert float(np.quantile(errors, 0.9)) <= NINTH_DECILE_SECONDS


def test_words_are_ordered_and_inside_of_the_sound(aligner: WhisperAligner, clip: Clip) -> None:
    sound = clip.samples[: 4 * SAMPLE_RATE]
    found = aligner.align(sound, "«It» was: the — best of times!", language="en")
    assert "".join(word.text for word in found).replace("—", "") == "«It»was:thebestoftimes!"
    times = [time for word in found for time in (word.start_seconds, word.end_seconds)]
    assert times == sorted(times)
    assert 0 <= times[0] < times[-1] <= 4


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0, "words"), (0.05, "words"), (31.0, "words"), (3.0, " \n"), (3.0, "word " * 1_000)],
    ids=["no sound", "too short", "too long", "no text", "too much text"],
)
def test_what_cannot_be_aligned_has_no_words(aligner: WhisperAligner, seconds: float, text: str) -> None:
    assert aligner.align(np.zeros(round(seconds * SAMPLE_RATE), np.float32), text, language="en") == ()


def test_silence_and_other_texts_do_not_fail(aligner: WhisperAligner) -> None:
    silence = np.zeros(3 * SAMPLE_RATE, np.float32)
    for text in ("a", "漢字", "🚂", "\u202e", "..."):
        assert all(
            0 <= word.start_seconds <= word.end_seconds <= 3 for word in aligner.align(silence, text, language="en")
        )


def test_unsupported_language_is_an_engine_error(aligner: WhisperAligner) -> None:
    with pytest.raises(EngineError):
        aligner.align(np.zeros(SAMPLE_RATE, np.float32), "word", language="tlh")


def test_missing_model_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(EngineError):
        WhisperAligner(tmp_path, cpu_threads=1)
