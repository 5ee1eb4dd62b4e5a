"""Where the lines of a dub are heard in a recording whose deleted words are cut out."""

import random
from fractions import Fraction
from itertools import pairwise

import pytest

from cutroom.media.cutting.spans import Span, merge_spans
from cutroom.media.cutting.timeline import CutTimeline, FrameSpan
from cutroom.products.dubs.cutting.placement import CutLine, place_cut_lines
from cutroom.products.dubs.line_sync import GAP_SECONDS, MAX_ADVANCE_SECONDS, MAX_TEMPO
from cutroom.products.dubs.script import PlacedLine

RATE = Fraction(25)


def timeline_without(*deleted: Span, seconds: float = 40.0) -> CutTimeline:
    kept, at = [], 0
    for start, end in deleted:
        kept.append(FrameSpan(at, round(start * RATE)))
        at = round(end * RATE)
    kept.append(FrameSpan(at, round(seconds * RATE)))
    return CutTimeline(RATE, tuple(each for each in kept if each.frames), deleted)


def line(number: int, start: float, seconds: float) -> PlacedLine:
    return PlacedLine(number, f"key-{number}", start, seconds, 1.0, "", shortened=False, gain=1.0)


def placed(*lines: PlacedLine, deleted: list[Span], sources: list[Span] | None = None) -> list[CutLine]:
    spans = sources or [(each.start_seconds, each.start_seconds + each.seconds) for each in lines]
    return place_cut_lines(lines, {at: [span] for at, span in enumerate(spans)}, timeline_without(*deleted))


def test_lines_beside_a_cut_move_and_stay_as_they_are() -> None:
    first, second = placed(line(0, 1.0, 3.0), line(1, 8.0, 2.0), deleted=[(5.0, 7.0)])
    assert (first.line, first.tempo, first.limit_seconds) == (line(0, 1.0, 3.0), 1.0, None)
    assert (second.line, second.tempo) == (line(1, 6.0, 2.0), 1.0)


def test_a_line_whose_words_are_all_deleted_vanishes() -> None:
    found = placed(line(0, 1.0, 3.0), line(1, 5.0, 2.2), line(2, 9.0, 2.0), deleted=[(5.0, 7.2)])
    assert [each.line.number for each in found] == [0, 2]


def test_a_line_with_a_cut_in_it_is_heard_as_a_whole_in_what_remains() -> None:
    """Six seconds of which one is cut, and half a second of silence that follows."""
    line_, following = placed(line(0, 2.0, 6.0), line(1, 8.5, 2.0), deleted=[(4.0, 5.0)])
    assert line_.limit_seconds is None
    assert line_.tempo == pytest.approx(6.0 / (5.5 - GAP_SECONDS + MAX_ADVANCE_SECONDS), abs=0.001)
    assert following.line.start_seconds == 7.5
    assert line_.line.start_seconds + line_.line.seconds == pytest.approx(7.5 - GAP_SECONDS, abs=0.001)


def test_a_line_that_cannot_fit_ends_before_the_next_one() -> None:
    line_, following = placed(line(0, 2.0, 6.0), line(1, 8.1, 2.0), deleted=[(3.0, 7.0)])
    assert (line_.tempo, following.line.start_seconds) == (MAX_TEMPO, 4.1)
    assert line_.limit_seconds == pytest.approx(4.1 - GAP_SECONDS - line_.line.start_seconds)


def test_a_line_without_deleted_words_is_never_ended_early() -> None:
    """It has borrowed time that is cut now."""
    found = placed(line(0, 2.0, 5.0), line(1, 8.0, 2.0), deleted=[(4.0, 7.9)], sources=[(2.0, 4.0), (8.0, 10.0)])
    assert (found[0].tempo, found[0].limit_seconds) == (MAX_TEMPO, None)


@pytest.mark.parametrize("seed", range(100))
def test_random_cuts(seed: int) -> None:
    """Lines keep their order, start where their source does, and only ones with deleted words end early."""
    rng = random.Random(seed)
    lines: list[PlacedLine] = []
    sources: list[Span] = []
    at = 0.5
    while at < 34:
        slot, free = rng.uniform(0.8, 5.0), rng.uniform(0.1, 2.0)
        lines.append(line(len(lines), round(at, 3), round(slot + rng.uniform(-0.3, min(free, 1.0)), 3)))
        sources.append((round(at, 3), round(at + slot, 3)))
        at += slot + free + 0.1
    deleted = []
    for start, end in sources:
        chance = rng.random()
        if chance < 0.15:
            deleted.append((start, end))
        elif chance < 0.5:
            first = rng.uniform(start, end - 0.3)
            deleted.append((first, rng.uniform(first + 0.2, end)))
    timeline = timeline_without(*merge_spans(deleted))
    found = place_cut_lines(lines, {at: [span] for at, span in enumerate(sources)}, timeline)
    numbers = [each.line.number for each in found]
    assert numbers == sorted(numbers)
    whole = {at for at, span in enumerate(sources) if span in deleted}
    assert not whole & {*numbers}
    untouched = {
        at for at, (start, end) in enumerate(sources) if not any(low < end and high > start for low, high in deleted)
    }
    assert untouched <= {*numbers}
    for each in found:
        number = each.line.number
        start = timeline.output_seconds(lines[number].start_seconds)
        assert start - MAX_ADVANCE_SECONDS - 1e-6 <= each.line.start_seconds <= start + 1e-6
        assert 1.0 <= each.tempo <= MAX_TEMPO
        if number in untouched:
            assert each.limit_seconds is None
        if each.limit_seconds is None:
            assert each.line.seconds == pytest.approx(lines[number].seconds / each.tempo)
    for one, other in pairwise(found):
        if one.line.number in untouched:
            continue
        assert one.line.start_seconds + one.line.seconds <= other.line.start_seconds + 0.05 + MAX_ADVANCE_SECONDS
