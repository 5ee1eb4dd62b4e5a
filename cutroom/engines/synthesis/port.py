"""Port of speech synthesis with stock voices.

Calls block, so activities run them in threads; every adapter passes the conformance suite.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from cutroom.engines.types import Samples


@dataclass(frozen=True, slots=True)
class SynthesizedSpeech:
    """Text that was spoken: mono sound at a rate of its own."""

    samples: "Samples"
    sample_rate: int


class Gender(StrEnum):
    """How a voice is taken by most who hear it."""

    FEMALE = "female"
    MALE = "male"
    NEUTRAL = "neutral"


@dataclass(frozen=True, slots=True)
class StockVoice:
    """A voice that comes with an engine; the language is a BCP 47 code, the pitch the median of what it speaks."""

    name: str
    title: str
    language: str
    gender: Gender
    age: str  # young, middle-aged or old
    pitch_hz: float


class SpeechSynthesizer(Protocol):
    """Reads text aloud in voices of its own."""

    name: str  # names the engine and its weights: part of fingerprints

    def voices(self) -> Sequence[StockVoice]: ...

    def speak(self, text: str, *, voice: str, language: str, speed: float = 1.0) -> SynthesizedSpeech:
        """The text in one of the voices. The same text gives the same sound, as far as the engine allows."""
        ...
