"""Ports of speech recognition: transcription and voice activity detection.

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


class VoiceActivityDetector(Protocol):
    """Finds the spans that contain speech."""

    name: str

    def detect(self, blocks: Iterable["Samples"]) -> Iterator[TimeSpan]:
        """Yields speech spans of one recording streamed in blocks of any size, in constant memory."""
        ...
