"""Applies the changes of a person to the edits of lines: pure functions that validate."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cutroom.products.dubs.editing.lines import NO_EDITS, DesiredLine, LineEdits
from cutroom.products.dubs.editing.staleness import LineState
from cutroom.products.dubs.line_sync import GAP_SECONDS, MIN_SLOT_SECONDS
from cutroom.text.phonetic_spelling import phonemes_of, unknown_phonemes

MAX_TEXT = 1_000  # characters of a line
MAX_SPELLING = 100
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class InvalidChangeError(ValueError):
    """A change cannot be made; `field` names the part of it that is wrong."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field, self.message = field, message


@dataclass(frozen=True, slots=True)
class LineChange:
    """New values for a line, by the names of the fields of `LineEdits`; None returns to the automatic value."""

    id: str
    values: Mapping[str, Any]


def apply_changes(
    states: Sequence[LineState], edits: Mapping[str, LineEdits], changes: Sequence[LineChange]
) -> dict[str, LineEdits]:
    """The edits with the changes, all or none; raises InvalidChangeError with its place."""
    positions = {each.id: at for at, each in enumerate(states) if each.desired is not None}
    edited = dict(edits)
    for number, change in enumerate(changes):
        at = positions.get(change.id)
        if at is None:
            raise InvalidChangeError(f"changes.{number}.id", "There is no such line.")
        try:
            edited[change.id] = _apply(states, at, edited.get(change.id, NO_EDITS), change.values)
        except InvalidChangeError as error:
            raise InvalidChangeError(f"changes.{number}.{error.field}", error.message) from error
    for number, change in enumerate(changes):  # against the neighbors as they are after all changes
        offset = edited[change.id].start_offset
        if offset is not None:
            low, high = offset_bounds(states, positions[change.id], edited)
            if not low <= offset <= high:
                message = f"Between {low:g} and {high:g} seconds: the line would overlap its neighbors."
                raise InvalidChangeError(f"changes.{number}.startOffset", message)
    return edited


def _apply(states: Sequence[LineState], at: int, edits: LineEdits, values: Mapping[str, Any]) -> LineEdits:
    changed = dict(values)
    if changed.get("text") is not None:
        changed["text"] = checked_text(changed["text"], "text", limit=MAX_TEXT)
    if "text" in changed:
        changed["edited_source"] = states[at].source.text_fingerprint if changed["text"] is not None else None
    if changed.get("pronunciation") is not None:
        changed["pronunciation"] = {
            checked_text(word, "pronunciation", limit=MAX_SPELLING): checked_text(
                spelling, "pronunciation", limit=MAX_SPELLING
            )
            for word, spelling in changed["pronunciation"].items()
        }
        for spelling in changed["pronunciation"].values():
            if phonemes_of(spelling) is not None and (unknown := unknown_phonemes(spelling)):
                raise InvalidChangeError("pronunciation", f"No voice knows these phonemes: {' '.join(unknown)}")
    for name in ("mute", "keep_original", "start_offset", "gain_db", "pronunciation"):
        if name in changed:  # what changes nothing is not set
            changed[name] = changed[name] or None
    edited = replace(edits, **changed)
    desired = states[at].desired or DesiredLine(states[at].source)
    if edited.take is not None and replace(desired, edits=edited).take is None:
        if changed.get("take") is not None:
            message = "The take has another text, voice, speed or pronunciation. Send what it was made with as well."
            raise InvalidChangeError("take", message)
        edited = replace(edited, take=None)  # it is of what was said before
    return edited


def checked_text(text: str, field: str, *, limit: int) -> str:
    """A text on one line, without control characters."""
    if _CONTROL.search(text):
        raise InvalidChangeError(field, "Control characters are not allowed.")
    checked = " ".join(text.split())
    if not checked:
        raise InvalidChangeError(field, "Text is required. Mute the line to leave it out.")
    if len(checked) > limit:
        raise InvalidChangeError(field, f"At most {limit} characters.")
    return checked


def offset_bounds(states: Sequence[LineState], at: int, edits: Mapping[str, LineEdits]) -> tuple[float, float]:
    """How far the start of a line may be moved: from the end of the line before to the start of the next one."""
    lines = [each for each in states if each.desired is not None]
    here = next(number for number, each in enumerate(lines) if each is states[at])
    source = lines[here].source
    earliest, latest = 0.0, source.end_seconds
    if here:
        earliest = min(lines[here - 1].source.end_seconds, source.start_seconds)
    if here + 1 < len(lines):
        following = lines[here + 1].source
        offset = edits.get(following.id, NO_EDITS).start_offset or 0.0
        latest = following.start_seconds + min(offset, 0.0) - GAP_SECONDS
    latest = max(latest - MIN_SLOT_SECONDS, source.start_seconds)
    return round(earliest - source.start_seconds, 3), round(latest - source.start_seconds, 3)
