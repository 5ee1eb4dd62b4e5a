"""Tests for output timelines."""

from fractions import Fraction

import pytest

from cutroom.engines.recognition.port import Word
from cutroom.media.shorts import SourceRange
from cutroom.products.shorts.timeline import Timeline

RATE = Fraction(25)
WORDS = [
    Word(text, 10.0 + index, 10.5 + index, 1.0)
    for index, text in enumerate(["one", "two", "three", "four", "five", "six"])
]


def test_ranges_are_whole_frames_and_never_longer_than_requested() -> None:
    timeline = Timeline.of([(10.0, 12.99), (40.01, 45.0)], rate=RATE)
    assert timeline.ranges == (SourceRange(10.0, 2.96), SourceRange(40.01, 4.96))
    assert timeline.seconds == pytest.approx(7.92)
    assert timeline.cuts() == [2.96]


def test_words_are_mapped_to_output_time() -> None:
    timeline = Timeline.of([(12.8, 14.0), (9.9, 11.0)], rate=RATE)
    words, speakers = timeline.words(WORDS, ["a", "b", "c", "d", "e", "f"])
    assert [(word.text, round(word.start_seconds, 3)) for word in words] == [("four", 0.2), ("one", 1.3)]
    assert speakers == ["d", "a"]


def test_partial_words_are_omitted() -> None:
    timeline = Timeline.of([(10.2, 12.2)], rate=RATE)
    words, _ = timeline.words(WORDS, [""] * 6)
    assert [word.text for word in words] == ["two"]


def test_output_time_is_mapped_to_the_source() -> None:
    timeline = Timeline.of([(12.0, 14.0), (5.0, 6.0)], rate=RATE)
    assert [timeline.source_seconds(seconds) for seconds in (0.0, 1.5, 2.0, 2.5, 9.0)] == [12.0, 13.5, 5.0, 5.5, 6.0]
