"""Ports of speech recognition: transcription, alignment of known text, and voice activity detection.

Calls block, so activities run them in threads; every adapter passes the conformance suite.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from cutroom.engines.types import OnProgress, TimeSpan

if TYPE_CHECKING:
    from cutroom.engines.types import Samples


@dataclass(frozen=True, slots=True)
class Word:
    """One recognized word, with its punctuation attached and surrounding whitespace removed."""

    text: str
    start_seconds: float
    end_seconds: float
    probability: float


@dataclass(frozen=True, slots=True)
class Transcription:
    """Words with timestamps; `language` is a BCP 47 tag."""

    language: str
    language_probability: float
    words: tuple[Word, ...]


class SpeechRecognizer(Protocol):
    """Transcribes speech with word timestamps."""

    name: str

    def transcribe(
        self,
        samples: "Samples",
        *,
        language: str | None,
        speech: Sequence[TimeSpan],
        on_progress: OnProgress | None = None,
    ) -> Transcription:
        """Transcribes the given speech spans; detects the language if it is None.

        Word times are relative to the start of `samples`, ordered, and lie inside the speech spans.
        """
        ...


class WordAligner(Protocol):
    """Finds the times of the words of a known text in the sound that it is spoken in."""

    name: str
    max_seconds: float  # of sound in one call

    def align(self, samples: "Samples", text: str, *, language: str) -> tuple[Word, ...]:
        """Words in order, with times relative to the start of `samples` and inside of it.

        None if the engine cannot align them: the sound is too long, or the text is too long for it. The caller then
        estimates the times.
        """
        ...


class UtteranceRecognizer(Protocol):
    """Transcribes one utterance for a fraction of the cost of a `SpeechRecognizer`, without word times."""

    name: str
    max_seconds: float  # of sound in one call

    def transcribe(self, samples: "Samples", *, language: str) -> str:
        """The text; less reliable than that of a recognizer, so that the caller checks what it is used for."""
        ...


class VoiceActivityDetector(Protocol):
    """Finds the spans that contain speech."""

    name: str

    def detect(self, blocks: Iterable["Samples"]) -> Iterator[TimeSpan]:
        """Yields speech spans of one recording streamed in blocks of any size, in constant memory."""
        ...
