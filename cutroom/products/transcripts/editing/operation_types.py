"""The operations that an edit consists of."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReplaceText:
    """Sets the text of a segment."""

    segment_id: str
    text: str


@dataclass(frozen=True, slots=True)
class SplitSegment:
    """Splits a segment before a character of its text."""

    segment_id: str
    at: int
    at_seconds: float | None = None  # by default, between the words on both sides


@dataclass(frozen=True, slots=True)
class MergeSegments:
    """Merges neighbors into the first of them."""

    segment_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SetSpeaker:
    """Says who speaks in some segments."""

    segment_ids: tuple[str, ...]
    speaker: str


@dataclass(frozen=True, slots=True)
class RenameSpeaker:
    """Sets the label of a speaker."""

    speaker: str
    label: str


@dataclass(frozen=True, slots=True)
class MergeSpeakers:
    """Makes one speaker of some."""

    speakers: tuple[str, ...]
    into: str


@dataclass(frozen=True, slots=True)
class SetTimes:
    """Sets the start and the end of a segment."""

    segment_id: str
    start_seconds: float
    end_seconds: float


@dataclass(frozen=True, slots=True)
class DeleteSegments:
    """Marks segments as deleted."""

    segment_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RestoreSegments:
    """Removes the mark of deleted segments."""

    segment_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InsertSegment:
    """Adds a segment between others."""

    start_seconds: float
    end_seconds: float
    text: str
    speaker: str


@dataclass(frozen=True, slots=True)
class DeleteWords:
    """Marks parts of a segment as deleted, by splitting it around them; each part is a range of characters."""

    segment_id: str
    ranges: tuple[tuple[int, int], ...]


Operation = (
    ReplaceText
    | SplitSegment
    | MergeSegments
    | SetSpeaker
    | RenameSpeaker
    | MergeSpeakers
    | SetTimes
    | DeleteSegments
    | RestoreSegments
    | InsertSegment
    | DeleteWords
)
