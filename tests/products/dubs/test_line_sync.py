"""Tempo and start times of synthesized lines."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutroom.products.dubs.line_sync import (
    GAP_SECONDS,
    MAX_BORROWED_SECONDS,
    MAX_DELAY_SECONDS,
    MAX_NATURAL,
    MAX_SPEAKING_RATE,
    MAX_TEMPO,
    MAX_WORDINGS,
    MIN_NATURAL,
    MIN_SPEAKING_RATE,
    MIN_TEMPO,
    Slot,
    best_wording,
    fit_line,
    is_likely_too_long,
    is_natural_fit,
    line_slots,
    line_starts,
    max_characters,
    natural_seconds,
    next_wording,
    speaking_rate,
)

SLOT = Slot(0.0, 4.0, 4.0)
LONG, SHORTER, SHORTEST = "a" * 100, "a" * 80, "a" * 40  # natural_seconds: 5.6, 4.6 and 2.4


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
        (9.0, MAX_TEMPO, 7.2),  # longer than the silence allows
    ],
)
def test_tempo_matches_the_slot_within_limits(natural: float, tempo: float, seconds: float) -> None:
    fitted = fit_line(natural, Slot(10.0, 14.0, 15.0))
    assert (fitted.tempo, round(fitted.seconds, 4)) == (tempo, round(seconds, 4))


@pytest.mark.parametrize(
    ("natural", "rate"),
    [
        (3.2, 1.0),  # the tempo is enough
        (5.4, 1.0),  # 8 % longer than its slot at the highest tempo: within the tolerance
        (5.6, 1.05),  # 7 % longer than its slot at the highest tempo
        (6.0, 1.12),
        (9.0, MAX_SPEAKING_RATE),
        (3.0, 0.95),
        (2.0, MIN_SPEAKING_RATE),
    ],
)
def test_voice_speaks_faster_or_slower_only_where_the_tempo_is_not_enough(natural: float, rate: float) -> None:
    assert speaking_rate(natural, Slot(10.0, 14.0, 15.0)) == rate


def test_text_is_too_long_when_it_exceeds_the_slot_at_a_tempo() -> None:
    assert is_likely_too_long("a" * 90, SLOT, language="pt-BR", tempo=MAX_TEMPO)
    assert not is_likely_too_long("a" * 87, SLOT, language="pt", tempo=MAX_TEMPO)
    assert is_likely_too_long("a" * 87, SLOT, language="pt")  # at natural speed


def test_short_texts_include_the_utterance_overhead() -> None:
    assert is_likely_too_long("Apenas dois.", Slot(0.0, 0.62, 1.1), language="pt", tempo=MAX_TEMPO)
    assert not is_likely_too_long("Apenas dois. " * 10, Slot(0.0, 6.2, 6.8), language="pt", tempo=MAX_TEMPO)


@pytest.mark.parametrize(
    ("written", "spoken", "language"),
    [
        ("It costs $149.", "It costs one hundred forty-nine dollars.", "en"),
        ("Custa R$ 2.149.", "Custa dois mil cento e quarenta e nove reais.", "pt-BR"),
        ("Son las 15:30.", "Son las quince y treinta.", "es"),
    ],
)
def test_estimate_counts_numbers_as_they_are_spoken(written: str, spoken: str, language: str) -> None:
    assert natural_seconds(written, language=language) == natural_seconds(spoken, language=language)


@given(st.floats(0.3, 30.0))
def test_text_of_max_characters_fits_naturally(seconds: float) -> None:
    slot = Slot(0.0, seconds, seconds)
    count = max_characters(slot, language="es")
    if count > 1:
        assert not is_likely_too_long("a" * count, slot, language="es")
    assert is_likely_too_long("a" * (count + 1), slot, language="es")


@pytest.mark.parametrize(("seconds", "fits"), [(3.59, False), (3.61, True), (4.79, True), (4.81, False)])
def test_natural_fit_is_ten_percent_shorter_to_twenty_percent_longer(seconds: float, *, fits: bool) -> None:
    assert is_natural_fit(seconds, SLOT.seconds) is fits


def test_first_wording_is_kept_if_it_fits() -> None:
    texts = (LONG, SHORTER, SHORTEST)
    assert next_wording(texts, {}, SLOT, language="pt") == 0
    assert next_wording(texts, {0: 4.7}, SLOT, language="pt") is None
    assert best_wording({0: 4.7}, SLOT) == 0


def test_next_wording_is_the_first_that_is_expected_to_fit() -> None:
    texts = (LONG, "a" * 99, SHORTER, "a" * 75, SHORTEST)
    assert next_wording(texts, {0: 5.6}, SLOT, language="pt") == 2
    assert next_wording(texts, {0: 5.6, 2: 4.6}, SLOT, language="pt") is None
    assert best_wording({0: 5.6, 2: 4.6}, SLOT) == 2


def test_expected_durations_follow_the_speed_of_the_voice() -> None:
    texts = (LONG, SHORTER, "a" * 70)
    assert next_wording(texts, {0: 5.6}, SLOT, language="pt") == 1
    assert next_wording(texts, {0: 6.6}, SLOT, language="pt") == 2


def test_wording_that_is_much_too_short_is_not_better_than_one_that_is_a_little_too_long() -> None:
    assert next_wording((LONG, SHORTEST), {0: 5.6}, SLOT, language="pt") is None


def test_nothing_shorter_is_tried_for_a_line_that_is_already_too_short() -> None:
    assert next_wording((SHORTEST, "a" * 30), {0: 2.4}, SLOT, language="pt") is None


@given(
    st.lists(st.integers(3, 200), min_size=1, max_size=12),
    st.floats(0.7, 1.4),
    st.floats(0.3, 12.0),
)
def test_chosen_wording_needs_no_more_change_of_tempo_than_the_first(
    lengths: list[int], speed: float, seconds: float
) -> None:
    slot = Slot(0.0, seconds, seconds)
    texts = ["a" * length for length in lengths]
    spoken: dict[int, float] = {}
    while (index := next_wording(texts, spoken, slot, language="es")) is not None:
        assert index not in spoken
        spoken[index] = natural_seconds(texts[index], language="es") / speed
    assert 0 in spoken
    assert len(spoken) <= MAX_WORDINGS

    def change(index: int) -> float:
        ratio = spoken[index] / slot.seconds
        return max(1.0, ratio / MAX_NATURAL, MIN_NATURAL / ratio)

    assert change(best_wording(spoken, slot)) == min(map(change, spoken))


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
