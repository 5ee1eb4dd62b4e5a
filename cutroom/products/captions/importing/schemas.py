"""Request and response bodies of imported captions."""

from typing import Annotated

from pydantic import ConfigDict, Field

from cutroom.products.captions.editing.schemas import CaptionChange
from cutroom.products.transcripts.editing.schemas import MAX_REVISION, ImportedText


class CaptionImport(ImportedText):
    """Translated subtitles, or a script of captions that exist, that people have written or corrected elsewhere."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "revision": 1,
                    "format": "srt",
                    "content": "1\n00:00:00,400 --> 00:00:02,900\nVamos começar?\n",
                }
            ]
        }
    )

    revision: Annotated[
        int,
        Field(
            ge=0,
            le=MAX_REVISION,
            description="The revision of the captions to change, or 0 if there are none in this language yet. "
            "If there is a newer one, this is a conflict.",
        ),
    ]


class CaptionImportResult(CaptionChange):
    """The revision that an import made, what it changed, and what has found no place."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "videoId": "01j9z3k4m5n6p7q8r9s0t1v2w3",
                    "language": "pt",
                    "revision": 2,
                    "changes": [{"id": "s1", "after": {"text": "Vamos começar?", "edited": True}}],
                    "totalChanges": 1,
                    "placedSegments": 1,
                    "emptySegments": 0,
                    "unplacedCues": 0,
                }
            ]
        }
    )

    placed_segments: Annotated[int, Field(description="The number of segments that have a text in the file.")]
    empty_segments: Annotated[int, Field(description="The number of segments that have none, and keep what they had.")]
    unplaced_cues: Annotated[
        int,
        Field(description="The number of cues or paragraphs that belong to no segment; they are left out."),
    ]
