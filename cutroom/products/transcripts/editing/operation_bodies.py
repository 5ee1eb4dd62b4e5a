"""Request bodies of edit operations."""

from typing import Annotated, Literal

from pydantic import Field

from cutroom.products.transcripts.editing import operation_types as operations
from cutroom.products.transcripts.editing.operations import (
    MAX_LABEL,
    MAX_MERGED,
    MAX_SECONDS,
    MAX_SPEAKERS,
    MAX_TEXT,
    SPEAKER_PATTERN,
)
from cutroom.web.schema import ClosedModel, Omittable

MAX_IDS = 500  # segments of one operation
MAX_RANGES = 100  # of one operation

SegmentId = Annotated[
    str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9]+$", description="The id of a segment.")
]
SegmentIds = Annotated[list[SegmentId], Field(min_length=1, max_length=MAX_IDS, description="Ids of segments.")]
Seconds = Annotated[float, Field(ge=0, le=MAX_SECONDS, allow_inf_nan=False)]
SpeakerId = Annotated[
    str, Field(pattern=SPEAKER_PATTERN, description="The id of a speaker; a new one is added to the speakers.")
]
KnownSpeaker = Annotated[str, Field(pattern=SPEAKER_PATTERN, description="The id of a speaker.")]
Text = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_TEXT,
        description="What is said. White space counts as one space; control characters are refused.",
    ),
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


class RenameSpeakerOperation(ClosedModel):
    """Sets the label of a speaker. The id stays."""

    op: Literal["renameSpeaker"]
    speaker: KnownSpeaker
    label: Annotated[str, Field(min_length=1, max_length=MAX_LABEL, description="What people read.")]

    def to_operation(self) -> operations.Operation:
        return operations.RenameSpeaker(self.speaker, self.label)


class MergeSpeakersOperation(ClosedModel):
    """Makes one speaker of some, who are the same person. The others are removed."""

    op: Literal["mergeSpeakers"]
    speakers: Annotated[
        list[KnownSpeaker], Field(min_length=1, max_length=MAX_SPEAKERS, description="Who is the same person.")
    ]
    into: SpeakerId

    def to_operation(self) -> operations.Operation:
        return operations.MergeSpeakers(tuple(self.speakers), self.into)


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


class CharacterRange(ClosedModel):
    """A part of a text."""

    from_: Annotated[int, Field(alias="from", ge=0, le=MAX_TEXT, description="The first character.")]
    to: Annotated[int, Field(ge=1, le=MAX_TEXT, description="The character after the last one.")]


class DeleteWordsOperation(ClosedModel):
    """Marks parts of a segment as deleted. It is split around them; the first part keeps the id."""

    op: Literal["deleteWords"]
    id: SegmentId
    ranges: Annotated[
        list[CharacterRange],
        Field(min_length=1, max_length=MAX_RANGES, description="Ranges of characters, in order and apart."),
    ]

    def to_operation(self) -> operations.Operation:
        return operations.DeleteWords(self.id, tuple((each.from_, each.to) for each in self.ranges))


EditOperation = Annotated[
    ReplaceTextOperation
    | SplitOperation
    | MergeOperation
    | SetSpeakerOperation
    | RenameSpeakerOperation
    | MergeSpeakersOperation
    | SetTimesOperation
    | DeleteOperation
    | RestoreOperation
    | InsertOperation
    | DeleteWordsOperation,
    Field(discriminator="op"),
]
