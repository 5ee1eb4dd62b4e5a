"""Which words are shown together, on which lines, and for how long."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutroom.engines.recognition.port import Word
from cutroom.products.shorts.captions.layout import typesetter
from cutroom.products.shorts.captions.lines import (
    FLICKER_SECONDS,
    LINGER_SECONDS,
    PAUSE_SECONDS,
    Screen,
    group_words,
)
from cutroom.products.shorts.captions.looks import STYLES, Look
from tests.products.shorts.captions.scenes import PORTRAIT, spoken

SPEECH = (
    "So here is the one trick that changed everything, and nobody told me about it. I was working late in the "
    "studio, trying to finish the edit, when suddenly the whole timeline just disappeared. Dr. Smith said it's fine!"
)


def shown(screens: tuple[Screen, ...]) -> list[list[str]]:
    return [[" ".join(word.text for word in line) for line in screen.lines] for screen in screens]


@pytest.mark.parametrize(
    ("look", "expected"),
    [
        (Look.DEFAULT, [["So it works."], ["Every time,", "without fail!"]]),
        (Look.SUBTLE, [["So it works."], ["Every time, without fail!"]]),
        (Look.IMPACT, [["So"], ["it"], ["works."], ["Every"], ["time,"], ["without"], ["fail!"]]),
        (Look.PRO_HIGHLIGHT, [["So it works."], ["Every time,"], ["without fail!"]]),
    ],
)
def test_screens_end_with_sentences_and_hold_what_the_look_allows(look: Look, expected: list[list[str]]) -> None:
    words = spoken("So it works. Every time, without fail!")
    assert shown(group_words(words, look=look, language="en", **PORTRAIT)) == expected


@pytest.mark.parametrize("look", Look)
def test_every_look_keeps_its_bounds_and_loses_no_word(look: Look) -> None:
    words = spoken(SPEECH)
    style = STYLES[look]
    setter = typesetter(words, style, language="en", **PORTRAIT)
    screens = group_words(words, look=look, language="en", **PORTRAIT)
    assert [word for screen in screens for word in screen.words] == words
    for screen in screens:
        assert len(screen.words) <= style.most_words
        assert len(screen.lines) <= style.most_lines
        if len(screen.words) > 1:
            assert max(setter.line_width(line) for line in screen.lines) <= setter.most_width


def test_an_abbreviation_ends_no_screen() -> None:
    screens = group_words(spoken("Dr. Smith said so."), look=Look.SUBTLE, language="en", **PORTRAIT)
    assert shown(screens) == [["Dr. Smith said so."]]


def test_two_lines_are_balanced() -> None:
    (screen,) = group_words(spoken("trying to finish the edit"), look=Look.DEFAULT, language="en", **PORTRAIT)
    assert shown((screen,)) == [["trying to", "finish the edit"]]


def test_a_wider_picture_holds_more_on_a_line() -> None:
    words = spoken("trying to finish the edit")
    assert shown(group_words(words, look=Look.DEFAULT, language="en", width=1920, height=1080)) == [
        ["trying to finish the edit"]
    ]


def test_a_pause_and_another_speaker_end_a_screen() -> None:
    words = [*spoken("yes we can"), *spoken("no we cannot", start_seconds=0.9 + PAUSE_SECONDS + 0.05)]
    assert len(group_words(words, look=Look.SUBTLE, language="en", **PORTRAIT)) == 2
    words = spoken("yes we can no we cannot")
    screens = group_words(words, look=Look.SUBTLE, language="en", speakers=list("aaabbb"), **PORTRAIT)
    assert shown(screens) == [["yes we can"], ["no we cannot"]]
    with pytest.raises(ValueError, match="speaker"):
        group_words(words, look=Look.SUBTLE, language="en", speakers=["a"], **PORTRAIT)


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("人 生 が 変 わ り ま し た 。", "ja", ["人生が変わりました。"]),
        ("เค ล็ด ลับ", "th", ["เคล็ดลับ"]),
        ("สวัส ดี", "th", ["สวัสดี"]),
    ],
)
def test_scripts_without_blanks_are_grouped_by_characters(text: str, language: str, expected: list[str]) -> None:
    screens = group_words(spoken(text), look=Look.DEFAULT, language=language, **PORTRAIT)
    assert ["".join(word.text for word in screen.words) for screen in screens] == expected


def test_a_mark_rejoins_the_letter_it_stands_on() -> None:
    (screen,) = group_words(spoken("ก ้ า ว"), look=Look.DEFAULT, language="th", **PORTRAIT)
    assert [word.text for word in screen.words] == ["ก้า", "ว"]


def test_a_word_that_no_screen_holds_is_cut_and_its_time_shared() -> None:
    (word,) = spoken("a" * 70)
    screens = group_words([word], look=Look.DEFAULT, language="en", **PORTRAIT)
    assert "".join(each.text for screen in screens for each in screen.words) == "a" * 70
    assert all(len(each.text) <= 32 for screen in screens for each in screen.words)
    assert screens[-1].words[-1].end_seconds == pytest.approx(word.end_seconds)


@pytest.mark.parametrize(
    ("gap", "end"),
    [(0.1, 1.1), (0.28, 1.28), (0.4, 1.15), (0.54, 1.29), (0.7, 1.3), (5.0, 1.3)],
)
def test_a_screen_lingers_but_leaves_no_flicker(gap: float, end: float) -> None:
    words = [Word("One.", 0.5, 1.0, 1.0), Word("Two.", 1.0 + gap, 1.5 + gap, 1.0)]
    first, _ = group_words(words, look=Look.DEFAULT, language="en", **PORTRAIT)
    assert first.end_seconds == pytest.approx(end)


def test_nothing_gives_nothing() -> None:
    assert group_words([], look=Look.DEFAULT, language="en", **PORTRAIT) == ()
    assert group_words(spoken("\u202e \x00"), look=Look.DEFAULT, language="en", **PORTRAIT) == ()


words_of_any_kind = st.lists(
    st.tuples(
        st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(["so", "no.", "人", "שלום", "ก้า", "{"]),
        st.floats(-0.2, 1.5),
        st.floats(-0.1, 1.0),
    ),
    max_size=25,
)


@settings(deadline=None, max_examples=60)
@given(words_of_any_kind, st.sampled_from(Look), st.sampled_from(["en", "ja", "ar"]))
def test_whatever_is_said_screens_follow_each_other(
    drawn: list[tuple[str, float, float]], look: Look, language: str
) -> None:
    words, at = [], 0.0
    for text, gap, length in drawn:
        at = max(0.0, at + gap)
        words.append(Word(text, at, at + length, 1.0))
        at += length
    screens = group_words(words, look=look, language=language, **PORTRAIT)
    for screen in screens:
        spoken_until = max(word.end_seconds for word in screen.words)
        assert screen.start_seconds < screen.end_seconds <= spoken_until + LINGER_SECONDS + 1e-6
    for one, two in pairwise(screens):
        gap = two.start_seconds - one.end_seconds
        assert abs(gap) < 1e-6 or gap > FLICKER_SECONDS - 1e-6
