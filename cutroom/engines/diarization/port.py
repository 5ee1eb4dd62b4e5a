"""Port of speaker embeddings, which diarization clusters.

Calls block, so activities run them in threads; every adapter passes the conformance suite.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from cutroom.engines.types import TimeSpan

if TYPE_CHECKING:
    from cutroom.engines.types import Samples, Vector


@dataclass(frozen=True, slots=True)
class SpeakerEmbedding:
    """How a voice sounds in one window of time: a vector of length 1; voices compare by their cosine."""

    span: TimeSpan
    vector: "Vector"


class SpeakerEmbedder(Protocol):
    """Says how voices sound, so that they can be told apart."""

    name: str
    same_voice: float  # the mean cosine from which two groups of windows are one voice

    def profile(self, samples: "Samples", *, speech: Sequence[TimeSpan]) -> list[SpeakerEmbedding]:
        """A voice print for each short window of the given speech, in order."""
        ...
