"""Places the lines of a dub in a recording whose deleted words are cut out.

A line is played as a whole, beginning where its source begins in what remains. If a part of its time is cut, it is sped
up to end before the next line. Cutting the finished track in the same places as the original would cut its words, which
are not said when the original ones are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from cutroom.media.cutting.spans import Span, clip_spans, merge_spans, subtract_spans, total_seconds
from cutroom.media.cutting.timeline import CutTimeline
from cutroom.products.dubs.line_sync import GAP_SECONDS, MAX_ADVANCE_SECONDS, MAX_TEMPO
from cutroom.products.dubs.script import PlacedLine

MIN_HEARD_SECONDS = 0.15  # of the source of a line; it is left out with the rest of its words otherwise
MIN_LOST_SECONDS = 0.05  # shorter overlaps with deleted words come from rounded times
UNCUT_SECONDS = 0.021  # less than this of a line in cut time is silence at its end
END_SECONDS = 0.05  # a line may end this much late


@dataclass(frozen=True, slots=True)
class CutLine:
    """A line in what remains: its start and duration there, and how its audio is made to fit."""

    line: PlacedLine
    tempo: float = 1.0  # in addition to that of the published audio
    limit_seconds: float | None = None  # it ends at the last pause before; None if it is heard as a whole


def place_cut_lines(
    lines: Sequence[PlacedLine], sources: Mapping[int, Sequence[Span]], timeline: CutTimeline
) -> list[CutLine]:
    """The lines of which something remains, in order; `sources` says when the source of each was said."""
    taken = merge_spans([*timeline.deleted, *timeline.cut_spans])
    heard = [
        each
        for each in sorted(lines, key=lambda line: (line.start_seconds, line.number))
        if total_seconds(subtract_spans(merge_spans(sources[each.number]), taken)) >= MIN_HEARD_SECONDS
    ]
    starts = [timeline.output_seconds(each.start_seconds) for each in heard]
    placed: list[CutLine] = []
    for line, start, following in zip(heard, starts, [*starts[1:], timeline.seconds + GAP_SECONDS], strict=True):
        free_from = placed[-1].line.start_seconds + placed[-1].line.seconds if placed else 0.0
        has_lost_words = _lost_seconds(sources[line.number], timeline) >= MIN_LOST_SECONDS
        placed.append(
            _placed(line, timeline, Room(start, following, free_from + GAP_SECONDS / 2), has_lost_words=has_lost_words)
        )
    return placed


@dataclass(frozen=True, slots=True)
class Room:
    """When a line starts in what remains, when the next one starts, and from when nothing else is heard."""

    start_seconds: float
    following_seconds: float
    free_from_seconds: float


def _placed(line: PlacedLine, timeline: CutTimeline, room: Room, *, has_lost_words: bool) -> CutLine:
    start, end = room.start_seconds, timeline.output_seconds(line.start_seconds + line.seconds)
    if end - start >= line.seconds - UNCUT_SECONDS:
        return CutLine(replace(line, start_seconds=start))
    latest = max(room.following_seconds - GAP_SECONDS, end)
    overrun = start + line.seconds - latest
    if overrun > 0:
        start = min(start, max(room.free_from_seconds, start - min(overrun, MAX_ADVANCE_SECONDS), 0.0))
    available = latest - start
    tempo = round(min(max(line.seconds / max(available, 0.01), 1.0), MAX_TEMPO), 4)
    moved = replace(line, start_seconds=start, seconds=line.seconds / tempo)
    if not has_lost_words or moved.seconds <= available + END_SECONDS:
        return CutLine(moved, tempo)
    # It says words that are deleted, and is outdated: no other line has to wait for it.
    return CutLine(replace(moved, seconds=available), tempo, available)


def _lost_seconds(source: Sequence[Span], timeline: CutTimeline) -> float:
    lost = timeline.deleted or timeline.cut_spans
    return sum(total_seconds(clip_spans(lost, start, end)) for start, end in source)
