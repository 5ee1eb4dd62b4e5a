"""The editable transcript: segments with ids that stay the same through edits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

MILLISECONDS = 3  # decimal places of times


@dataclass(frozen=True, slots=True)
class DocumentWord:
    """A word with its times."""

    text: str
    start_seconds: float
    end_seconds: float


@dataclass(frozen=True, slots=True)
class DocumentSegment:
    """One segment. Its words follow from its text and the sound, so that revisions do not store them."""

    id: str
    start_seconds: float
    end_seconds: float
    text: str
    speaker: str
    deleted: bool = False

    def to_row(self) -> dict[str, Any]:
        """The segment as a revision stores it."""
        row: dict[str, Any] = {
            "id": self.id,
            "start": self.start_seconds,
            "end": self.end_seconds,
            "speaker": self.speaker,
            "text": self.text,
        }
        if self.deleted:
            row["deleted"] = True
        return row

    @classmethod
    def from_row(cls, row: Mapping[str, Any], *, fallback_id: str = "") -> "DocumentSegment":
        """A segment of a revision, or of a transcript; those that were never edited have no stored id."""
        return cls(
            row.get("id", fallback_id),
            row["start"],
            row["end"],
            row["text"],
            row["speaker"],
            bool(row.get("deleted", False)),
        )


@dataclass(frozen=True)
class TranscriptDocument:
    """The segments of one revision, in order."""

    segments: tuple[DocumentSegment, ...]

    @cached_property
    def positions(self) -> Mapping[str, int]:
        """The position of each segment by its id."""
        return {segment.id: at for at, segment in enumerate(self.segments)}

    @property
    def kept(self) -> tuple[DocumentSegment, ...]:
        """The segments that are not deleted."""
        return tuple(segment for segment in self.segments if not segment.deleted)

    @property
    def speakers(self) -> tuple[str, ...]:
        """The speakers in the order in which they first appear."""
        return tuple(dict.fromkeys(segment.speaker for segment in self.segments))


def recognized_id(position: int) -> str:
    """The id of a segment as it was first recognized, which is not stored."""
    return f"s{position + 1}"


def document_of(rows: Sequence[Mapping[str, Any]]) -> TranscriptDocument:
    """The document of stored segments."""
    return TranscriptDocument(
        tuple(DocumentSegment.from_row(row, fallback_id=recognized_id(at)) for at, row in enumerate(rows))
    )


def speaker_rows(speakers: Sequence[Mapping[str, Any]], document: TranscriptDocument) -> list[dict[str, Any]]:
    """The labeled speakers, with those that edits have added."""
    known = {each["id"] for each in speakers}
    added = [{"id": name, "label": speaker_label(name)} for name in document.speakers if name not in known]
    return [*(dict(each) for each in speakers), *added]


def speaker_label(speaker: str) -> str:
    return speaker.replace("speaker_", "Speaker ")


def rounded(seconds: float) -> float:
    """Times have millisecond precision."""
    return round(seconds, MILLISECONDS)
