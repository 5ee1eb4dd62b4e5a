"""Conformance suite of speech recognizers; each adapter's test class inherits it and provides the fixture."""

import os
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import jiwer
import numpy as np
import pytest

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.recognition.port import Transcription
from cutroom.engines.recognition.silero import SileroVoiceActivityDetector
from cutroom.engines.types import TimeSpan
from dev.environment import PROJECT
from dev.fixtures.speech_clips import Clip, clips_folder, ensure_clips, join_clips, normalize_words, sentences, silence

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

MILLISECOND = 0.001
PAUSES = (0.8, 1.5, 0.6, 2.5)


class ProgressRecognizer(Protocol):
    """A recognizer that reports progress."""

    name: str

    def transcribe(
        self,
        samples: "Samples",
        *,
        language: str | None,
        speech: Sequence[TimeSpan],
        on_progress: Callable[[float], None] | None = None,
    ) -> Transcription: ...


class StopError(Exception):
    """Raised from the progress callback to cancel."""


def model_folder(name: str) -> Path:
    folder = Path(os.environ.get("CUTROOM_MODELS_DIR") or PROJECT / ".data" / "models") / name
    if not folder.is_dir():
        pytest.fail(f"The model {name} is not installed; run `just models`.")
    return folder


def speech_spans(clip: Clip) -> list[TimeSpan]:
    return list(SileroVoiceActivityDetector().detect([clip.samples]))


def error_rate(clip: Clip, transcription: Transcription) -> float:
    """Word error rate."""
    return float(jiwer.wer(clip.text, normalize_words(" ".join(word.text for word in transcription.words))))


class SpeechRecognizerSuite:
    """Runs on five sentences in one recording, separated by pauses."""

    max_error_rate = 0.05

    @pytest.fixture(scope="class")
    @classmethod
    def recognizer(cls) -> ProgressRecognizer | Iterator[ProgressRecognizer]:
        raise NotImplementedError

    @pytest.fixture(scope="class")
    @classmethod
    def folder(cls) -> Path:
        return ensure_clips(clips_folder())

    @pytest.fixture(scope="class")
    @classmethod
    def recording(cls, folder: Path) -> tuple[Clip, list[TimeSpan]]:
        """The recording and the span of each sentence."""
        return join_clips(sentences(folder), pause_seconds=PAUSES)

    @pytest.fixture(scope="class")
    @classmethod
    def speech(cls, recording: tuple[Clip, list[TimeSpan]]) -> list[TimeSpan]:
        return speech_spans(recording[0])

    @pytest.fixture(scope="class")
    @classmethod
    def progress(cls) -> list[float]:
        """What was reported while `transcription` was made."""
        return []

    @pytest.fixture(scope="class")
    @classmethod
    def transcription(
        cls,
        recognizer: ProgressRecognizer,
        recording: tuple[Clip, list[TimeSpan]],
        speech: list[TimeSpan],
        progress: list[float],
    ) -> Transcription:
        return recognizer.transcribe(recording[0].samples, language="en", speech=speech, on_progress=progress.append)

    @pytest.fixture(scope="class")
    @classmethod
    def third_sentence(cls, recognizer: ProgressRecognizer, recording: tuple[Clip, list[TimeSpan]]) -> Transcription:
        """One sentence of the recording, in a language that is not given."""
        return recognizer.transcribe(recording[0].samples, language=None, speech=[recording[1][2]])

    def test_word_error_rate_is_low(self, transcription: Transcription, recording: tuple[Clip, list[TimeSpan]]) -> None:
        assert error_rate(recording[0], transcription) <= self.max_error_rate

    def test_words_fall_inside_their_sentence(
        self, transcription: Transcription, recording: tuple[Clip, list[TimeSpan]], folder: Path
    ) -> None:
        for clip, span in zip(sentences(folder), recording[1], strict=True):
            inside = [
                word for word in transcription.words if span.start_seconds <= word.start_seconds < span.end_seconds
            ]
            assert error_rate(clip, Transcription("en", 1.0, tuple(inside))) <= 0.2, clip.name

    def test_every_word_is_inside_speech(self, transcription: Transcription, speech: list[TimeSpan]) -> None:
        for word in transcription.words:
            assert any(
                span.start_seconds - MILLISECOND <= word.start_seconds
                and word.end_seconds <= span.end_seconds + MILLISECOND
                for span in speech
            ), word

    def test_words_do_not_overlap(self, transcription: Transcription) -> None:
        assert all(word.start_seconds < word.end_seconds for word in transcription.words)
        assert all(left.end_seconds <= right.start_seconds for left, right in pairwise(transcription.words))

    def test_words_are_whole_with_punctuation(self, transcription: Transcription) -> None:
        texts = [word.text for word in transcription.words]
        assert all(text == text.strip() and " " not in text for text in texts)
        assert all(any(character.isalnum() for character in text) for text in texts)
        assert any(text.endswith(".") for text in texts)
        assert "ill-disposed" in " ".join(texts)

    def test_probabilities_are_between_zero_and_one(self, transcription: Transcription) -> None:
        assert all(0 < word.probability <= 1 for word in transcription.words)

    def test_given_language_is_kept(self, transcription: Transcription) -> None:
        assert (transcription.language, transcription.language_probability) == ("en", 1.0)

    def test_language_is_detected_if_not_given(self, third_sentence: Transcription) -> None:
        assert third_sentence.language == "en"
        assert 0.5 <= third_sentence.language_probability <= 1

    def test_times_are_relative_to_the_samples(self, recognizer: ProgressRecognizer, folder: Path) -> None:
        clip = sentences(folder)[2]
        moved = Clip("moved", np.concatenate([silence(5.0), clip.samples]), clip.text)
        original = recognizer.transcribe(clip.samples, language="en-GB", speech=speech_spans(clip))
        shifted = recognizer.transcribe(moved.samples, language="en-GB", speech=speech_spans(moved))
        assert original.language == "en-GB"
        # Punctuation may differ: the two windows differ by rounding, which varies between CPUs.
        assert [normalize_words(word.text) for word in original.words] == [
            normalize_words(word.text) for word in shifted.words
        ]
        errors = sorted(
            abs(right.start_seconds - left.start_seconds - 5)
            for left, right in zip(original.words, shifted.words, strict=True)
        )
        assert float(np.median(errors)) < 0.05
        assert errors[-2] < 0.15
        assert errors[-1] < 0.5  # the word after the pause may start at either end of it

    def test_only_given_speech_is_transcribed(self, third_sentence: Transcription, folder: Path) -> None:
        assert error_rate(sentences(folder)[2], third_sentence) <= 0.1

    @pytest.mark.parametrize(("language", "expected"), [(None, ("und", 0.0)), ("de", ("de", 1.0))])
    def test_no_words_without_speech(
        self, recognizer: ProgressRecognizer, language: str | None, expected: tuple[str, float]
    ) -> None:
        if language and not self.supports(language):
            language, expected = "en", ("en", 1.0)
        empty = recognizer.transcribe(silence(3.0), language=language, speech=[])
        assert (empty.language, empty.language_probability, empty.words) == (*expected, ())

    def test_unsupported_language_is_rejected(
        self, recognizer: ProgressRecognizer, recording: tuple[Clip, list[TimeSpan]], speech: list[TimeSpan]
    ) -> None:
        with pytest.raises(EngineError, match="tlh") as caught:
            recognizer.transcribe(recording[0].samples, language="tlh", speech=speech)
        assert not isinstance(caught.value, EngineUnavailableError)

    def test_progress_increases_to_one(self, transcription: Transcription, progress: list[float]) -> None:
        assert transcription.words
        assert progress == sorted(progress)
        assert progress[-1] == 1.0

    def test_progress_callback_can_cancel(self, recognizer: ProgressRecognizer, folder: Path) -> None:
        def stop(_: float) -> None:
            raise StopError

        clip = sentences(folder)[1]
        with pytest.raises(StopError):
            recognizer.transcribe(clip.samples, language="en", speech=speech_spans(clip), on_progress=stop)

    def supports(self, language: str) -> bool:
        """Whether the recognizer under test supports the language."""
        return bool(language)
