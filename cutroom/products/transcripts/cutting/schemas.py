"""Response bodies of edit lists."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from cutroom.products.transcripts.cutting.editor_files import EditorFormat
from cutroom.products.transcripts.cutting.suggestions import SuggestionKind
from cutroom.web.schema import ApiModel, Omittable

FrameRateName = Literal["23.976", "24", "25", "29.97", "30", "50", "59.94", "60"]


class TimeRange(ApiModel):
    """A part of the recording, in seconds."""

    start: float
    end: float


class EditorFile(ApiModel):
    """A file for an editing program."""

    format: EditorFormat
    name: str
    content: str


class TranscriptEditList(ApiModel):
    """What remains of the recording without its deleted words."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "videoId": "01j9z3k4m5n6p7q8r9s0t1v2w3",
                    "revision": 3,
                    "frameRate": "25",
                    "duration": 10.0,
                    "keptDuration": 9.48,
                    "kept": [{"start": 0.0, "end": 2.32}, {"start": 2.84, "end": 10.0}],
                    "cuts": [{"start": 2.32, "end": 2.84}],
                }
            ]
        }
    )

    video_id: str
    revision: Annotated[int, Field(description="The revision of the transcript.")]
    frame_rate: FrameRateName
    duration: Annotated[float, Field(description="Seconds of the recording, in whole frames.")]
    kept_duration: Annotated[float, Field(description="Seconds that remain.")]
    kept: list[TimeRange]
    cuts: list[TimeRange]
    file: Annotated[Omittable[EditorFile], Field(description="With `format`: the list as a file.")] = None


class SuggestedCut(ApiModel):
    """A part of a text that could be deleted by `deleteWords`."""

    kind: SuggestionKind
    id: Annotated[str, Field(description="The id of the segment.")]
    from_: Annotated[int, Field(alias="from", description="The first character.")]
    to: Annotated[int, Field(description="The character after the last one.")]
    text: str


class CutSuggestions(ApiModel):
    """Hesitations and repeated words, in order."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "videoId": "01j9z3k4m5n6p7q8r9s0t1v2w3",
                    "revision": 1,
                    "suggestions": [{"kind": "filler", "id": "s1", "from": 4, "to": 8, "text": "um,"}],
                    "totalSuggestions": 1,
                }
            ]
        }
    )

    video_id: str
    revision: Annotated[int, Field(description="The revision whose texts the positions refer to.")]
    suggestions: list[SuggestedCut]
    total_suggestions: int
