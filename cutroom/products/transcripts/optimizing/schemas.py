"""Request and response bodies of optimized scripts."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from cutroom.products.transcripts.editing.operation_bodies import SegmentId
from cutroom.products.transcripts.editing.operations import MAX_TEXT
from cutroom.products.transcripts.editing.schemas import MAX_REVISION
from cutroom.products.transcripts.optimizing.script import ScriptStaleReason, ScriptStatus
from cutroom.web.schema import ApiModel, ClosedModel, Omittable, RequestModel

MAX_EDITS = 200  # of one request


class OptimizationRequest(RequestModel):
    """What the caller has seen of the transcript."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"transcriptRevision": 4}]})

    transcript_revision: Annotated[
        Omittable[Annotated[int, Field(ge=1, le=MAX_REVISION)]],
        Field(description="The revision of the transcript to optimize. A newer one is a conflict."),
    ] = None


class OptimizationJob(ApiModel):
    """The job that makes an optimized script."""

    id: str
    status: Literal["queued", "processing", "ready", "failed"]
    progress: Annotated[int, Field(description="In percent.")]
    error: Annotated[Omittable[dict[str, Any]], Field(description="Why it failed.")] = None


class StartedOptimization(ApiModel):
    """A job that was started, or one that has made the same script."""

    video_id: str
    transcript_revision: int
    segments: Annotated[int, Field(description="How many segments it makes texts for.")]
    estimated_seconds: Annotated[float, Field(description="About how long it takes.")]
    job: OptimizationJob


class ScriptChange(ClosedModel):
    """A text that is set by hand."""

    id: SegmentId
    text: Annotated[
        str | None,
        Field(
            max_length=MAX_TEXT,
            description="What voices say; empty is silence, and null returns to the text of the engine.",
        ),
    ]


class ScriptPatch(ClosedModel):
    """Changes that are made all or none."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"revision": 0, "changes": [{"id": "s1", "text": "Shall we begin?"}]}]}
    )

    revision: Annotated[
        int,
        Field(
            ge=0,
            le=MAX_REVISION,
            description="The revision of the script to change, or 0 if there is none. A newer one is a conflict.",
        ),
    ]
    changes: Annotated[list[ScriptChange], Field(min_length=1, max_length=MAX_EDITS)]


class OptimizedSegment(ApiModel):
    """A segment of the script, compared with the transcript; times are in seconds."""

    id: str
    start: Annotated[Omittable[float], Field(description="Omitted if the transcript no longer has the segment.")] = None
    end: Omittable[float] = None
    speaker: Omittable[str] = None
    source: Annotated[Omittable[str], Field(description="The text of the transcript.")] = None
    text: Annotated[
        Omittable[str], Field(description="The text of the script, which is empty for silence; omitted if it has none.")
    ] = None
    edited: Annotated[bool, Field(description="Whether the text was set by hand.")]
    stale: Annotated[
        list[ScriptStaleReason],
        Field(description="Why the text does not belong to the transcript; voices say the transcript's then."),
    ]
    review: Annotated[
        bool, Field(description="Whether the transcript has changed since the text was set by hand, which is kept.")
    ]
    engine: Annotated[Omittable[str], Field(description="`rules`, or the language model.")] = None


class OptimizedTranscript(ApiModel):
    """The optimized script of a transcript."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "status": "ready",
                    "videoId": "01j9z3k4m5n6p7q8r9s0t1v2w3",
                    "revision": 1,
                    "transcriptRevision": 4,
                    "segments": [
                        {
                            "id": "s1",
                            "start": 0.4,
                            "end": 2.9,
                            "speaker": "speaker_1",
                            "source": "Um, shall we we begin?",
                            "text": "Shall we begin?",
                            "edited": False,
                            "stale": [],
                            "review": False,
                            "engine": "rules",
                        }
                    ],
                    "staleSegments": 0,
                    "reviewSegments": 0,
                }
            ]
        }
    )

    status: Annotated[
        Literal["none", "processing", "ready", "failed"],
        Field(description="`ready` as soon as there is a script, also while stale segments are made again."),
    ]
    video_id: str
    revision: Annotated[int, Field(description="Of the script; 0 if there is none.")]
    transcript_revision: Annotated[int, Field(description="The revision of the transcript compared with.")]
    segments: list[OptimizedSegment]
    stale_segments: int
    review_segments: int
    job: Annotated[Omittable[OptimizationJob], Field(description="The last job for this revision.")] = None


class ScriptRevision(ApiModel):
    """The revision that a request made, and the changed segments."""

    video_id: str
    revision: int
    segments: list[OptimizedSegment]


def described_script_segment(status: ScriptStatus) -> OptimizedSegment:
    """A segment as the API shows it."""
    source, segment = status.source, status.segment
    return OptimizedSegment(
        id=status.id,
        start=source.start_seconds if source else None,
        end=source.end_seconds if source else None,
        speaker=source.speaker if source else None,
        source=source.text if source else None,
        text=segment.text if segment else None,
        edited=segment.edited if segment else False,
        stale=list(status.stale),
        review=status.needs_review,
        engine=segment.engine if segment else None,
    )
