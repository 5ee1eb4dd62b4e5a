"""How long lines become, and where they are laid."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutroom.products.dubs.line_sync import (
    GAP_SECONDS,
    LATE_SECONDS,
    MAX_BORROWED_SECONDS,
    MAX_STRETCH,
    MIN_STRETCH,
    Slot,
    fit,
    is_likely_too_long,
    place,
    slots,
)


def test_a_line_has_its_own_time_and_the_silence_after_it() -> None:
    found = slots([(1.0, 3.0), (3.5, 5.0), (20.0, 21.0)], until_seconds=30.0)
    assert found[0] == Slot(1.0, 3.0, 3.5 - GAP_SECONDS)
    assert found[1].latest_end_seconds == 5.0 + MAX_BORROWED_SECONDS
    assert found[2].latest_end_seconds == 21.0 + MAX_BORROWED_SECONDS


def test_lines_that_overlap_get_what_is_left() -> None:
    first, second = slots([(1.0, 4.0), (3.0, 5.0)], until_seconds=10.0)
    assert first.end_seconds == first.latest_end_seconds == 3.0 - GAP_SECONDS
    assert second.seconds == 2.0


@pytest.mark.parametrize(
    ("natural", "stretch", "seconds"),
    [
        (4.0, 1.0, 4.0),
        (4.8, 1.2, 4.0),
        (3.6, 0.9, 4.0),
        (2.0, MIN_STRETCH, 2.0 / MIN_STRETCH),  # too short: it is not drawn out like chewing gum
        (6.0, MAX_STRETCH, 4.8),  # too long: it borrows
        (9.0, MAX_STRETCH, 7.2),  # and does not fit
    ],
)
def test_how_a_line_is_stretched(natural: float, stretch: float, seconds: float) -> None:
    fitted = fit(natural, Slot(10.0, 14.0, 15.0))
    assert (fitted.stretch, round(fitted.seconds, 4)) == (stretch, round(seconds, 4))
    assert fitted.is_close is (seconds <= 4.4)


def test_a_text_is_too_long_when_nobody_could_say_it_in_time() -> None:
    slot = Slot(0.0, 4.0, 4.0)
    assert is_likely_too_long("a" * 90, slot, language="pt-BR")
    assert not is_likely_too_long("a" * 87, slot, language="pt")


def test_a_short_text_takes_more_of_its_time_than_a_long_one() -> None:
    assert is_likely_too_long("Apenas dois.", Slot(0.0, 0.62, 1.1), language="pt")
    assert not is_likely_too_long("Apenas dois. " * 10, Slot(0.0, 6.2, 6.8), language="pt")


def test_lines_keep_their_starts_where_they_can() -> None:
    lines = [(Slot(1.0, 3.0, 3.4), 2.0), (Slot(3.5, 5.0, 8.0), 2.5), (Slot(9.0, 10.0, 13.0), 1.0)]
    assert place(lines) == [1.0, 3.5, 9.0]


def test_a_line_that_is_too_long_starts_a_little_earlier_and_moves_the_next_a_little() -> None:
    starts = place([(Slot(1.0, 2.0, 2.4), 1.6), (Slot(2.5, 4.0, 6.0), 1.5)])
    assert starts[0] == pytest.approx(1.0 - 0.06, abs=0.001)
    assert starts[1] - 2.5 <= LATE_SECONDS


@given(st.lists(st.tuples(st.floats(0.0, 3.0), st.floats(0.3, 8.0), st.floats(0.2, 12.0)), min_size=1, max_size=40))
def test_whatever_comes_nothing_overlaps_and_every_stretch_is_within_bounds(
    drawn: list[tuple[float, float, float]],
) -> None:
    at, spans = 0.0, []
    for gap, length, _ in drawn:
        spans.append((at + gap, at + gap + length))
        at += gap + length
    found = slots(spans, until_seconds=at + 5)
    fitted = [fit(natural, slot) for slot, (_, _, natural) in zip(found, drawn, strict=True)]
    assert all(MIN_STRETCH <= each.stretch <= MAX_STRETCH for each in fitted)
    starts = place([(slot, each.seconds) for slot, each in zip(found, fitted, strict=True)])
    placed = list(zip(starts, fitted, strict=True))
    assert all(one + length.seconds <= two + 1e-3 for (one, length), (two, _) in pairwise(placed))
    if all(each.seconds <= slot.room_seconds for slot, each in zip(found, fitted, strict=True)):
        assert all(abs(start - slot.start_seconds) < 0.15 for slot, start in zip(found, starts, strict=True))
