"""Identifies a stream, and says what of it has to be made: the arguments of its activities."""

from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter

from cutroom.library.rules import video_path
from cutroom.media import ladder
from cutroom.media.chunks import MediaChunk
from cutroom.media.ladder import CHUNK_SECONDS, Rendition
from cutroom.media.probe import MediaInfo
from cutroom.products.playback.service import ObsoleteTrack, TrackSource, playback_path

INFO: TypeAdapter[MediaInfo] = TypeAdapter(MediaInfo)


@dataclass(frozen=True, slots=True)
class PlaybackRef:
    """Identifies a video's playback."""

    library_id: str
    video_id: str

    def path(self, name: str) -> str:
        return playback_path(self.library_id, self.video_id, name)

    def media_path(self, name: str) -> str:
        return video_path(self.library_id, self.video_id, name)


@dataclass(frozen=True, slots=True)
class PlaybackPlan:
    """What has to be made; `info` is a MediaInfo as JSON."""

    ladder: str  # fingerprint of source and renditions
    info: dict[str, Any]
    renditions: list[Rendition]  # all if the ladder is outdated, otherwise none
    chunk_count: int
    tracks: list[TrackSource]
    obsolete: list[ObsoleteTrack] = field(default_factory=list)  # of deleted dubs and captions
    max_chunk_seconds: float = CHUNK_SECONDS  # in plans of version 0.1
    cut: str | None = None  # names the cuts; `info` has the duration of what remains

    def chunks(self) -> list[MediaChunk]:
        return ladder.plan_ladder_chunks(INFO.validate_python(self.info), max_seconds=self.max_chunk_seconds)

    def chunk_path(self, name: str) -> str:
        """Chunks of another length are in another folder, so that a later run does not take them for its own."""
        folder = "" if self.max_chunk_seconds == CHUNK_SECONDS else f"{self.max_chunk_seconds:.0f}/"
        return f"chunks/{self.ladder}/{folder}{name}"
