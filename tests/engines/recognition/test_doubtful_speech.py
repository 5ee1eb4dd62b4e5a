"""Doubtful speech: which spans are recognized again, and which words are kept."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutroom.engines.recognition.doubtful_speech import (
    MIN_FIRST_PROBABILITY,
    MIN_INSERTED_PROBABILITY,
    MIN_MEAN_PROBABILITY,
    doubtful_spans,
    has_background,
    merge_spans,
    merge_words,
)
from cutroom.engines.recognition.port import Word
from cutroom.engines.types import SAMPLE_RATE, TimeSpan

SURE = 0.97


def words(text: str, *probabilities: float, start: float = 0.0) -> list[Word]:
    """Words of 0.2 s; the last probability applies to the rest."""
    given = [*probabilities, *([probabilities[-1] if probabilities else SURE] * len(text.split()))]
    return [Word(each, start + 0.2 * at, start + 0.2 * at + 0.2, given[at]) for at, each in enumerate(text.split())]


def text(found: list[Word]) -> str:
    return " ".join(word.text for word in found)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (words("Almost did."), words("I almost did.", 0.6, SURE), "I almost did."),
        (words("Almost did."), words("I almost did.", 0.2, SURE), "Almost did."),
        (words("I almost did.", 0.6, SURE), words("Almost did."), "I almost did."),
        (words("Oh almost did.", 0.2, SURE), words("Almost did."), "Almost did."),
        (words("a yet man", SURE, 0.3, SURE), words("a young man"), "a young man"),
        (words("a young man"), words("a yet man", SURE, 0.3, SURE), "a young man"),
        (words("a young man", 0.8), words("a yet man", 0.8), "a young man"),
        (words("It is late, he said."), words("it is late he said"), "It is late, he said."),
        (words("one two"), [], "one two"),
        (words("one two", 0.1), [], ""),
        ([], words("one two"), "one two"),
        ([], words("one two", 0.1), ""),
    ],
)
def test_more_probable_words_are_kept(first: list[Word], second: list[Word], expected: str) -> None:
    assert text(merge_words(first, second)) == expected


some_words = st.lists(st.tuples(st.sampled_from(["a", "b", "c", "d"]), st.floats(0, 1)), max_size=8).map(
    lambda pairs: [Word(each, 0.2 * at, 0.2 * at + 0.2, chance) for at, (each, chance) in enumerate(pairs)]
)


@given(some_words, some_words)
def test_merged_words_come_from_either_result_in_order(first: list[Word], second: list[Word]) -> None:
    merged = merge_words(first, second)
    assert all(word in first or word in second for word in merged)
    starts = [word.start_seconds for word in merged if word in first and word not in second]
    assert starts == sorted(starts)


@given(some_words)
def test_equal_results_stay_as_they_are(found: list[Word]) -> None:
    assert merge_words(found, found) == found


def test_words_outside_the_spans_are_not_touched() -> None:
    first = [*words("Almost did.", start=1.0), *words("Not this one.", 0.1, start=5.0), *words("Nor that.", start=9.0)]
    second = [*words("I almost did.", start=0.9), *words("changed", start=5.0), *words("And that.", start=9.0)]
    merged = merge_spans(first, second, [TimeSpan(0.8, 2.0)])
    assert text(merged) == "I almost did. Not this one. Nor that."


def test_words_are_inserted_at_the_time_of_a_wordless_span() -> None:
    first = [*words("Before.", start=1.0), *words("After.", start=9.0)]
    second = words("Lost words.", start=5.0)
    assert text(merge_spans(first, second, [TimeSpan(4.5, 6.0)])) == "Before. Lost words. After."


SPEECH = [TimeSpan(1.0, 3.0), TimeSpan(5.0, 7.0)]
REST = words("all of it is fine", start=5.0)


@pytest.mark.parametrize(
    ("first_span", "background", "doubtful"),
    [
        (words("certainly all is well", start=1.0), True, False),
        (words("certainly all is well", MIN_MEAN_PROBABILITY - 0.01, start=1.0), False, True),
        (words("certainly all is well", MIN_FIRST_PROBABILITY - 0.01, SURE, start=1.0), True, True),
        (words("certainly all is well", MIN_FIRST_PROBABILITY - 0.01, SURE, start=1.0), False, False),
        (words("starts late", start=1.3), True, True),
        (words("starts late", start=1.3), False, False),
        ([], False, True),
    ],
)
def test_spans_are_doubtful_by_probability_onset_or_missing_words(
    first_span: list[Word], *, background: bool, doubtful: bool
) -> None:
    found = doubtful_spans([*first_span, *REST], SPEECH, background=background)
    assert found == ([SPEECH[0]] if doubtful else [])


def test_short_sound_without_words_is_not_speech() -> None:
    assert doubtful_spans(REST, [TimeSpan(1.0, 1.5), SPEECH[1]], background=True) == []


def test_recording_without_words_has_no_speech() -> None:
    assert doubtful_spans([], SPEECH, background=True) == []


@pytest.mark.parametrize(("background_db", "expected"), [(-60.0, False), (-40.0, False), (-20.0, True), (-12.0, True)])
def test_background_is_measured_in_pauses(background_db: float, *, expected: bool) -> None:
    rng = np.random.default_rng(4)
    speech = rng.normal(0, 0.1, 10 * SAMPLE_RATE).astype(np.float32)
    speech[::1][3 * SAMPLE_RATE : 5 * SAMPLE_RATE] = 0
    noise = rng.normal(0, 0.1 * 10 ** (background_db / 20), len(speech)).astype(np.float32)
    assert has_background(speech + noise) is expected


def test_silence_has_no_background() -> None:
    assert has_background(np.zeros(0, np.float32)) is False
    assert 0 < MIN_INSERTED_PROBABILITY < MIN_FIRST_PROBABILITY
