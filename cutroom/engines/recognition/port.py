"""Ports of speech recognition: transcription and voice activity detection.

Calls block, so activities run them in threads; every adapter passes the conformance suite.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from cutroom.engines.types import TimeSpan

if TYPE_CHECKING:
    from cutroom.engines.types import Samples


@dataclass(frozen=True, slots=True)
class Word:
    """One word as it was said, with the punctuation that belongs to it and without blanks around it."""

    text: str
    start_seconds: float
    end_seconds: float
    probability: float


@dataclass(frozen=True, slots=True)
class Transcription:
    """What was said; the language is a BCP 47 code."""

    language: str
    language_probability: float
    words: tuple[Word, ...]


class SpeechRecognizer(Protocol):
    """Turns speech into words with times."""

    name: str

    def transcribe(self, samples: "Samples", *, language: str | None, speech: Sequence[TimeSpan]) -> Transcription:
        """The words in the given stretches of speech; without a language it is detected.

        Times are from the start of `samples`, in order, and inside the stretches of speech.
        """
        ...


class VoiceActivityDetector(Protocol):
    """Finds where somebody speaks."""

    name: str

    def detect(self, blocks: Iterable["Samples"]) -> Iterator[TimeSpan]:
        """Stretches of speech in one recording that comes in blocks of any length; memory does not grow with it."""
        ...
