"""Port of speaker embeddings, which diarization clusters.

Calls block, so activities run them in threads; every adapter passes the conformance suite.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from cutroom.engines.types import OnProgress, TimeSpan

if TYPE_CHECKING:
    from cutroom.engines.types import Samples, Vector


@dataclass(frozen=True, slots=True)
class SpeakerEmbedding:
    """A speaker embedding of one time window: a unit vector, compared by cosine similarity."""

    span: TimeSpan
    vector: "Vector"


class SpeakerEmbedder(Protocol):
    """Computes speaker embeddings for diarization."""

    name: str
    same_speaker_threshold: float  # mean cosine similarity from which two clusters are one speaker

    def embed(
        self, samples: "Samples", *, speech: Sequence[TimeSpan], on_progress: OnProgress | None = None
    ) -> list[SpeakerEmbedding]:
        """One embedding per short window of the given speech, in order."""
        ...
