"""Request and response bodies of the revisions of a transcript."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from cutroom.products.transcripts.document import DocumentSegment, TranscriptDocument
from cutroom.products.transcripts.editing.differences import LabelChange
from cutroom.products.transcripts.editing.history import RevisionKind, SegmentChange
from cutroom.products.transcripts.editing.operation_bodies import EditOperation
from cutroom.products.transcripts.editing.operations import MAX_OPERATIONS
from cutroom.products.transcripts.editing.revisions import StoredRevision
from cutroom.products.transcripts.editing.subtitle_reading import SubtitleFormat, read_subtitles
from cutroom.products.transcripts.editing.text_placement import ImportedLine
from cutroom.products.transcripts.schemas import Speaker
from cutroom.products.transcripts.script_text import read_script
from cutroom.web.schema import ApiModel, ClosedModel, Omittable, RequestModel

MAX_CHANGES = 1_000  # listed in a response
MAX_REVISION = 2**31 - 1
MAX_CONTENT = 600_000  # characters of an imported text

Revision = Annotated[
    int,
    Field(ge=1, le=MAX_REVISION, description="The revision to change. If there is a newer one, this is a conflict."),
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


class RevisionGuard(RequestModel):
    """The revision that the caller has seen."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"revision": 4}]})

    revision: Revision


class ImportFormat(StrEnum):
    """Formats of an imported text."""

    SRT = "srt"
    VTT = "vtt"
    TTML = "ttml"
    TEXT = "text"


class ImportedText(RequestModel):
    """A text that people have corrected or written elsewhere."""

    format: Annotated[ImportFormat, Field(description="`text` is plain text without times, such as a script.")]
    content: Annotated[str, Field(min_length=1, max_length=MAX_CONTENT, description="The content of the file.")]

    def lines(self) -> list[ImportedLine]:
        """The paragraphs or cues; raises MalformedSubtitlesError."""
        if self.format is ImportFormat.TEXT:
            return [ImportedLine(each.text, speaker=each.speaker) for each in read_script(self.content)]
        cues = read_subtitles(self.content, SubtitleFormat(self.format.value))
        return [ImportedLine(each.text, each.start_seconds, each.end_seconds, each.speaker) for each in cues]


class TranscriptImport(ImportedText):
    """A text that becomes the transcript."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "revision": 4,
                    "format": "srt",
                    "content": "1\n00:00:00,400 --> 00:00:02,900\nShall we begin?\n",
                }
            ]
        }
    )

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


class ChangedSpeaker(ApiModel):
    """A speaker whose label differs: without `before` it was added, without `after` it was removed."""

    id: str
    before: Annotated[Omittable[str], Field(description="The label before.")] = None
    after: Annotated[Omittable[str], Field(description="The label after.")] = None


class TranscriptRevision(ApiModel):
    """A change of a transcript."""

    revision: int
    kind: Annotated[RevisionKind, Field(description="How it came about.")]
    created_at: datetime
    actor_kind: Annotated[
        Literal["key", "token", "person", "guest", "system", "engine"],
        Field(description="How its author was authenticated; a `guest` opened a review link."),
    ]
    user_id: Annotated[Omittable[str], Field(description="Its author, unless it was an engine or a guest.")] = None
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
                    "speakers": [],
                }
            ]
        }
    )

    video_id: str
    revision: Annotated[int, Field(description="The current revision. It stays the same if nothing has changed.")]
    changes: Annotated[list[ChangedSegment], Field(description=f"At most {MAX_CHANGES:,} changed segments.")]
    total_changes: Annotated[int, Field(description="The number of changed segments.")]
    speakers: Annotated[list[ChangedSpeaker], Field(description="Speakers who were added, removed or renamed.")]


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
                    "speakers": [{"id": "speaker_1", "before": "Speaker 1", "after": "Ada"}],
                }
            ]
        }
    )

    from_: Annotated[int, Field(alias="from", description="The revision whose segments are `before`.")]
    to: Annotated[int, Field(description="The revision whose segments are `after`.")]
    changes: Annotated[list[ChangedSegment], Field(description=f"At most {MAX_CHANGES:,} changed segments.")]
    total_changes: Annotated[int, Field(description="The number of changed segments.")]
    speakers: Annotated[list[ChangedSpeaker], Field(description="Speakers who were added, removed or renamed.")]


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


def changed_speakers(changes: Sequence[LabelChange]) -> list[ChangedSpeaker]:
    return [ChangedSpeaker(id=each.speaker, before=each.before, after=each.after) for each in changes]


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
