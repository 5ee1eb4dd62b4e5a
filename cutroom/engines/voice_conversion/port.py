"""Port of voice cloning: speech synthesized in the voice of a reference sample.

Calls block, so activities run them in threads; every adapter passes the conformance suite.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from cutroom.engines.synthesis.port import SynthesizedSpeech

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

REFERENCE_RATE = 24_000  # sample rate of reference audio for voice cloning


@dataclass(frozen=True, slots=True)
class ReferenceAudio:
    """The voice sample to clone, at REFERENCE_RATE; `fingerprint` is the cache key for its features."""

    samples: "Samples"
    fingerprint: str
    pitch_hz: float | None = None


class VoiceCloner(Protocol):
    """Synthesizes speech in the voice of a reference sample."""

    name: str
    is_approximate: bool  # resembles the voice, but would not pass for the person

    def languages(self) -> Sequence[str]: ...

    def synthesize(
        self, text: str, *, reference: ReferenceAudio, language: str, speed: float = 1.0
    ) -> SynthesizedSpeech:
        """Speaks the text in the reference voice; raises EngineError instead of substituting another voice."""
        ...


@runtime_checkable
class CloneDurationPredictor(Protocol):
    """What some cloners can do as well, as `DurationPredictor` of synthesizers."""

    def predict_seconds(
        self, text: str, *, reference: ReferenceAudio, language: str, speed: float = 1.0
    ) -> float | None: ...
