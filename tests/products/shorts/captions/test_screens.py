"""Tests for grouping words into caption screens."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutroom.engines.recognition.port import Word
from cutroom.products.shorts.captions.layout import make_typesetter
from cutroom.products.shorts.captions.screens import (
    FLICKER_SECONDS,
    LINGER_SECONDS,
    PAUSE_SECONDS,
    CaptionScreen,
    group_into_screens,
)
from cutroom.products.shorts.captions.styles import STYLES, CaptionStyle
from tests.products.shorts.captions.scenes import PORTRAIT, evenly_spoken

SPEECH = (
    "So here is the one trick that changed everything, and nobody told me about it. I was working late in the "
    "studio, trying to finish the edit, when suddenly the whole timeline just disappeared. Dr. Smith said it's fine!"
)


def line_texts(screens: tuple[CaptionScreen, ...]) -> list[list[str]]:
    return [[" ".join(word.text for word in line) for line in screen.lines] for screen in screens]


@pytest.mark.parametrize(
    ("caption_style", "expected"),
    [
        (CaptionStyle.DEFAULT, [["So it works."], ["Every time,", "without fail!"]]),
        (CaptionStyle.SUBTLE, [["So it works."], ["Every time, without fail!"]]),
        (CaptionStyle.IMPACT, [["So"], ["it"], ["works."], ["Every"], ["time,"], ["without"], ["fail!"]]),
        (CaptionStyle.PRO_HIGHLIGHT, [["So it works."], ["Every time,"], ["without fail!"]]),
    ],
)
def test_screens_end_with_sentences_and_respect_the_style(
    caption_style: CaptionStyle, expected: list[list[str]]
) -> None:
    words = evenly_spoken("So it works. Every time, without fail!")
    assert line_texts(group_into_screens(words, caption_style=caption_style, language="en", **PORTRAIT)) == expected


@pytest.mark.parametrize("caption_style", CaptionStyle)
def test_every_style_keeps_its_limits_and_all_words(caption_style: CaptionStyle) -> None:
    words = evenly_spoken(SPEECH)
    style = STYLES[caption_style]
    setter = make_typesetter(words, style, language="en", **PORTRAIT)
    screens = group_into_screens(words, caption_style=caption_style, language="en", **PORTRAIT)
    assert [word for screen in screens for word in screen.words] == words
    for screen in screens:
        assert len(screen.words) <= style.max_words
        assert len(screen.lines) <= style.max_lines
        if len(screen.words) > 1:
            assert max(setter.line_width(line) for line in screen.lines) <= setter.max_width


def test_abbreviation_does_not_end_a_screen() -> None:
    screens = group_into_screens(
        evenly_spoken("Dr. Smith said so."), caption_style=CaptionStyle.SUBTLE, language="en", **PORTRAIT
    )
    assert line_texts(screens) == [["Dr. Smith said so."]]


@pytest.mark.parametrize("caption_style", [style for style in CaptionStyle if STYLES[style].max_words > 1])
@pytest.mark.parametrize(
    ("text", "unit", "language"),
    [
        ("It drips after two days or so.", "two days", "en"),
        ("We met there three years ago.", "three years", "en"),
        ("She came back every day, six months on.", "six months", "en"),
        ("It keeps for 29 days at home.", "29 days", "en"),
        ("The planner here is Ann Lee today.", "Ann Lee", "en"),
        ("Ela voltou depois de cinco anos fora.", "cinco anos", "pt"),
    ],
)
def test_numbers_and_names_are_not_split(caption_style: CaptionStyle, text: str, unit: str, language: str) -> None:
    screens = group_into_screens(evenly_spoken(text), caption_style=caption_style, language=language, **PORTRAIT)
    assert any(unit in line for lines in line_texts(screens) for line in lines)


def test_two_lines_are_balanced() -> None:
    (screen,) = group_into_screens(
        evenly_spoken("trying to finish the edit"), caption_style=CaptionStyle.DEFAULT, language="en", **PORTRAIT
    )
    assert line_texts((screen,)) == [["trying to", "finish the edit"]]


def test_wider_frame_has_longer_lines() -> None:
    words = evenly_spoken("trying to finish the edit")
    assert line_texts(
        group_into_screens(words, caption_style=CaptionStyle.DEFAULT, language="en", width=1920, height=1080)
    ) == [["trying to finish the edit"]]


def test_pause_or_speaker_change_ends_a_screen() -> None:
    words = [*evenly_spoken("yes we can"), *evenly_spoken("no we cannot", start_seconds=0.9 + PAUSE_SECONDS + 0.05)]
    assert len(group_into_screens(words, caption_style=CaptionStyle.SUBTLE, language="en", **PORTRAIT)) == 2
    words = evenly_spoken("yes we can no we cannot")
    screens = group_into_screens(
        words, caption_style=CaptionStyle.SUBTLE, language="en", speakers=list("aaabbb"), **PORTRAIT
    )
    assert line_texts(screens) == [["yes we can"], ["no we cannot"]]
    with pytest.raises(ValueError, match="speaker"):
        group_into_screens(words, caption_style=CaptionStyle.SUBTLE, language="en", speakers=["a"], **PORTRAIT)


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("人 生 が 変 わ り ま し た 。", "ja", ["人生が変わりました。"]),
        ("เค ล็ด ลับ", "th", ["เคล็ดลับ"]),
        ("สวัส ดี", "th", ["สวัสดี"]),
    ],
)
def test_unspaced_scripts_are_grouped_by_characters(text: str, language: str, expected: list[str]) -> None:
    screens = group_into_screens(evenly_spoken(text), caption_style=CaptionStyle.DEFAULT, language=language, **PORTRAIT)
    assert ["".join(word.text for word in screen.words) for screen in screens] == expected


def test_combining_mark_rejoins_its_base() -> None:
    (screen,) = group_into_screens(
        evenly_spoken("ก ้ า ว"), caption_style=CaptionStyle.DEFAULT, language="th", **PORTRAIT
    )
    assert [word.text for word in screen.words] == ["ก้า", "ว"]


def test_overlong_word_is_split_with_its_time() -> None:
    (word,) = evenly_spoken("a" * 70)
    screens = group_into_screens([word], caption_style=CaptionStyle.DEFAULT, language="en", **PORTRAIT)
    assert "".join(each.text for screen in screens for each in screen.words) == "a" * 70
    assert all(len(each.text) <= 32 for screen in screens for each in screen.words)
    assert screens[-1].words[-1].end_seconds == pytest.approx(word.end_seconds)


@pytest.mark.parametrize(
    ("gap", "end"),
    [(0.1, 1.1), (0.28, 1.28), (0.4, 1.15), (0.54, 1.29), (0.7, 1.3), (5.0, 1.3)],
)
def test_screen_lingers_without_flicker(gap: float, end: float) -> None:
    words = [Word("One.", 0.5, 1.0, 1.0), Word("Two.", 1.0 + gap, 1.5 + gap, 1.0)]
    first, _ = group_into_screens(words, caption_style=CaptionStyle.DEFAULT, language="en", **PORTRAIT)
    assert first.end_seconds == pytest.approx(end)


def test_empty_input() -> None:
    assert group_into_screens([], caption_style=CaptionStyle.DEFAULT, language="en", **PORTRAIT) == ()
    assert (
        group_into_screens(evenly_spoken("\u202e \x00"), caption_style=CaptionStyle.DEFAULT, language="en", **PORTRAIT)
        == ()
    )


arbitrary_words = st.lists(
    st.tuples(
        st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(["so", "no.", "人", "שלום", "ก้า", "{"]),
        st.floats(-0.2, 1.5),
        st.floats(-0.1, 1.0),
    ),
    max_size=25,
)


@settings(deadline=None, max_examples=60)
@given(arbitrary_words, st.sampled_from(CaptionStyle), st.sampled_from(["en", "ja", "ar"]))
def test_screens_never_overlap(
    drawn: list[tuple[str, float, float]], caption_style: CaptionStyle, language: str
) -> None:
    words, position = [], 0.0
    for text, gap, length in drawn:
        position = max(0.0, position + gap)
        words.append(Word(text, position, position + length, 1.0))
        position += length
    screens = group_into_screens(words, caption_style=caption_style, language=language, **PORTRAIT)
    for screen in screens:
        spoken_until = max(word.end_seconds for word in screen.words)
        assert screen.start_seconds < screen.end_seconds <= spoken_until + LINGER_SECONDS + 1e-6
    for one, two in pairwise(screens):
        gap = two.start_seconds - one.end_seconds
        assert abs(gap) < 1e-6 or gap > FLICKER_SECONDS - 1e-6
