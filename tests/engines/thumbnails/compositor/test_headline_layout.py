"""Headlines are set as large as possible, in even lines, and shortened only when necessary."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutroom.engines.thumbnails.compositor.headline_layout import (
    MIN_LETTER_HEIGHT,
    lay_out_headline,
    shortened_variants,
)
from cutroom.engines.thumbnails.compositor.line_breaking import breakable_chunks


def lines(text: str, *, width: float = 600, height: float = 600, language: str = "en") -> list[str]:
    layout = lay_out_headline(text, language=language, width=width, height=height)
    assert layout is not None
    return [line.text for line in layout.lines]


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Better coffee", "en", ["BETTER", "COFFEE"]),
        ("größer als gedacht", "de", ["GRÖSSER", "ALS", "GEDACHT"]),
        ("İki gün istanbul'da", "tr", ["İKİ GÜN", "İSTANBUL'DA"]),
        ("Где жить", "ru", ["ГДЕ", "ЖИТЬ"]),
        ("宇宙で200日間過ごした結果", "ja", ["宇宙で", "200日間", "過ごした", "結果"]),
        ("٢٠٠ يوم في الفضاء", "ar", ["٢٠٠ يوم", "في الفضاء"]),
        ("Rocket 🚀 day", "en", ["ROCKET", "DAY"]),
    ],
)
def test_lines_follow_the_script(text: str, language: str, expected: list[str]) -> None:
    assert lines(text, language=language) == expected


def test_line_does_not_end_with_a_conjunction() -> None:
    assert lines("Temple or flower") == ["TEMPLE", "OR FLOWER"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("9 lives", ["9 LIVES"]),
        ("What 3 admirals told me", ["WHAT", "3 ADMIRALS", "TOLD ME"]),
        ("I lost $5,000 in 2 days", ["I LOST $5,000", "IN 2 DAYS"]),
        ("In 1969 the moon changed", ["IN 1969", "THE MOON", "CHANGED"]),
        ("Chapter 3: the end", ["CHAPTER 3:", "THE END"]),
        ("Save 50% on coffee", ["SAVE 50%", "ON COFFEE"]),
        ("5", ["5"]),
    ],
)
def test_number_stays_with_its_word(text: str, expected: list[str]) -> None:
    assert lines(text) == expected


@pytest.mark.parametrize("width", [420, 480, 620, 900])
def test_no_line_is_an_article_and_the_last_line_is_no_orphan(width: int) -> None:
    for text in ("The first bug of 1947", "The road to it", "Everything about the garden hose is ice"):
        found = lines(text, width=width)
        assert "THE" not in found
        assert len(found) == 1 or found[-1] not in {"IT", "ICE"}


def test_shortening_keeps_a_number_with_its_word() -> None:
    variants = list(shortened_variants("Everything about 12 weeks at sea", language="en"))
    assert not [each for each in variants if each.rstrip("\u2026").endswith("12")]


def test_wide_zone_has_few_lines_and_narrow_zone_many() -> None:
    assert len(lines("My best year in space", width=1200, height=160)) == 1
    assert len(lines("My best year in space", width=420, height=620)) >= 3


def test_headline_that_does_not_fit_is_shortened_at_a_word() -> None:
    headline = "How I built a house in thirty days with no money at all (and why you should try it too)"
    layout = lay_out_headline(headline, language="en", width=520, height=520)
    assert layout is not None
    assert not layout.is_complete
    assert "(" not in layout.text
    words = layout.text.rstrip("\u2026").split()
    assert words == headline.upper().split()[: len(words)]
    whole = lay_out_headline("A house in thirty days", language="en", width=520, height=520)
    assert whole is not None
    assert whole.is_complete


def test_variants_get_shorter() -> None:
    variants = list(shortened_variants("The truth (really) about coffee: what nobody tells you", language="en"))
    assert variants[0] == "THE TRUTH (REALLY) ABOUT COFFEE: WHAT NOBODY TELLS YOU"
    assert variants[1] == "THE TRUTH ABOUT COFFEE: WHAT NOBODY TELLS YOU"
    assert variants[2] == "THE TRUTH ABOUT COFFEE"
    assert variants[3] == "THE TRUTH\u2026"
    assert [len(each) for each in variants] == sorted((len(each) for each in variants), reverse=True)


@pytest.mark.parametrize("text", ["", "  ", "🚀🚀", "!?", "\u200b"])
def test_text_without_letters_has_no_layout(text: str) -> None:
    assert lay_out_headline(text, language="en", width=600, height=600) is None


def test_minimum_letter_height_is_kept() -> None:
    endless = "Donaudampfschifffahrtsgesellschaft"
    assert lay_out_headline(endless, language="de", width=500, height=500) is None
    small = lay_out_headline(endless, language="de", width=500, height=500, min_letter_height=0)
    assert small is not None
    assert 0 < small.letter_height < MIN_LETTER_HEIGHT


@settings(max_examples=40)
@given(
    text=st.text(st.sampled_from("ABC xyzéß .,!?()0123日本語ひらカタ中文،يوم ไทย"), min_size=1, max_size=60),
    width=st.integers(300, 1200),
    height=st.integers(90, 640),
)
def test_layout_fits_its_zone(text: str, width: int, height: int) -> None:
    layout = lay_out_headline(text, language="ja", width=width, height=height)
    if layout is not None:
        assert layout.width <= width + 1
        assert layout.height <= height + 1
        assert layout.letter_height >= MIN_LETTER_HEIGHT


@settings(max_examples=40)
@given(text=st.text(min_size=1, max_size=80))
def test_chunks_preserve_the_text(text: str) -> None:
    assert "".join(breakable_chunks(text)).split() == text.split()
