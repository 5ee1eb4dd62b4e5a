"""An output's time: parts of the film, on frames, and its words in order."""

from fractions import Fraction

import pytest

from cutroom.engines.recognition.port import Word
from cutroom.media.shorts import Part
from cutroom.products.shorts.timeline import Timeline

RATE = Fraction(25)
WORDS = [
    Word(text, 10.0 + at, 10.5 + at, 1.0) for at, text in enumerate(["one", "two", "three", "four", "five", "six"])
]


def test_parts_last_whole_frames_and_never_longer_than_asked() -> None:
    timeline = Timeline.of([(10.0, 12.99), (40.01, 45.0)], rate=RATE)
    assert timeline.parts == (Part(10.0, 2.96), Part(40.01, 4.96))
    assert timeline.seconds == pytest.approx(7.92)
    assert timeline.joints() == [2.96]


def test_words_get_the_times_at_which_they_are_heard() -> None:
    timeline = Timeline.of([(12.8, 14.0), (9.9, 11.0)], rate=RATE)
    words, speakers = timeline.words(WORDS, ["a", "b", "c", "d", "e", "f"])
    assert [(word.text, round(word.start_seconds, 3)) for word in words] == [("four", 0.2), ("one", 1.3)]
    assert speakers == ["d", "a"]


def test_a_word_that_is_cut_is_not_shown() -> None:
    timeline = Timeline.of([(10.2, 12.2)], rate=RATE)
    words, _ = timeline.words(WORDS, [""] * 6)
    assert [word.text for word in words] == ["two"]
