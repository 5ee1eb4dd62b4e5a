"""The editable transcript: segments with ids that stay the same through edits."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from cutroom.media.subtitles import clean_text

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
    """The segments of one revision, in order, and the labels of its speakers."""

    segments: tuple[DocumentSegment, ...]
    labels: Mapping[str, str] = field(default_factory=dict)  # by speaker

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


def document_of(rows: Sequence[Mapping[str, Any]], speakers: Sequence[Mapping[str, Any]]) -> TranscriptDocument:
    """The document of stored segments and speakers."""
    segments = tuple(DocumentSegment.from_row(row, fallback_id=recognized_id(at)) for at, row in enumerate(rows))
    labels = {each.speaker: speaker_label(each.speaker) for each in segments}
    return TranscriptDocument(segments, labels | {each["id"]: each["label"] for each in speakers})


def speaker_rows(document: TranscriptDocument) -> list[dict[str, Any]]:
    """The labeled speakers in the order in which they first appear, then those who no longer say anything."""
    order = dict.fromkeys([*document.speakers, *document.labels])
    return [{"id": speaker, "label": document.labels[speaker]} for speaker in order]


def speaker_label(speaker: str) -> str:
    return speaker.replace("speaker_", "Speaker ")


def shown_names(labels: Mapping[str, str]) -> dict[str, str]:
    """The name of each speaker in exported texts: the label, or the id if it would be taken for another speaker."""
    names = {speaker: clean_text(label) for speaker, label in labels.items()}
    used = Counter([*(name.casefold() for name in names.values()), *(speaker.casefold() for speaker in labels)])

    def is_clear(speaker: str) -> bool:
        name = names[speaker].casefold()
        return bool(name) and used[name] == 1 + (name == speaker.casefold())

    return {speaker: name if is_clear(speaker) else speaker for speaker, name in names.items()}


def rounded(seconds: float) -> float:
    """Times have millisecond precision."""
    return round(seconds, MILLISECONDS)
