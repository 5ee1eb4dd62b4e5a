"""The published lines of a dub, also of one that was made before lines had ids.

Such a dub has no record of its lines, but its script, schedule and voices are stored. Its lines get ids by their
position. The segments of a line are those of today's transcript whose middle lies within its time, deleted ones
included; if their text, start and speaker are still those of the line, they count as what it was made from.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cutroom.products.dubs.editing.lines import DesiredLine, PublishedDub, PublishedLine, SourceLine
from cutroom.products.dubs.script import AssignedVoice, DubLine, DubScript, LineSchedule, PlacedLine
from cutroom.products.transcripts.document import DocumentSegment, TranscriptDocument

FIRST_REVISION = 1


def published_dub(
    script: DubScript,
    schedule: LineSchedule,
    voices: Mapping[str, AssignedVoice],
    *,
    recognized: Mapping[str, str],
    gain_db: float | None,
) -> PublishedDub | None:
    """The record of a dub that has just been made; None if its script has no segments."""
    if script.transcript_revision is None:
        return None
    placed = {each.number: each for each in schedule.lines}
    lines = [
        _published(line, _source(line), placed.get(line.number), voices.get(line.voice_key), recognized)
        for line in script.lines
    ]
    return PublishedDub(lines, script.transcript_revision, gain_db, script.options)


def adopted_dub(
    script: DubScript, schedule: LineSchedule, voices: Mapping[str, AssignedVoice], document: TranscriptDocument
) -> PublishedDub:
    """The record of a dub that was made before there were any."""
    placed, known = {each.number: each for each in schedule.lines}, segments_by_line(script.lines, document)
    lines = []
    for line in script.lines:
        source = _adopted_source(line, known[line.number])
        identified = replace(line, id=source.id)
        lines.append(_published(identified, source, placed.get(line.number), voices.get(line.speaker), {}))
    return PublishedDub(lines, FIRST_REVISION)


def segments_by_line(lines: Sequence[DubLine], document: TranscriptDocument) -> dict[int, list[DocumentSegment]]:
    """The segments in whose middle a line is spoken, in order; each belongs to one line at most."""
    found: dict[int, list[DocumentSegment]] = {line.number: [] for line in lines}
    ordered, at = sorted(lines, key=lambda each: each.start_seconds), 0
    for segment in sorted(document.segments, key=lambda each: each.start_seconds + each.end_seconds):
        middle = (segment.start_seconds + segment.end_seconds) / 2
        while at < len(ordered) and ordered[at].end_seconds <= middle:
            at += 1
        if at < len(ordered) and ordered[at].start_seconds <= middle:
            found[ordered[at].number].append(segment)
    return found


def _adopted_source(line: DubLine, segments: Sequence[DocumentSegment]) -> SourceLine:
    ids = tuple(each.id for each in segments)
    source = SourceLine(f"l{line.number + 1}", ids, line.start_seconds, line.end_seconds, line.speaker, line.source)
    kept = [each for each in segments if not each.deleted]
    is_same = kept == list(segments) and bool(kept)
    if (
        is_same
        and " ".join(each.text for each in kept) == line.source
        and abs(kept[0].start_seconds - line.start_seconds) < 0.002
        and {each.speaker for each in kept} == {line.speaker}
    ):
        # The slot of a line ends before the next one begins; its last segment may end later.
        return replace(source, start_seconds=kept[0].start_seconds, end_seconds=max(each.end_seconds for each in kept))
    return source


def _source(line: DubLine) -> SourceLine:
    segments = line.segments
    return SourceLine(
        line.id,
        tuple(each.id for each in segments),
        segments[0].start_seconds,
        max(each.end_seconds for each in segments),
        line.speaker,
        line.source,
    )


def _published(
    line: DubLine,
    source: SourceLine,
    placed: PlacedLine | None,
    voice: AssignedVoice | None,
    recognized: Mapping[str, str],
) -> PublishedLine:
    return PublishedLine(
        source,
        DesiredLine(source).inputs,
        line,
        placed,
        voice,
        recognized.get(str(line.number)),
        line.texts,
        source.text_fingerprint,
    )
