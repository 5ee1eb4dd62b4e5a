"""Plans a regeneration: which lines are kept to the sample, which are mixed again, and which a voice speaks again."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

from cutroom.products.dubs.editing.lines import DesiredLine, LineEdits, PublishedLine, SourceLine
from cutroom.products.dubs.editing.staleness import LineState
from cutroom.products.dubs.line_sync import Slot, line_slots
from cutroom.products.dubs.script import DubBatch, DubLine, LineSchedule, SourceSegment
from cutroom.products.dubs.script_lines import LineTexts
from cutroom.products.transcripts.cutting.timelines import deleted_spans
from cutroom.products.transcripts.document import TranscriptDocument
from cutroom.text.glossary.line_glossary import line_glossary
from cutroom.text.glossary.terms import Glossary


class LineWork(StrEnum):
    """What a regeneration does with a line."""

    KEPT = "kept"  # as it was published
    PLACED = "placed"  # the same speech at another time or level
    SPOKEN = "spoken"  # by a voice, again or for the first time
    SILENT = "silent"  # nothing is spoken: it is muted, or the source is heard


@dataclass(frozen=True, slots=True)
class RedubLine:
    """A line of the new version of a dub."""

    work: LineWork
    desired: DesiredLine
    inputs: Mapping[str, Any]  # that its audio is made from
    published: PublishedLine | None
    translation: tuple[str, ...] = ()
    translated: str | None = None  # fingerprint of the source text of the translation
    reasons: tuple[str, ...] = ()  # to review it

    @property
    def source(self) -> SourceLine:
        return self.desired.source

    @property
    def edits(self) -> LineEdits:
        return self.desired.edits

    @property
    def original_span(self) -> tuple[float, float] | None:
        """When the source is heard instead of a voice."""
        return tuple(self.inputs["slot"]) if self.inputs.get("keepOriginal") else None

    @property
    def span(self) -> tuple[float, float]:
        """The time that it takes from its neighbors; of a line that is not placed yet, the time it should take."""
        placed = self.published.placed if self.published is not None else None
        if self.work is LineWork.KEPT and placed is not None:
            return placed.start_seconds, placed.start_seconds + placed.seconds
        offset = self.edits.start_offset or 0.0
        return self.source.start_seconds + offset, self.source.end_seconds - self.source.cut_seconds + offset

    @property
    def is_spoken(self) -> bool:
        if self.work is LineWork.KEPT:
            return self.published is not None and self.published.placed is not None
        return self.work is not LineWork.SILENT

    @property
    def takes_time(self) -> bool:
        return self.is_spoken or self.original_span is not None

    def translated_by(self, found: LineTexts) -> "RedubLine":
        return replace(self, translation=found.texts, translated=self.source.text_fingerprint, reasons=found.reasons)

    def to_row(self) -> dict[str, Any]:
        desired = {"source": self.source.to_row(), "edits": asdict(self.edits)}
        published = self.published.to_row() if self.published is not None else None
        return {**asdict(self), "desired": desired, "published": published}

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "RedubLine":
        """The line; what captions say of it is in its translation already."""
        desired = DesiredLine(
            SourceLine.from_row(row["desired"]["source"]), LineEdits.from_row(row["desired"]["edits"])
        )
        published = PublishedLine.from_row(row["published"]) if row["published"] is not None else None
        return cls(
            LineWork(row["work"]),
            desired,
            row["inputs"],
            published,
            tuple(row["translation"]),
            row["translated"],
            tuple(row["reasons"]),
        )


def redub_lines(states: Sequence[LineState], chosen: Collection[str]) -> list[RedubLine]:
    """The lines of the new version in order; lines that are not chosen stay as they were published."""
    lines = []
    for state in states:
        published, desired = state.published, state.desired
        if state.id in chosen and state.is_stale:
            if desired is not None:
                lines.append(_changed(state, desired))
        elif published is not None:
            kept = DesiredLine(published.source)
            texts = (published.translation, published.translated, published.line.reasons)
            lines.append(RedubLine(LineWork.KEPT, kept, published.inputs, published, *texts))
    return sorted(lines, key=lambda each: (each.span, each.source.id))


def _changed(state: LineState, desired: DesiredLine) -> RedubLine:
    published = state.published
    if not desired.edits.is_spoken:
        work = LineWork.SILENT
    else:
        work = LineWork.SPOKEN if state.needs_speech else LineWork.PLACED
    if desired.caption is not None and desired.edits.text is None and work is not LineWork.SILENT:
        texts = LineTexts((desired.caption,))
        return RedubLine(work, desired, desired.inputs, published).translated_by(texts)
    if published is None:
        return RedubLine(work, desired, desired.inputs, None)
    reasons = published.line.reasons if published.translated == desired.source.text_fingerprint else ()
    return RedubLine(work, desired, desired.inputs, published, published.translation, published.translated, reasons)


def untranslated(lines: Sequence[RedubLine]) -> list[int]:
    """The positions of lines that the rules have to translate."""
    return [
        at
        for at, each in enumerate(lines)
        if each.work is LineWork.SPOKEN
        and each.edits.text is None
        and each.desired.take is None
        and each.translated != each.source.text_fingerprint
    ]


def script_lines(
    lines: Sequence[RedubLine], document: TranscriptDocument, *, until_seconds: float, glossary: Glossary
) -> list[DubLine]:
    """The lines of the script; the time of changed ones is bounded by their neighbors."""
    taken = [at for at, each in enumerate(lines) if each.takes_time]
    bounded = line_slots([lines[at].span for at in taken], until_seconds=until_seconds, deleted=deleted_spans(document))
    slots = dict(zip(taken, bounded, strict=True))
    return [_script_line(number, each, slots.get(number), document, glossary) for number, each in enumerate(lines)]


def _script_line(
    number: int, line: RedubLine, slot: Slot | None, document: TranscriptDocument, glossary: Glossary
) -> DubLine:
    published = line.published
    if line.work is LineWork.KEPT and published is not None:
        return replace(published.line, number=number, id=line.source.id)
    start, end = line.span
    slot = slot or Slot(start, end, end)
    take = line.desired.take
    texts = line.translation if line.edits.text is None else (line.edits.text,)
    if take is not None:
        texts = (take.text,)
    terms = line_glossary(glossary, line.source.text, texts)
    if line.work is LineWork.PLACED and published is not None:
        terms = published.line.glossary  # it is the same speech
    segments = [document.segments[document.positions[each]] for each in line.source.segment_ids]
    return DubLine(
        number,
        slot.start_seconds,
        slot.end_seconds,
        slot.latest_end_seconds,
        line.source.speaker,
        line.source.text,
        texts or ("",),
        line.reasons if line.edits.text is None else (),
        line.source.id,
        tuple(
            SourceSegment(each.id, each.start_seconds, each.end_seconds, each.speaker, each.text) for each in segments
        ),
        line.edits.voice,
        line.edits.speed,
        dict(line.edits.pronunciation or {}),
        terms,
        take.key if take is not None else None,
    )


def spoken_batches(lines: Sequence[RedubLine]) -> list[DubBatch]:
    """Consecutive lines that a voice speaks."""
    batches: list[DubBatch] = []
    for at, each in enumerate(lines):
        if each.work is not LineWork.SPOKEN:
            continue
        if batches and batches[-1].end == at:
            batches[-1] = DubBatch(batches[-1].first, at + 1)
        else:
            batches.append(DubBatch(at, at + 1))
    return batches


def lines_to_json(lines: Sequence[RedubLine]) -> bytes:
    return json.dumps([each.to_row() for each in lines], ensure_ascii=False).encode()


def read_lines(data: bytes) -> list[RedubLine]:
    return [RedubLine.from_row(row) for row in json.loads(data)]


def republished(
    lines: Sequence[RedubLine],
    script: Sequence[DubLine],
    schedule: LineSchedule,
    *,
    voices: Mapping[str, Any],
    recognized: Mapping[str, str],
) -> list[PublishedLine]:
    """The record of the new version."""
    placed = {each.number: each for each in schedule.lines}
    found = []
    for line, scripted in zip(lines, script, strict=True):
        known = line.published
        if line.work is LineWork.KEPT and known is not None:
            found.append(replace(known, line=scripted, placed=placed.get(scripted.number)))
            continue
        heard = known.recognized if line.work is LineWork.PLACED and known is not None else None
        found.append(
            PublishedLine(
                line.source,
                line.inputs,
                scripted,
                placed.get(scripted.number),
                voices.get(scripted.voice_key),
                recognized.get(str(scripted.number), heard),
                line.translation,
                line.translated,
            )
        )
    return found
