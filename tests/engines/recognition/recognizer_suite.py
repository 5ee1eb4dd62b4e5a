"""What every recogniser must do: each adapter's test class inherits this one and says what its recogniser is."""

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
from cutroom.engines.recognition.silero import SileroDetector
from cutroom.engines.types import TimeSpan
from dev.environment import PROJECT
from dev.fixtures.speech_clips import Clip, clips_folder, ensure_clips, join, normalise, sentences, silence

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

MILLISECOND = 0.001
PAUSES = (0.8, 1.5, 0.6, 2.5)


class Reporting(Protocol):
    """A recogniser that tells how far it is."""

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
    """Raised to stop a recogniser."""


def model_folder(name: str) -> Path:
    folder = Path(os.environ.get("CUTROOM_MODELS_DIR") or PROJECT / ".data" / "models") / name
    if not folder.is_dir():
        pytest.fail(f"The model {name} is not there: `just models` fetches it.")
    return folder


def spoken(clip: Clip) -> list[TimeSpan]:
    return list(SileroDetector().detect([clip.samples]))


def error_rate(clip: Clip, recognised: Transcription) -> float:
    """The share of the words that are wrong, missing or too many."""
    return float(jiwer.wer(clip.text, normalise(" ".join(word.text for word in recognised.words))))


class RecogniserSuite:
    """The five sentences in one recording, with pauses between them."""

    max_error_rate = 0.05

    @pytest.fixture(scope="class")
    @classmethod
    def recogniser(cls) -> Reporting | Iterator[Reporting]:
        raise NotImplementedError

    @pytest.fixture(scope="class")
    @classmethod
    def folder(cls) -> Path:
        return ensure_clips(clips_folder())

    @pytest.fixture(scope="class")
    @classmethod
    def places(cls, folder: Path) -> tuple[Clip, list[TimeSpan]]:
        """The recording, and where each sentence lies."""
        return join(sentences(folder), pause_seconds=PAUSES)

    @pytest.fixture(scope="class")
    @classmethod
    def speech(cls, places: tuple[Clip, list[TimeSpan]]) -> list[TimeSpan]:
        return spoken(places[0])

    @pytest.fixture(scope="class")
    @classmethod
    def told(cls, recogniser: Reporting, places: tuple[Clip, list[TimeSpan]], speech: list[TimeSpan]) -> Transcription:
        return recogniser.transcribe(places[0].samples, language="en", speech=speech)

    def test_words_are_what_was_said(self, told: Transcription, places: tuple[Clip, list[TimeSpan]]) -> None:
        assert error_rate(places[0], told) <= self.max_error_rate

    def test_words_lie_in_the_sentence_that_they_were_said_in(
        self, told: Transcription, places: tuple[Clip, list[TimeSpan]], folder: Path
    ) -> None:
        for clip, place in zip(sentences(folder), places[1], strict=True):
            inside = [word for word in told.words if place.start_seconds <= word.start_seconds < place.end_seconds]
            assert error_rate(clip, Transcription("en", 1.0, tuple(inside))) <= 0.2, clip.name

    def test_every_word_lies_in_speech(self, told: Transcription, speech: list[TimeSpan]) -> None:
        for word in told.words:
            assert any(
                span.start_seconds - MILLISECOND <= word.start_seconds
                and word.end_seconds <= span.end_seconds + MILLISECOND
                for span in speech
            ), word

    def test_words_follow_each_other_without_overlap(self, told: Transcription) -> None:
        assert all(word.start_seconds < word.end_seconds for word in told.words)
        assert all(left.end_seconds <= right.start_seconds for left, right in pairwise(told.words))

    def test_words_are_whole_and_bear_their_punctuation(self, told: Transcription) -> None:
        texts = [word.text for word in told.words]
        assert all(text == text.strip() and " " not in text for text in texts)
        assert all(any(character.isalnum() for character in text) for text in texts)
        assert any(text.endswith(".") for text in texts)
        assert "ill-disposed" in " ".join(texts)

    def test_probabilities_are_between_nothing_and_one(self, told: Transcription) -> None:
        assert all(0 < word.probability <= 1 for word in told.words)

    def test_the_language_that_was_given_is_kept(self, told: Transcription) -> None:
        assert (told.language, told.language_probability) == ("en", 1.0)

    def test_without_a_language_it_is_detected(
        self, recogniser: Reporting, places: tuple[Clip, list[TimeSpan]], speech: list[TimeSpan]
    ) -> None:
        found = recogniser.transcribe(places[0].samples, language=None, speech=speech[:1])
        assert found.language == "en"
        assert 0.5 <= found.language_probability <= 1

    def test_times_are_from_the_start_of_the_samples(self, recogniser: Reporting, folder: Path) -> None:
        clip = sentences(folder)[2]
        moved = Clip("moved", np.concatenate([silence(5.0), clip.samples]), clip.text)
        here = recogniser.transcribe(clip.samples, language="en-GB", speech=spoken(clip))
        there = recogniser.transcribe(moved.samples, language="en-GB", speech=spoken(moved))
        assert here.language == "en-GB"
        assert [word.text for word in here.words] == [word.text for word in there.words]
        shifts = [right.start_seconds - left.start_seconds for left, right in zip(here.words, there.words, strict=True)]
        assert all(abs(shift - 5) < 0.15 for shift in shifts)

    def test_only_the_given_speech_is_heard(
        self, recogniser: Reporting, places: tuple[Clip, list[TimeSpan]], folder: Path
    ) -> None:
        heard = recogniser.transcribe(places[0].samples, language="en", speech=[places[1][2]])
        assert error_rate(sentences(folder)[2], heard) <= 0.1

    @pytest.mark.parametrize(("language", "expected"), [(None, ("und", 0.0)), ("de", ("de", 1.0))])
    def test_without_speech_there_are_no_words(
        self, recogniser: Reporting, language: str | None, expected: tuple[str, float]
    ) -> None:
        if language and not self.knows(language):
            language, expected = "en", ("en", 1.0)
        nothing = recogniser.transcribe(silence(3.0), language=language, speech=[])
        assert (nothing.language, nothing.language_probability, nothing.words) == (*expected, ())

    def test_a_language_that_no_model_knows_is_refused(
        self, recogniser: Reporting, places: tuple[Clip, list[TimeSpan]], speech: list[TimeSpan]
    ) -> None:
        with pytest.raises(EngineError, match="tlh") as caught:
            recogniser.transcribe(places[0].samples, language="tlh", speech=speech)
        assert not isinstance(caught.value, EngineUnavailableError)

    def test_progress_grows_to_the_whole(self, recogniser: Reporting, folder: Path) -> None:
        clip = sentences(folder)[1]
        told: list[float] = []
        recogniser.transcribe(clip.samples, language="en", speech=spoken(clip), on_progress=told.append)
        assert told == sorted(told)
        assert told[-1] == 1.0

    def test_who_is_told_of_progress_may_stop_it(self, recogniser: Reporting, folder: Path) -> None:
        def stop(_: float) -> None:
            raise StopError

        clip = sentences(folder)[1]
        with pytest.raises(StopError):
            recogniser.transcribe(clip.samples, language="en", speech=spoken(clip), on_progress=stop)

    def knows(self, language: str) -> bool:
        """Whether the recogniser under test takes a language other than English."""
        return bool(language)
