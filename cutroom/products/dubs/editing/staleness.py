"""Says which lines of a published dub no longer are what they should be, and why.

A line is compared by the inputs that its published audio was made from, so that nothing has to be marked when something
changes. Undoing an edit makes a line current again.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from cutroom.products.dubs.editing.lines import NO_EDITS, DesiredLine, LineEdits, PublishedLine, SourceLine
from cutroom.products.dubs.phrasing import MAX_LINE_SECONDS
from cutroom.products.dubs.script_lines import line_id
from cutroom.products.transcripts.document import DocumentSegment, TranscriptDocument

_SOURCE = ("sourceText", "speaker", "slot")
_EDITS = ("text", "voice", "speed", "startOffset", "gain", "pronunciation", "mute", "keepOriginal", "take")
_SPEECH = ("sourceText", "text", "speaker", "voice", "speed", "startOffset", "pronunciation", "take")


class LineStaleReason(StrEnum):
    """Why a line has to be made again."""

    EDITED = "edited"  # by a person who dubs
    SOURCE_CHANGED = "sourceChanged"  # the transcript: its text, times or speaker
    ADDED = "added"  # to the transcript
    REMOVED = "removed"  # from the transcript


@dataclass(frozen=True, slots=True)
class LineState:
    """A line of the dub: what it should be, and what the published audio has."""

    desired: DesiredLine | None  # None if its segments were deleted
    published: PublishedLine | None  # None if it is new
    reasons: tuple[LineStaleReason, ...]

    @property
    def id(self) -> str:
        return self.source.id

    @property
    def source(self) -> SourceLine:
        """The source of today; of a removed line, what it was."""
        if self.desired is not None:
            return self.desired.source
        assert self.published is not None
        return self.published.source

    @property
    def edits(self) -> LineEdits:
        return self.desired.edits if self.desired is not None else NO_EDITS

    @property
    def is_stale(self) -> bool:
        return bool(self.reasons)

    @property
    def needs_speech(self) -> bool:
        """Whether a voice has to speak it again; otherwise it is only mixed again, or not at all."""
        if not self.is_stale or self.desired is None or not self.desired.edits.is_spoken:
            return False
        if self.published is None or self.published.placed is None:
            return True
        old, new = self.published.inputs, self.desired.inputs
        return any(old.get(name) != new.get(name) for name in _SPEECH) or _seconds(old) != _seconds(new)

    @property
    def needs_translation(self) -> bool:
        """Whether the rules have no translation of its source yet."""
        if not self.needs_speech or self.desired is None or self.desired.edits.text is not None:
            return False
        return self.published is None or self.published.translated != self.desired.source.text_fingerprint

    @property
    def speech_seconds(self) -> float:
        """The time that a voice has to speak again, which is what it costs."""
        return round(self.source.seconds, 3) if self.needs_speech else 0.0


def line_states(
    published: Sequence[PublishedLine], document: TranscriptDocument, edits: Mapping[str, LineEdits]
) -> list[LineState]:
    """Every line of the transcript and of the published dub, in the order of time."""
    known = {each.id: each for each in published}
    desired = {each.id: DesiredLine(each, edits.get(each.id, NO_EDITS)) for each in current_lines(published, document)}
    states = [LineState(line, known.get(id_), stale_reasons(line, known.get(id_))) for id_, line in desired.items()]
    states += [LineState(None, each, (LineStaleReason.REMOVED,)) for each in published if each.id not in desired]
    return sorted(states, key=lambda each: (each.source.start_seconds, each.source.end_seconds, each.id))


def current_lines(published: Sequence[PublishedLine], document: TranscriptDocument) -> list[SourceLine]:
    """The lines that the transcript makes now.

    Segments of one published line stay together while nothing separates them and one speaker says them. What is split
    off, and segments that are new, are lines of their own.
    """
    owners = {segment: each.id for each in published for segment in each.source.segment_ids}
    groups: list[tuple[str | None, list[DocumentSegment]]] = []
    for segment in sorted(document.kept, key=lambda each: (each.start_seconds, each.end_seconds)):
        owner = owners.get(segment.id)
        if groups and owner is not None and groups[-1][0] == owner and _belongs(segment, groups[-1][1]):
            groups[-1][1].append(segment)
        else:
            groups.append((owner, [segment]))
    lines, used = [], set[str]()
    for owner, segments in groups:
        ids = tuple(each.id for each in segments)
        id_ = owner if owner is not None and owner not in used else line_id(ids)
        used.add(id_)
        lines.append(
            SourceLine(
                id_,
                ids,
                segments[0].start_seconds,
                max(each.end_seconds for each in segments),
                segments[0].speaker,
                " ".join(each.text for each in segments),
            )
        )
    return lines


def _belongs(segment: DocumentSegment, line: Sequence[DocumentSegment]) -> bool:
    is_short = segment.end_seconds - line[0].start_seconds <= MAX_LINE_SECONDS
    return segment.speaker == line[0].speaker and is_short


def stale_reasons(line: DesiredLine, published: PublishedLine | None) -> tuple[LineStaleReason, ...]:
    """Why the published audio is not that of the line; empty if it is."""
    if published is None:
        return (LineStaleReason.ADDED,)
    old, new = published.inputs, line.inputs
    if old == new:
        return ()
    is_edited = any(old.get(name) != new.get(name) for name in _EDITS)
    is_changed = any(name in old and name in new and old[name] != new[name] for name in _SOURCE)
    reasons = [(LineStaleReason.EDITED, is_edited), (LineStaleReason.SOURCE_CHANGED, is_changed)]
    return tuple(reason for reason, applies in reasons if applies)


def _seconds(inputs: Mapping[str, Any]) -> float:
    start, end = inputs.get("slot", (0.0, 0.0))
    return round(float(end) - float(start), 3)


def chosen_states(states: Sequence[LineState], ids: Collection[str] | None) -> list[LineState]:
    """The stale lines among the named ones, or all stale lines."""
    return [each for each in states if each.is_stale and (ids is None or each.id in ids)]
