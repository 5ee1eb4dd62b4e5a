"""Undo, redo and comparison of revisions. Nothing is taken back: each of them is a new revision.

A revision names the one whose content undo returns to, and the one whose content redo returns to. With these, undo and
redo walk back and forth like the two stacks of an editor, although the numbers only grow.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from cutroom.products.transcripts.document import DocumentSegment, TranscriptDocument


class RevisionKind(StrEnum):
    """How a revision came about."""

    RECOGNITION = "recognition"  # by an engine
    EDIT = "edit"
    UNDO = "undo"
    REDO = "redo"
    RESTORE = "restore"


@dataclass(frozen=True, slots=True)
class HistoryLinks:
    """Where undo and redo lead from a revision; None: nowhere."""

    undo_to: int | None = None
    redo_to: int | None = None


@dataclass(frozen=True, slots=True)
class HistoryStep:
    """The revision whose content becomes the next revision, and the links of that one."""

    target: int
    links: HistoryLinks


def after_change(current: int) -> HistoryLinks:
    """The links of a revision that changed something: redo leads nowhere any more."""
    return HistoryLinks(undo_to=current)


def undo(history: Mapping[int, HistoryLinks], current: int) -> HistoryStep | None:
    """The step back from the current revision; None if there is nothing to undo."""
    target = history[current].undo_to
    if target is None or target not in history:
        return None
    return HistoryStep(target, HistoryLinks(undo_to=history[target].undo_to, redo_to=current))


def redo(history: Mapping[int, HistoryLinks], current: int) -> HistoryStep | None:
    """The step forward from the current revision; None if there is nothing to redo."""
    target = history[current].redo_to
    if target is None or target not in history:
        return None
    return HistoryStep(target, history[target])


@dataclass(frozen=True, slots=True)
class SegmentChange:
    """A segment in one or both of two revisions; None where it is absent."""

    before: DocumentSegment | None
    after: DocumentSegment | None


def compare(before: TranscriptDocument, after: TranscriptDocument) -> list[SegmentChange]:
    """The segments that differ, matched by their ids, in the order of the later document with removed ones between."""
    changes: list[tuple[float, int, SegmentChange]] = []
    for at, segment in enumerate(after.segments):
        position = before.positions.get(segment.id)
        old = before.segments[position] if position is not None else None
        if old != segment:
            changes.append((segment.start_seconds, at, SegmentChange(old, segment)))
    removed = (segment for segment in before.segments if segment.id not in after.positions)
    changes += [(segment.start_seconds, -1, SegmentChange(segment, None)) for segment in removed]
    return [change for _, _, change in sorted(changes, key=lambda each: each[:2])]
