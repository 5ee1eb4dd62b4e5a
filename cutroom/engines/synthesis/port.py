"""Port of speech synthesis with stock voices.

Calls block, so activities run them in threads; every adapter passes the conformance suite.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from cutroom.engines.types import Samples


@dataclass(frozen=True, slots=True)
class SynthesizedSpeech:
    """Synthesized mono audio at the engine's own sample rate."""

    samples: "Samples"
    sample_rate: int


class Gender(StrEnum):
    """Perceived gender of a voice."""

    FEMALE = "female"
    MALE = "male"
    NEUTRAL = "neutral"


@dataclass(frozen=True, slots=True)
class StockVoice:
    """A built-in voice of an engine; `language` is a BCP 47 tag, `pitch_hz` the median fundamental frequency."""

    name: str
    title: str
    language: str
    gender: Gender
    age: str  # young, middle-aged or old
    pitch_hz: float


class SpeechSynthesizer(Protocol):
    """Synthesizes speech in the engine's stock voices."""

    name: str  # identifies the engine and its weights in fingerprints

    def voices(self) -> Sequence[StockVoice]: ...

    def synthesize(self, text: str, *, voice: str, language: str, speed: float = 1.0) -> SynthesizedSpeech:
        """Speaks the text in the given voice; deterministic as far as the engine allows."""
        ...


@runtime_checkable
class DurationPredictor(Protocol):
    """What some synthesizers can do as well: compute a duration before the audio, for a fraction of its cost."""

    def predict_seconds(self, text: str, *, voice: str, language: str, speed: float = 1.0) -> float | None:
        """How long `synthesize` would speak, without the silence around it; fails as `synthesize` does.

        None if the model that is installed cannot tell.
        """
        ...


@runtime_checkable
class SamplingSynthesizer(Protocol):
    """What some synthesizers are as well: each call speaks the same text a little differently."""

    is_sampling: bool
