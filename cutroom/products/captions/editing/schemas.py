"""Request and response bodies of the segments of captions."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from cutroom.credits.schemas import AcceptDraft
from cutroom.engines.translation.port import Quality
from cutroom.jobs.schemas import Job
from cutroom.products.captions.editing import operations
from cutroom.products.captions.editing.operations import MAX_IDS, MAX_OPERATIONS, ChangedCaption
from cutroom.products.captions.editing.rules import SegmentStatus, StaleReason
from cutroom.products.captions.editing.segments import CaptionSegment
from cutroom.products.transcripts.editing.operation_bodies import SegmentId, SegmentIds
from cutroom.products.transcripts.editing.operations import MAX_TEXT
from cutroom.products.transcripts.editing.schemas import MAX_REVISION
from cutroom.web.schema import ApiModel, ClosedModel, LanguageCode, Omittable, PricedRequest, Unique

MAX_CHANGES = 1_000  # listed in a response

TrackRevision = Annotated[
    int,
    Field(
        ge=1,
        le=MAX_REVISION,
        description="The revision of the captions to change. If there is a newer one, this is a conflict.",
    ),
]


class SetTextOperation(ClosedModel):
    """Sets the text of a segment by hand. A regeneration keeps it."""

    op: Literal["setText"]
    id: SegmentId
    text: Annotated[
        str,
        Field(
            min_length=1,
            max_length=MAX_TEXT,
            description="What is shown. White space counts as one space; control characters are refused.",
        ),
    ]

    def to_operation(self) -> operations.Operation:
        return operations.SetText(self.id, self.text)


class AcceptOperation(ClosedModel):
    """Says that texts are right for what is said now: they are neither stale nor to be reviewed."""

    op: Literal["accept"]
    ids: SegmentIds

    def to_operation(self) -> operations.Operation:
        return operations.AcceptSegments(tuple(self.ids))


class ResetOperation(ClosedModel):
    """Returns segments to their translation. A segment that was never translated loses its text."""

    op: Literal["reset"]
    ids: SegmentIds

    def to_operation(self) -> operations.Operation:
        return operations.ResetSegments(tuple(self.ids))


class UndoOperation(ClosedModel):
    """Undoes the last change by hand; the next undo reverts it. It is the only operation of its request."""

    op: Literal["undo"]


CaptionOperation = Annotated[
    SetTextOperation | AcceptOperation | ResetOperation | UndoOperation, Field(discriminator="op")
]


class CaptionEdit(ClosedModel):
    """Operations that are applied in order, all or none."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"revision": 1, "operations": [{"op": "setText", "id": "s1", "text": "Vamos começar?"}]}]
        }
    )

    revision: TrackRevision
    transcript_revision: Annotated[
        Omittable[Annotated[int, Field(ge=1, le=MAX_REVISION)]],
        Field(description="The revision of the transcript that the editor has seen; by default, the current one."),
    ] = None
    operations: Annotated[list[CaptionOperation], Field(min_length=1, max_length=MAX_OPERATIONS)]


class Regeneration(PricedRequest):
    """Which stale segments to bring up to date."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"revision": 1}]})

    revision: TrackRevision
    transcript_revision: Annotated[
        Omittable[Annotated[int, Field(ge=1, le=MAX_REVISION)]],
        Field(description="The revision of the transcript that was quoted. A newer one is a conflict."),
    ] = None
    segment_ids: Annotated[
        Omittable[Annotated[list[SegmentId], Field(min_length=1, max_length=MAX_IDS), Unique()]],
        Field(description="The segments to bring up to date; by default, every stale one."),
    ] = None
    accept_draft: AcceptDraft = False


class CaptionSegmentView(ApiModel):
    """A segment of the captions, compared with the transcript; times are in seconds."""

    id: str
    start: float
    end: float
    speaker: str
    source: Annotated[
        Omittable[str], Field(description="The text of the transcript; omitted if the segment is no longer in it.")
    ] = None
    text: Annotated[
        Omittable[str], Field(description="The text of the captions; omitted if the segment is not in them yet.")
    ] = None
    edited: Annotated[bool, Field(description="Whether the text was set by hand.")]
    translation: Annotated[
        Omittable[str], Field(description="The translation that a text by hand replaces, if there is one.")
    ] = None
    stale: Annotated[
        list[StaleReason], Field(description="Why the segment no longer belongs to the transcript; empty if it does.")
    ]
    review: Annotated[
        bool, Field(description="Whether the transcript has changed since the text was set by hand, which is kept.")
    ]
    reasons: Annotated[
        list[str], Field(description="Why the translation should be reviewed, as in the result of its job.")
    ]
    engine: Annotated[Omittable[str], Field(description="The engine that translated it.")] = None
    via: Annotated[Omittable[list[str]], Field(description="Intermediate languages.")] = None
    transcript_revision: Annotated[
        Omittable[int], Field(description="The revision of the transcript that it belongs to, if that is known.")
    ] = None


class RegenerationQuote(ApiModel):
    """What bringing every stale segment up to date takes."""

    segments: Annotated[int, Field(description="The number of stale segments.")]
    translated_segments: Annotated[int, Field(description="How many of them are translated again. The rest is free.")]
    seconds: Annotated[float, Field(description="The length of what is translated again.")]
    credits: Annotated[float, Field(description="The price, which is what will be charged.")]
    quality: Annotated[Omittable[Quality], Field(description="The class of the new translation.")] = None
    estimated_seconds: Annotated[float, Field(description="How long it will take, once it has started.")]


class CaptionSegments(ApiModel):
    """The segments of captions in one language, in order."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "videoId": "01j9z3k4m5n6p7q8r9s0t1v2w3",
                    "language": "pt",
                    "revision": 2,
                    "transcriptRevision": 5,
                    "quality": "review",
                    "segments": [
                        {
                            "id": "s1",
                            "start": 0.4,
                            "end": 2.9,
                            "speaker": "speaker_1",
                            "source": "Shall we begin?",
                            "text": "Vamos começar?",
                            "edited": False,
                            "stale": ["sourceChanged"],
                            "review": False,
                            "reasons": [],
                            "engine": "firefox",
                            "transcriptRevision": 4,
                        }
                    ],
                    "staleSegments": 1,
                    "reviewSegments": 0,
                    "regeneration": {
                        "segments": 1,
                        "translatedSegments": 1,
                        "seconds": 2.5,
                        "credits": 0.1,
                        "quality": "review",
                        "estimatedSeconds": 5.3,
                    },
                }
            ]
        }
    )

    video_id: str
    language: LanguageCode
    revision: Annotated[int, Field(description="The current revision of the captions.")]
    transcript_revision: Annotated[int, Field(description="The revision of the transcript compared with.")]
    quality: Annotated[Quality, Field(description="The class of the translation.")]
    segments: list[CaptionSegmentView]
    stale_segments: int
    review_segments: int
    regeneration: RegenerationQuote


class CaptionText(ApiModel):
    """The text of a segment."""

    text: str
    edited: Annotated[bool, Field(description="Whether the text was set by hand.")]


class ChangedCaptionSegment(ApiModel):
    """A segment that differs: without `before` it was added, without `after` it was removed."""

    id: str
    before: Omittable[CaptionText] = None
    after: Omittable[CaptionText] = None


class CaptionChange(ApiModel):
    """The revision that a request made, and what it changed."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "videoId": "01j9z3k4m5n6p7q8r9s0t1v2w3",
                    "language": "pt",
                    "revision": 2,
                    "changes": [
                        {
                            "id": "s1",
                            "before": {"text": "Devemos começar?", "edited": False},
                            "after": {"text": "Vamos começar?", "edited": True},
                        }
                    ],
                    "totalChanges": 1,
                }
            ]
        }
    )

    video_id: str
    language: LanguageCode
    revision: Annotated[int, Field(description="The current revision. It stays the same if nothing has changed.")]
    changes: Annotated[list[ChangedCaptionSegment], Field(description=f"At most {MAX_CHANGES:,} changed segments.")]
    total_changes: Annotated[int, Field(description="The number of changed segments.")]


class RegenerationJob(ApiModel):
    """The job that brings segments up to date."""

    job: Job


def described_segment(status: SegmentStatus) -> CaptionSegmentView:
    source, caption = status.source, status.caption
    shown = source or caption
    assert shown is not None
    fields: dict[str, Any] = {"edited": False, "reasons": []}
    if caption is not None:
        fields = {
            "text": caption.text,
            "edited": caption.edited,
            "translation": caption.translation.text if caption.translation else None,
            "reasons": [] if caption.edited else list(caption.reasons),
            "engine": caption.engine,
            "via": list(caption.via) or None,
            "transcript_revision": caption.transcript_revision,
        }
    return CaptionSegmentView(
        id=status.id,
        start=shown.start_seconds,
        end=shown.end_seconds,
        speaker=shown.speaker,
        source=source.text if source else None,
        stale=list(status.stale),
        review=status.needs_review,
        **fields,
    )


def described_changes(changes: Sequence[ChangedCaption]) -> list[ChangedCaptionSegment]:
    """The first changes of a list."""
    return [
        ChangedCaptionSegment(id=each.id, before=_text(each.before), after=_text(each.after))
        for each in changes[:MAX_CHANGES]
    ]


def _text(segment: CaptionSegment | None) -> CaptionText | None:
    return CaptionText(text=segment.text, edited=segment.edited) if segment is not None else None
