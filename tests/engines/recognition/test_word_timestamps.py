"""Words are whole, ordered and inside speech for any recognizer output."""

import math
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutroom.engines.recognition.port import Word
from cutroom.engines.recognition.word_timestamps import (
    INTERPOLATED_FACTOR,
    MAX_DRIFT_SECONDS,
    MIN_WORD_SECONDS,
    RecognizedToken,
    align_words,
    attach_punctuation,
    interpolate_words,
    merge_tokens,
    uncovered_speech,
    uses_spaces,
)
from cutroom.engines.types import TimeSpan

SPEECH = (TimeSpan(1.0, 2.0), TimeSpan(3.0, 4.0))
MILLISECOND = 0.001


def tokens(*words: tuple[str, float, float]) -> list[RecognizedToken]:
    return [RecognizedToken(text, TimeSpan(start, end), 0.9) for text, start, end in words]


def times(words: tuple[Word, ...]) -> list[tuple[str, float, float]]:
    return [(word.text, word.start_seconds, word.end_seconds) for word in words]


@pytest.mark.parametrize(
    ("given_words", "expected"),
    [
        pytest.param([(" a", 1.2, 1.5)], [("a", 1.2, 1.5)], id="unchanged"),
        pytest.param([(" a", 0.0, 1.5)], [("a", 1.0, 1.5)], id="from the start of the recording"),
        pytest.param([(" a", 1.5, 2.8)], [("a", 1.5, 2.0)], id="into the silence"),
        pytest.param([(" a", 1.9, 3.5)], [("a", 3.0, 3.5)], id="spanning a pause"),
        pytest.param([(" a", 2.4, 2.6)], [], id="hallucinated in silence"),
        pytest.param([(" a", 2.1, 2.2)], [("a", 1.96, 2.0)], id="a little late"),
        pytest.param([(" a", 2.75, 2.9)], [("a", 3.0, 3.04)], id="a little early"),
        pytest.param([(" a", 2.45, 2.55)], [], id="too far from both"),
        pytest.param([(" a", 1.5, 1.5)], [("a", 1.5, 1.54)], id="zero length"),
        pytest.param([(" a", 1.5, 1.2)], [("a", 1.5, 1.54)], id="backwards"),
        pytest.param([(" a", 1.1, 1.6), (" b", 1.4, 1.8)], [("a", 1.1, 1.4), ("b", 1.4, 1.8)], id="overlap"),
        pytest.param([(" a", 1.4, 1.8), (" b", 1.1, 1.3)], [("a", 1.4, 1.44), ("b", 1.44, 1.48)], id="out of order"),
        pytest.param(
            [(" a", 3.2, 3.4), (" b", 1.1, 1.3)], [("a", 3.2, 3.24), ("b", 3.24, 3.28)], id="back to an earlier span"
        ),
        pytest.param([(" a", 1.99, 2.0), (" b", 2.0, 2.0)], [("a", 1.92, 1.96), ("b", 1.96, 2.0)], id="at the end"),
        pytest.param([(" a", math.nan, 1.5), (" b", 1.5, math.inf)], [], id="not finite"),
        pytest.param([("  ", 1.2, 1.5), ("", 1.2, 1.5)], [], id="no text"),
    ],
)
def test_times_are_corrected(
    given_words: list[tuple[str, float, float]], expected: list[tuple[str, float, float]]
) -> None:
    assert times(align_words(tokens(*given_words), speech=SPEECH)) == expected


def test_words_share_a_span_that_is_too_short() -> None:
    words = align_words(tokens(*[(f" w{number}", 1.0, 1.0) for number in range(20)]), speech=[TimeSpan(1.0, 1.1)])
    assert len(words) == 20
    assert all(word.end_seconds - word.start_seconds >= 0.005 - 1e-9 for word in words)
    assert words[-1].end_seconds <= 1.1


def test_no_words_without_speech() -> None:
    assert align_words(tokens((" a", 1.0, 2.0)), speech=[]) == ()


@pytest.mark.parametrize(("probability", "expected"), [(-0.1, 0.0), (0.4, 0.4), (1.2, 1.0)])
def test_probabilities_are_clamped(probability: float, expected: float) -> None:
    (word,) = align_words([RecognizedToken("a", TimeSpan(1.2, 1.5), probability)], speech=SPEECH)
    assert word.probability == expected


seconds = st.floats(-5, 60, allow_nan=False)
any_token = st.builds(
    RecognizedToken,
    text=st.sampled_from([" a", " bee", "-c", ",", " (", ".", " 5", "%", " ", "é"]),
    span=st.builds(TimeSpan, seconds, seconds),
    probability=st.floats(0, 1),
)
any_speech = st.lists(
    st.tuples(seconds, st.floats(0, 20)).map(lambda pair: TimeSpan(pair[0], pair[0] + pair[1])), max_size=6
)


@settings(deadline=None)
@given(st.lists(any_token, max_size=30), any_speech, st.booleans())
def test_any_tokens_give_valid_words(found: list[RecognizedToken], speech: list[TimeSpan], spaced: bool) -> None:  # noqa: FBT001
    words = align_words(found, speech=speech, spaced=spaced)
    assert all(left.end_seconds <= right.start_seconds for left, right in pairwise(words))
    assert len(words) <= len(found)
    for word in words:
        assert word.start_seconds < word.end_seconds
        assert word.text == word.text.strip() != ""
        # Touching spans are merged.
        assert any(span.start_seconds <= word.start_seconds + MILLISECOND for span in speech)
        covered = sum(
            max(0.0, min(word.end_seconds, span.end_seconds) - max(word.start_seconds, span.start_seconds))
            for span in speech
        )
        assert covered >= word.end_seconds - word.start_seconds - MILLISECOND


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(0.06, 0.5), st.floats(0, 0.5)), min_size=1, max_size=20))
def test_valid_times_are_unchanged(steps: list[tuple[float, float]]) -> None:
    at, found = 1.0, []
    for length, pause in steps:
        found.append(RecognizedToken(" a", TimeSpan(at, at + length), 0.5))
        at += length + pause
    words = align_words(found, speech=[TimeSpan(0.0, at + 1)])
    for word, token in zip(words, found, strict=True):
        assert word.start_seconds == pytest.approx(token.span.start_seconds, abs=MILLISECOND)
        assert word.end_seconds == pytest.approx(token.span.end_seconds, abs=MILLISECOND)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([" Ill", "-disposed", " man", "."], ["Ill-disposed", "man."]),
        ([" It", "'s", " 5", "%", ",", " or", " $", "3", ".", "5"], ["It's", "5%,", "or", "$3.5"]),
        ([" (", "so", ")", " he", " said", " —", " and"], ["(so)", "he", "said—", "and"]),
        ([" ¿", " Qué", "?"], ["¿Qué?"]),
        (["no", " blank", " first"], ["no", "blank", "first"]),
        ([".", " a"], ["a"]),
        ([" a", " «"], ["a"]),
        ([" &", " Co"], ["&", "Co"]),
    ],
)
def test_tokens_merge_to_words(texts: list[str], expected: list[str]) -> None:
    merged = merge_tokens(tokens(*[(text, 1.0, 1.1) for text in texts]), spaced=True)
    assert [word.text for word in merged] == expected


def test_merged_word_spans_its_tokens() -> None:
    split_word = [
        RecognizedToken(" ill", TimeSpan(1.0, 1.2), 0.9),
        RecognizedToken("-disposed", TimeSpan(1.2, 1.6), 0.4),
        RecognizedToken(".", TimeSpan(1.6, 1.9), 0.1),
    ]
    assert merge_tokens(split_word, spaced=True) == [RecognizedToken("ill-disposed.", TimeSpan(1.0, 1.6), 0.4)]


def test_unspaced_languages_keep_their_tokens() -> None:
    merged = merge_tokens(tokens(("今日", 1.0, 1.2), ("は", 1.2, 1.3), ("。", 1.3, 1.4)), spaced=False)
    assert [word.text for word in merged] == ["今日", "は。"]
    assert [uses_spaces(each) for each in ("ja", "zh-Hant", "yue", "en", "pt-BR", "und")] == [False] * 3 + [True] * 3


@pytest.mark.parametrize(
    ("words", "text", "expected"),
    [
        (["It", "was", "late"], "It was late.", ["It", "was", "late."]),
        (["he", "said", "no"], "“He said: (no)!”", ["“He", "said:", "(no)!”"]),
        (["ill", "disposed", "man"], "An ill-disposed man.", ["ill-disposed", "man."]),
        ([" times,", " it"], "times, it", ["times,", "it"]),
        (["one", "lost", "two"], "One, two.", ["One,", "lost", "two."]),
        (["the", "the"], "The cat. The dog.", ["The", "The"]),
        (["a"], "", ["a"]),
    ],
)
def test_punctuation_is_attached_from_the_text(words: list[str], text: str, expected: list[str]) -> None:
    attached = attach_punctuation(tokens(*[(f" {word.strip()}", 1.0, 1.1) for word in words]), text)
    assert [word.text for word in merge_tokens(attached, spaced=True)] == expected


def test_distant_occurrence_is_not_matched() -> None:
    attached = attach_punctuation(tokens((" end", 1, 2), (" first", 2, 3)), "First, " + "word " * 20 + "end.")
    assert [word.text.strip() for word in attached] == ["end", "First,"]


def test_words_are_interpolated_over_their_segment() -> None:
    interpolated = interpolate_words("aaaa bbbb cccc dddd", TimeSpan(0.5, 3.5), speech=SPEECH, probability=0.8)
    words = align_words(interpolated, speech=SPEECH)
    assert [word.text for word in words] == ["aaaa", "bbbb", "cccc", "dddd"]
    assert times(words)[0][1:] == (1.0, 1.375)
    assert words[-1].start_seconds == 3.125
    assert words[-1].end_seconds == 3.5
    assert {word.probability for word in words} == {0.8 * INTERPOLATED_FACTOR}


@pytest.mark.parametrize("text", ["", "   "])
def test_empty_text_interpolates_to_nothing(text: str) -> None:
    assert interpolate_words(text, TimeSpan(0, 1), speech=SPEECH, probability=1.0) == []


def test_words_interpolated_outside_speech_are_dropped() -> None:
    assert align_words(interpolate_words("a b", TimeSpan(5, 6), speech=SPEECH, probability=1.0), speech=SPEECH) == ()


def test_bounds_are_consistent() -> None:
    assert 0 < MIN_WORD_SECONDS < MAX_DRIFT_SECONDS


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param([], [(1.0, 2.0), (3.0, 4.0)], id="no words"),
        pytest.param([(1.0, 2.0)], [(3.0, 4.0)], id="span without a word"),
        pytest.param([(1.1, 1.2), (1.9, 3.1), (3.5, 3.6)], [(1.2, 1.9)], id="middle of a span"),
        pytest.param([(1.0, 1.45), (3.6, 9.0)], [(1.45, 2.0), (3.0, 3.6)], id="an end and a start"),
        pytest.param([(0.0, 9.0)], [], id="one long word"),
        pytest.param([(1.3, 1.35), (1.7, 1.75), (3.4, 3.6)], [], id="short gaps are ignored"),
    ],
)
def test_speech_without_words_is_reported(
    words: list[tuple[float, float]], expected: list[tuple[float, float]]
) -> None:
    found = uncovered_speech(tokens(*[(" a", *each) for each in words]), speech=SPEECH, min_seconds=0.5)
    assert [(span.start_seconds, span.end_seconds) for span in found] == expected
