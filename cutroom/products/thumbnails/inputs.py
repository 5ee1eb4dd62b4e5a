"""Inputs of thumbnail and packaging activities: the request reference and the transcript for writers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cutroom.engines.writing.port import WritingInput
from cutroom.library.rules import video_path
from cutroom.products.thumbnails.rules import ThumbnailOptions, parse_options
from cutroom.products.thumbnails.service import REQUEST_ID, image_path
from cutroom.products.transcripts.service import StoredTranscript
from cutroom.text.sentences import SpokenSegment


@dataclass(frozen=True, slots=True)
class ThumbnailRef:
    """Identifies a request and carries its plan."""

    library_id: str
    video_id: str
    request_id: str
    plan: dict[str, Any]

    @classmethod
    def of(cls, library_id: str, plan: dict[str, Any]) -> "ThumbnailRef":
        return cls(library_id, plan["video_id"], plan[REQUEST_ID], plan)

    @property
    def options(self) -> ThumbnailOptions:
        return parse_options(self.plan)

    def path(self, name: str) -> str:
        return image_path(self.library_id, self.video_id, self.request_id, name)

    def video_file(self, name: str) -> str:
        return video_path(self.library_id, self.video_id, name)


def writing_input(
    transcript: StoredTranscript, *, guidelines: str | None, title: str | None = None, names: Sequence[str] = ()
) -> WritingInput:
    """The transcript without deleted segments; `title` is the video's own, and `names` are terms to spell."""
    segments = tuple(
        SpokenSegment(each["text"], each["start"], each["end"], each.get("speaker"))
        for each in transcript.segments
        if not each.get("deleted")
    )
    duration_seconds = segments[-1].end_seconds if segments else 0.0
    return WritingInput(transcript.language, segments, duration_seconds, guidelines, title, tuple(names))
