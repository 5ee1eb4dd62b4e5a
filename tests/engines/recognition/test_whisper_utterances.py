"""Single utterances are transcribed by Whisper in windows of their own length."""

import numpy as np
import pytest

from cutroom.engines.errors import EngineError
from cutroom.engines.recognition.whisper_utterances import WhisperUtteranceRecognizer
from cutroom.engines.types import SAMPLE_RATE
from cutroom.products.dubs.report import intelligibility
from dev.fixtures.speech_clips import clips_folder, ensure_clips, sentences
from tests.engines.recognition.recognizer_suite import model_folder

MIN_SCORE = 0.9


@pytest.fixture(scope="module")
def recognizer() -> WhisperUtteranceRecognizer:
    return WhisperUtteranceRecognizer(model_folder("whisper-base"), cpu_threads=2)


def test_recorded_sentences_are_read(recognizer: WhisperUtteranceRecognizer) -> None:
    clips = [each for each in sentences(ensure_clips(clips_folder())) if len(each.samples) <= 20 * SAMPLE_RATE]
    scores = [intelligibility(each.text, recognizer.transcribe(each.samples, language="en")) for each in clips]
    assert len(scores) >= 3
    assert float(np.median(scores)) >= MIN_SCORE


@pytest.mark.parametrize("seconds", [0.0, 0.05, 26.1], ids=["no sound", "too short", "too long"])
def test_what_does_not_fit_a_window_has_no_text(recognizer: WhisperUtteranceRecognizer, seconds: float) -> None:
    assert recognizer.transcribe(np.zeros(round(seconds * SAMPLE_RATE), np.float32), language="en") == ""


def test_languages_that_the_model_lacks_are_refused(recognizer: WhisperUtteranceRecognizer) -> None:
    with pytest.raises(EngineError, match="does not support"):
        recognizer.transcribe(np.zeros(SAMPLE_RATE, np.float32), language="xx")
