"""Ports of diarization: speaker segmentation, and speaker embeddings to cluster.

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


@dataclass(frozen=True, slots=True)
class SpeakerSegmentation:
    """Times at which another person starts to talk, and spans in which two people talk, both in order."""

    changes: tuple[float, ...]
    overlaps: tuple[TimeSpan, ...]


class SpeakerSegmenter(Protocol):
    """Finds the borders between speakers, without knowing who they are."""

    name: str

    def segment(self, samples: "Samples", *, speech: Sequence[TimeSpan]) -> SpeakerSegmentation: ...
