"""What thumbnails, titles and descriptions are made of: which request it is, what was said, and which words to show."""

from dataclasses import dataclass
from typing import Any

from cutroom.engines.writing.port import SpokenSegment, WritingInput
from cutroom.library.rules import video_path
from cutroom.products.thumbnails.rules import ThumbnailOptions, parse_options
from cutroom.products.thumbnails.service import REQUEST_ID, picture_path
from cutroom.products.transcripts.service import NewTranscript


@dataclass(frozen=True, slots=True)
class ThumbnailRef:
    """Which request; every step is told."""

    library_id: str
    video_id: str
    request_id: str
    plan: dict[str, Any]

    @classmethod
    def of(cls, library_id: str, plan: dict[str, Any]) -> "ThumbnailRef":
        return cls(library_id, plan["video_id"], plan[REQUEST_ID], plan)

    @property
    def wanted(self) -> ThumbnailOptions:
        return parse_options(self.plan)

    def path(self, name: str) -> str:
        return picture_path(self.library_id, self.video_id, self.request_id, name)

    def film(self, name: str) -> str:
        return video_path(self.library_id, self.video_id, name)


def material_of(transcript: NewTranscript, *, guidelines: str | None) -> WritingInput:
    """A transcript as writers read it; what was deleted from it is not said."""
    said = tuple(
        SpokenSegment(each["text"], each["start"], each["end"], each.get("speaker"))
        for each in transcript.segments
        if not each.get("deleted")
    )
    ends = said[-1].end_seconds if said else 0.0
    return WritingInput(language=transcript.language, said=said, duration_seconds=ends, guidelines=guidelines)
