"""Tempo and start times of synthesized lines."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutroom.products.dubs.line_sync import (
    GAP_SECONDS,
    MAX_BORROWED_SECONDS,
    MAX_DELAY_SECONDS,
    MAX_TEMPO,
    MIN_TEMPO,
    Slot,
    fit_line,
    is_likely_too_long,
    line_slots,
    line_starts,
)


def test_slot_extends_into_the_following_silence() -> None:
    found = line_slots([(1.0, 3.0), (3.5, 5.0), (20.0, 21.0)], until_seconds=30.0)
    assert found[0] == Slot(1.0, 3.0, 3.5 - GAP_SECONDS)
    assert found[1].latest_end_seconds == 5.0 + MAX_BORROWED_SECONDS
    assert found[2].latest_end_seconds == 21.0 + MAX_BORROWED_SECONDS


def test_slots_of_overlapping_lines_are_shortened() -> None:
    first, second = line_slots([(1.0, 4.0), (3.0, 5.0)], until_seconds=10.0)
    assert first.end_seconds == first.latest_end_seconds == 3.0 - GAP_SECONDS
    assert second.seconds == 2.0


@pytest.mark.parametrize(
    ("natural", "tempo", "seconds"),
    [
        (4.0, 1.0, 4.0),
        (4.8, 1.2, 4.0),
        (3.6, 0.9, 4.0),
        (2.0, MIN_TEMPO, 2.0 / MIN_TEMPO),  # too short: limited by MIN_TEMPO
        (6.0, MAX_TEMPO, 4.8),  # too long: extends into the silence
        (9.0, MAX_TEMPO, 7.2),  # does not fit_line
    ],
)
def test_tempo_matches_the_slot_within_limits(natural: float, tempo: float, seconds: float) -> None:
    fitted = fit_line(natural, Slot(10.0, 14.0, 15.0))
    assert (fitted.tempo, round(fitted.seconds, 4)) == (tempo, round(seconds, 4))
    assert fitted.fits is (seconds <= 4.4)


def test_text_is_too_long_when_it_exceeds_the_slot_at_max_tempo() -> None:
    slot = Slot(0.0, 4.0, 4.0)
    assert is_likely_too_long("a" * 90, slot, language="pt-BR")
    assert not is_likely_too_long("a" * 87, slot, language="pt")


def test_short_texts_include_the_utterance_overhead() -> None:
    assert is_likely_too_long("Apenas dois.", Slot(0.0, 0.62, 1.1), language="pt")
    assert not is_likely_too_long("Apenas dois. " * 10, Slot(0.0, 6.2, 6.8), language="pt")


def test_lines_keep_their_source_starts_when_they_fit() -> None:
    lines = [(Slot(1.0, 3.0, 3.4), 2.0), (Slot(3.5, 5.0, 8.0), 2.5), (Slot(9.0, 10.0, 13.0), 1.0)]
    assert line_starts(lines) == [1.0, 3.5, 9.0]


def test_overrunning_line_starts_early_and_delays_the_next_slightly() -> None:
    starts = line_starts([(Slot(1.0, 2.0, 2.4), 1.6), (Slot(2.5, 4.0, 6.0), 1.5)])
    assert starts[0] == pytest.approx(1.0 - 0.06, abs=0.001)
    assert starts[1] - 2.5 <= MAX_DELAY_SECONDS


@given(st.lists(st.tuples(st.floats(0.0, 3.0), st.floats(0.3, 8.0), st.floats(0.2, 12.0)), min_size=1, max_size=40))
def test_lines_never_overlap_and_tempo_stays_within_limits(
    drawn: list[tuple[float, float, float]],
) -> None:
    at, spans = 0.0, []
    for gap, length, _ in drawn:
        spans.append((at + gap, at + gap + length))
        at += gap + length
    found = line_slots(spans, until_seconds=at + 5)
    fitted = [fit_line(natural, slot) for slot, (_, _, natural) in zip(found, drawn, strict=True)]
    assert all(MIN_TEMPO <= each.tempo <= MAX_TEMPO for each in fitted)
    starts = line_starts([(slot, each.seconds) for slot, each in zip(found, fitted, strict=True)])
    placed = list(zip(starts, fitted, strict=True))
    assert all(one + length.seconds <= two + 1e-3 for (one, length), (two, _) in pairwise(placed))
    if all(each.seconds <= slot.max_seconds for slot, each in zip(found, fitted, strict=True)):
        assert all(abs(start - slot.start_seconds) < 0.15 for slot, start in zip(found, starts, strict=True))
