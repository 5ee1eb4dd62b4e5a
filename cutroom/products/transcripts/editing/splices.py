"""Differences between lists of segments, which can be applied in both directions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from cutroom.products.transcripts.document import DocumentSegment, TranscriptDocument


class SpliceMismatchError(Exception):
    """A difference does not belong to the document that it is applied to."""


@dataclass(frozen=True, slots=True)
class Splice:
    """Segments that are replaced, by their position in the document before the change."""

    at: int
    removed: tuple[DocumentSegment, ...]
    inserted: tuple[DocumentSegment, ...]

    @property
    def growth(self) -> int:
        return len(self.inserted) - len(self.removed)

    def to_row(self) -> dict[str, Any]:
        return {
            "at": self.at,
            "removed": [segment.to_row() for segment in self.removed],
            "inserted": [segment.to_row() for segment in self.inserted],
        }

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "Splice":
        return cls(
            row["at"],
            tuple(DocumentSegment.from_row(each) for each in row["removed"]),
            tuple(DocumentSegment.from_row(each) for each in row["inserted"]),
        )


def splices_between(before: TranscriptDocument, after: TranscriptDocument) -> list[Splice]:
    """The differences, in order of their positions; none if the documents are equal."""
    old, new = before.segments, after.segments
    start, shorter = 0, min(len(old), len(new))
    while start < shorter and old[start] == new[start]:
        start += 1
    end = 0
    while end < shorter - start and old[-1 - end] == new[-1 - end]:
        end += 1
    changed_old, changed_new = old[start : len(old) - end], new[start : len(new) - end]
    matcher = SequenceMatcher(None, changed_old, changed_new, autojunk=False)
    return [
        Splice(start + i1, changed_old[i1:i2], changed_new[j1:j2])
        for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        if tag != "equal"
    ]


def apply_splices(segments: Sequence[DocumentSegment], splices: Sequence[Splice]) -> tuple[DocumentSegment, ...]:
    """The segments after a revision."""
    changed = list(segments)
    for splice in reversed(splices):  # so that earlier positions stay valid
        _replace(changed, splice.at, splice.removed, splice.inserted)
    return tuple(changed)


def revert_splices(segments: Sequence[DocumentSegment], splices: Sequence[Splice]) -> tuple[DocumentSegment, ...]:
    """The segments before a revision."""
    changed = list(segments)
    for splice in splices:  # each reverts to the positions that the next one was recorded with
        _replace(changed, splice.at, splice.inserted, splice.removed)
    return tuple(changed)


def _replace(
    segments: list[DocumentSegment],
    at: int,
    removed: Sequence[DocumentSegment],
    inserted: Sequence[DocumentSegment],
) -> None:
    if tuple(segments[at : at + len(removed)]) != tuple(removed):
        raise SpliceMismatchError(f"position {at}")
    segments[at : at + len(removed)] = inserted
