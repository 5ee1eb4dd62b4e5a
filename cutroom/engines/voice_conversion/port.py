"""Port of voice cloning: speech synthesized in the voice of a reference sample.

Calls block, so activities run them in threads; every adapter passes the conformance suite.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from cutroom.engines.synthesis.port import SynthesizedSpeech

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

REFERENCE_RATE = 24_000  # sample rate of reference audio for voice cloning


@dataclass(frozen=True, slots=True)
class ReferenceAudio:
    """The sample after which a cloner speaks, at REFERENCE_RATE; its sha256 names what is kept of it."""

    samples: "Samples"
    fingerprint: str
    pitch_hz: float | None = None


class VoiceCloner(Protocol):
    """Reads text aloud in the voice of a sample."""

    name: str
    is_approximate: bool  # a listener who knows the voice would not take it for the person

    def languages(self) -> Sequence[str]: ...

    def speak(self, text: str, *, reference: ReferenceAudio, language: str, speed: float = 1.0) -> SynthesizedSpeech:
        """The text in the voice of the sample; never in another one, so what cannot be done raises EngineError."""
        ...
