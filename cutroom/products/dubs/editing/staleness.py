"""Says which lines of a published dub no longer are what they should be, and why.

A line is compared by the inputs that its published audio was made from, so that nothing has to be marked when something
changes. Undoing an edit makes a line current again.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from cutroom.media.cutting.spans import total_seconds
from cutroom.products.dubs.editing.cut_lines import CutLines
from cutroom.products.dubs.editing.lines import NO_EDITS, DesiredLine, LineEdits, PublishedLine, SourceLine
from cutroom.products.dubs.phrasing import MAX_LINE_SECONDS
from cutroom.products.dubs.script_lines import line_id
from cutroom.products.transcripts.document import DocumentSegment, TranscriptDocument

_SOURCE = ("sourceText", "speaker", "slot", "cuts")
NO_CAPTIONS: Mapping[str, str] = MappingProxyType({})
_EDITS = ("text", "voice", "speed", "startOffset", "gain", "pronunciation", "mute", "keepOriginal", "take")
_SPEECH = ("sourceText", "text", "speaker", "voice", "speed", "startOffset", "pronunciation", "take")


class LineStaleReason(StrEnum):
    """Why a line has to be made again."""

    EDITED = "edited"  # by a person who dubs
    SOURCE_CHANGED = "sourceChanged"  # the transcript: its text, times or speaker
    ADDED = "added"  # to the transcript
    REMOVED = "removed"  # from the transcript
    CUT = "cut"  # some of its words are deleted
    CAPTIONS_CHANGED = "captionsChanged"  # the captions whose words it speaks


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
        if LineStaleReason.CAPTIONS_CHANGED in self.reasons:
            return True
        old, new = self.published.inputs, self.desired.inputs
        return any(old.get(name) != new.get(name) for name in _SPEECH) or _seconds(old) != _seconds(new)

    @property
    def needs_translation(self) -> bool:
        """Whether the rules have no translation of its source yet."""
        if not self.needs_speech or self.desired is None or self.desired.edits.text is not None:
            return False
        if self.desired.caption is not None:
            return False
        return self.published is None or self.published.translated != self.desired.source.text_fingerprint

    @property
    def speech_seconds(self) -> float:
        """The time that a voice has to speak again, which is what it costs."""
        return round(self.source.seconds, 3) if self.needs_speech else 0.0


def line_states(
    published: Sequence[PublishedLine],
    document: TranscriptDocument,
    edits: Mapping[str, LineEdits],
    *,
    captions: Mapping[str, str] = NO_CAPTIONS,
    silent: frozenset[str] = frozenset(),
) -> list[LineState]:
    """Every line of the transcript and of the published dub, in the order of time.

    `captions` are the texts of segments that the dub takes from captions; `silent` are segments that it leaves out.
    """
    known, cut = {each.id: each for each in published}, CutLines(published, document, silent)
    desired = {
        each.id: DesiredLine(each, edits.get(each.id, NO_EDITS), caption_of(each, captions))
        for each in _current_lines(cut)
    }
    states = [
        LineState(line, known.get(id_), _stale_reasons(line, known.get(id_), cut)) for id_, line in desired.items()
    ]
    states += [LineState(None, each, (LineStaleReason.REMOVED,)) for each in published if each.id not in desired]
    return sorted(states, key=lambda each: (each.source.start_seconds, each.source.end_seconds, each.id))


def caption_of(line: SourceLine, captions: Mapping[str, str]) -> str | None:
    """What captions say of a line; None unless they have a text for all of it."""
    texts = [captions.get(each) for each in line.segment_ids]
    return " ".join(text for text in texts if text) if texts and all(texts) else None


def _current_lines(cut: CutLines) -> list[SourceLine]:
    """The lines that the transcript makes now.

    Segments of one published line stay together while nothing separates them and one speaker says them, and so does
    what remains of them beside deleted words. What is split off, and segments that are new, are lines of their own.
    """
    known = {each.id: each.source for each in cut.published}
    groups: list[tuple[str | None, list[DocumentSegment]]] = []
    begun = set[str]()
    for segment in sorted(cut.document.kept, key=lambda each: (each.start_seconds, each.end_seconds)):
        owner = cut.owners.get(segment.id)
        if groups and owner is not None and groups[-1][0] == owner and _belongs(segment, groups[-1][1]):
            groups[-1][1].append(segment)
        elif owner is None or owner in begun:  # new, or separated from the rest of its line
            groups.append((None, [segment]))
        else:
            begun.add(owner)
            groups.append((owner, [segment]))
    lines = []
    for owner, segments in groups:
        ids = tuple(each.id for each in segments)
        id_, cuts = owner or line_id(ids), cut.cuts_between(segments)
        if owner is not None and ids == known[owner].segment_ids and not known[owner].cuts:
            cuts = ()  # it was made without regard to what was deleted before
        lines.append(
            SourceLine(
                id_,
                ids,
                segments[0].start_seconds,
                max(each.end_seconds for each in segments),
                segments[0].speaker,
                " ".join(each.text for each in segments),
                cuts,
            )
        )
    return lines


def _belongs(segment: DocumentSegment, line: Sequence[DocumentSegment]) -> bool:
    is_short = segment.end_seconds - line[0].start_seconds <= MAX_LINE_SECONDS
    return segment.speaker == line[0].speaker and is_short


def _stale_reasons(line: DesiredLine, published: PublishedLine | None, cut: CutLines) -> tuple[LineStaleReason, ...]:
    """Why the published audio is not that of the line; empty if it is."""
    if published is None:
        return (LineStaleReason.ADDED,)
    old, new = published.inputs, line.inputs
    is_edited = any(old.get(name) != new.get(name) for name in _EDITS)
    is_changed = any(old.get(name) != new.get(name) for name in _comparable(old, new))
    has_lost_words = is_changed and cut.has_lost_words(published)
    reasons = [
        (LineStaleReason.EDITED, is_edited),
        (LineStaleReason.CUT, has_lost_words),
        (LineStaleReason.SOURCE_CHANGED, is_changed and not (has_lost_words and cut.differs_by_cuts_only(published))),
        (LineStaleReason.CAPTIONS_CHANGED, has_other_caption(line, published)),
    ]
    return tuple(reason for reason, applies in reasons if applies)


def _comparable(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Inputs from the source that both have; no cuts are as good as none."""
    both = [name for name in _SOURCE if name in old and name in new]
    return [*both, "cuts"] if "slot" in both and "cuts" not in both else both


def has_other_caption(line: DesiredLine, published: PublishedLine) -> bool:
    """Whether captions say something else than the text that the published line was made from."""
    if line.caption is None or not line.edits.is_spoken or line.edits.text is not None or line.take is not None:
        return False
    return published.translation[:1] != (line.caption,)


def _seconds(inputs: Mapping[str, Any]) -> float:
    start, end = inputs.get("slot", (0.0, 0.0))
    return round(float(end) - float(start) - total_seconds(inputs.get("cuts", ())), 3)


def chosen_states(states: Sequence[LineState], ids: Collection[str] | None) -> list[LineState]:
    """The stale lines among the named ones, or all stale lines."""
    return [each for each in states if each.is_stale and (ids is None or each.id in ids)]
