"""Request and response bodies of the revisions of a transcript."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from cutroom.products.transcripts.document import DocumentSegment, TranscriptDocument
from cutroom.products.transcripts.editing import operations
from cutroom.products.transcripts.editing.history import RevisionKind, SegmentChange
from cutroom.products.transcripts.editing.operations import (
    MAX_MERGED,
    MAX_OPERATIONS,
    MAX_SECONDS,
    MAX_TEXT,
    SPEAKER_PATTERN,
)
from cutroom.products.transcripts.editing.revisions import StoredRevision
from cutroom.products.transcripts.schemas import Speaker
from cutroom.web.schema import ApiModel, ClosedModel, Omittable

MAX_IDS = 500  # segments of one operation
MAX_CHANGES = 1_000  # listed in a response
MAX_REVISION = 2**31 - 1

SegmentId = Annotated[
    str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9]+$", description="The id of a segment.")
]
SegmentIds = Annotated[list[SegmentId], Field(min_length=1, max_length=MAX_IDS, description="Ids of segments.")]
Seconds = Annotated[float, Field(ge=0, le=MAX_SECONDS, allow_inf_nan=False)]
SpeakerId = Annotated[
    str, Field(pattern=SPEAKER_PATTERN, description="The id of a speaker; a new one is added to the speakers.")
]
Text = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_TEXT,
        description="What is said. White space counts as one space; control characters are refused.",
    ),
]
Revision = Annotated[
    int,
    Field(ge=1, le=MAX_REVISION, description="The revision to change. If there is a newer one, this is a conflict."),
]


class ReplaceTextOperation(ClosedModel):
    """Sets the text of a segment."""

    op: Literal["replaceText"]
    id: SegmentId
    text: Text

    def to_operation(self) -> operations.Operation:
        return operations.ReplaceText(self.id, self.text)


class SplitOperation(ClosedModel):
    """Splits a segment in two. The first keeps the id."""

    op: Literal["split"]
    id: SegmentId
    at: Annotated[int, Field(ge=1, le=MAX_TEXT, description="The character before which the second segment begins.")]
    seconds: Annotated[
        Omittable[Seconds], Field(description="The time of the split; by default, between the words.")
    ] = None

    def to_operation(self) -> operations.Operation:
        return operations.SplitSegment(self.id, self.at, self.seconds)


class MergeOperation(ClosedModel):
    """Merges neighboring segments. The first keeps its id, its speaker and its start."""

    op: Literal["merge"]
    ids: Annotated[list[SegmentId], Field(min_length=2, max_length=MAX_MERGED, description="Ids of neighbors.")]

    def to_operation(self) -> operations.Operation:
        return operations.MergeSegments(tuple(self.ids))


class SetSpeakerOperation(ClosedModel):
    """Says who speaks."""

    op: Literal["setSpeaker"]
    ids: SegmentIds
    speaker: SpeakerId

    def to_operation(self) -> operations.Operation:
        return operations.SetSpeaker(tuple(self.ids), self.speaker)


class SetTimesOperation(ClosedModel):
    """Sets when a segment starts and ends, without overlapping its neighbors."""

    op: Literal["setTimes"]
    id: SegmentId
    start: Seconds
    end: Seconds

    def to_operation(self) -> operations.Operation:
        return operations.SetTimes(self.id, self.start, self.end)


class DeleteOperation(ClosedModel):
    """Marks segments as deleted: products leave them out."""

    op: Literal["delete"]
    ids: SegmentIds

    def to_operation(self) -> operations.Operation:
        return operations.DeleteSegments(tuple(self.ids))


class RestoreOperation(ClosedModel):
    """Takes deleted segments back."""

    op: Literal["restore"]
    ids: SegmentIds

    def to_operation(self) -> operations.Operation:
        return operations.RestoreSegments(tuple(self.ids))


class InsertOperation(ClosedModel):
    """Adds a segment where nothing is said yet."""

    op: Literal["insert"]
    start: Seconds
    end: Seconds
    text: Text
    speaker: SpeakerId

    def to_operation(self) -> operations.Operation:
        return operations.InsertSegment(self.start, self.end, self.text, self.speaker)


EditOperation = Annotated[
    ReplaceTextOperation
    | SplitOperation
    | MergeOperation
    | SetSpeakerOperation
    | SetTimesOperation
    | DeleteOperation
    | RestoreOperation
    | InsertOperation,
    Field(discriminator="op"),
]


class TranscriptEdit(ClosedModel):
    """Operations that are applied in order, all or none."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"revision": 4, "operations": [{"op": "replaceText", "id": "s1", "text": "Shall we begin?"}]}]
        }
    )

    revision: Revision
    operations: Annotated[list[EditOperation], Field(min_length=1, max_length=MAX_OPERATIONS)]


class RevisionGuard(ClosedModel):
    """The revision that the caller has seen."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"revision": 4}]})

    revision: Revision


class EditableSegment(ApiModel):
    """A segment with the id that it keeps through edits; times are in seconds."""

    id: str
    start: float
    end: float
    speaker: str
    text: str
    deleted: Annotated[bool, Field(description="Left out by products.")]


class ChangedSegment(ApiModel):
    """A segment that differs: without `before` it was added, without `after` it was removed."""

    id: str
    before: Omittable[EditableSegment] = None
    after: Omittable[EditableSegment] = None


class TranscriptRevision(ApiModel):
    """A change of a transcript."""

    revision: int
    kind: Annotated[RevisionKind, Field(description="How it came about.")]
    created_at: datetime
    actor_kind: Annotated[
        Literal["key", "token", "person", "system", "engine"], Field(description="How its author was authenticated.")
    ]
    user_id: Annotated[Omittable[str], Field(description="Its author, unless it was an engine.")] = None
    operations: Annotated[dict[str, int], Field(description="The number of operations of each kind.")]
    restored_from: Annotated[
        Omittable[int], Field(description="The revision whose content it took over, for undo, redo and restore.")
    ] = None


_REVISION: dict[str, Any] = {
    "revision": 2,
    "kind": "edit",
    "createdAt": "2026-11-19T10:20:30Z",
    "actorKind": "key",
    "userId": "01j9z3k4m5n6p7q8r9s0t1v2w3",
    "operations": {"replaceText": 1},
}
_SEGMENT: dict[str, Any] = {
    "id": "s1",
    "start": 0.4,
    "end": 2.9,
    "speaker": "speaker_1",
    "text": "Shall we begin?",
    "deleted": False,
}


class RevisionPage(ApiModel):
    """Revisions, newest first."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"revision": 2, "revisions": [_REVISION]}]})

    revision: Annotated[int, Field(description="The current revision.")]
    revisions: list[TranscriptRevision]
    next_page_token: Annotated[
        Omittable[str], Field(description="Pass as `pageToken` for the next page; omitted on the last page.")
    ] = None


class RevisionDocument(TranscriptRevision):
    """A revision with its content."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    **_REVISION,
                    "segments": [_SEGMENT],
                    "speakers": [{"id": "speaker_1", "label": "Speaker 1"}],
                }
            ]
        }
    )

    segments: list[EditableSegment]
    speakers: list[Speaker]


class TranscriptChange(ApiModel):
    """The revision that a request made, and what it changed."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "videoId": "01j9z3k4m5n6p7q8r9s0t1v2w3",
                    "revision": 2,
                    "changes": [{"id": "s1", "before": {**_SEGMENT, "text": "Shell we begin?"}, "after": _SEGMENT}],
                    "totalChanges": 1,
                }
            ]
        }
    )

    video_id: str
    revision: Annotated[int, Field(description="The current revision. It stays the same if nothing has changed.")]
    changes: Annotated[list[ChangedSegment], Field(description=f"At most {MAX_CHANGES:,} changed segments.")]
    total_changes: Annotated[int, Field(description="The number of changed segments.")]


class RevisionComparison(ApiModel):
    """The segments that differ between two revisions."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "from": 1,
                    "to": 2,
                    "changes": [{"id": "s1", "before": {**_SEGMENT, "text": "Shell we begin?"}, "after": _SEGMENT}],
                    "totalChanges": 1,
                }
            ]
        }
    )

    from_: Annotated[int, Field(alias="from", description="The revision whose segments are `before`.")]
    to: Annotated[int, Field(description="The revision whose segments are `after`.")]
    changes: Annotated[list[ChangedSegment], Field(description=f"At most {MAX_CHANGES:,} changed segments.")]
    total_changes: Annotated[int, Field(description="The number of changed segments.")]


def editable(segment: DocumentSegment) -> EditableSegment:
    return EditableSegment(
        id=segment.id,
        start=segment.start_seconds,
        end=segment.end_seconds,
        speaker=segment.speaker,
        text=segment.text,
        deleted=segment.deleted,
    )


def changed_segments(changes: list[SegmentChange]) -> list[ChangedSegment]:
    """The first changes of a list."""
    found = []
    for change in changes[:MAX_CHANGES]:
        before, after = change.before and editable(change.before), change.after and editable(change.after)
        segment = after or before
        assert segment is not None
        found.append(ChangedSegment(id=segment.id, before=before, after=after))
    return found


def described(stored: StoredRevision) -> TranscriptRevision:
    return TranscriptRevision(**_fields(stored))


def described_document(
    stored: StoredRevision, document: TranscriptDocument, speakers: list[dict[str, Any]]
) -> RevisionDocument:
    return RevisionDocument(
        **_fields(stored),
        segments=[editable(segment) for segment in document.segments],
        speakers=[Speaker(**each) for each in speakers],
    )


def _fields(stored: StoredRevision) -> dict[str, Any]:
    return {
        "revision": stored.revision,
        "kind": stored.kind,
        "created_at": stored.created_at,
        "actor_kind": stored.author.actor_kind,
        "user_id": stored.author.user_id,
        "operations": dict(stored.summary),
        "restored_from": stored.restored_from,
    }
