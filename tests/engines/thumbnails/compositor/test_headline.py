"""Headlines are as large as they can be, in even lines, and lose words only where they must."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutroom.engines.thumbnails.compositor.headline import MIN_LETTER, lay_out, shorter
from cutroom.engines.thumbnails.compositor.phrases import chunks_of


def lines(text: str, *, width: float = 600, height: float = 600, language: str = "en") -> list[str]:
    setting = lay_out(text, language=language, width=width, height=height)
    assert setting is not None
    return [line.text for line in setting.lines]


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


def test_a_line_does_not_end_with_a_word_that_leans_on_the_next() -> None:
    assert lines("Temple or flower") == ["TEMPLE", "OR FLOWER"]


def test_wide_rooms_have_few_lines_and_narrow_ones_many() -> None:
    assert len(lines("My best year in space", width=1200, height=160)) == 1
    assert len(lines("My best year in space", width=420, height=620)) >= 3


def test_what_fits_is_whole_and_what_does_not_is_cut_at_a_word() -> None:
    said = "How I built a house in thirty days with no money at all (and why you should try it too)"
    setting = lay_out(said, language="en", width=520, height=520)
    assert setting is not None
    assert not setting.is_whole
    assert "(" not in setting.text
    words = setting.text.rstrip("\u2026").split()
    assert words == said.upper().split()[: len(words)]
    whole = lay_out("A house in thirty days", language="en", width=520, height=520)
    assert whole is not None
    assert whole.is_whole


def test_less_is_said_step_by_step() -> None:
    versions = list(shorter("The truth (really) about coffee: what nobody tells you", language="en"))
    assert versions[0] == "THE TRUTH (REALLY) ABOUT COFFEE: WHAT NOBODY TELLS YOU"
    assert versions[1] == "THE TRUTH ABOUT COFFEE: WHAT NOBODY TELLS YOU"
    assert versions[2] == "THE TRUTH ABOUT COFFEE"
    assert versions[3] == "THE TRUTH\u2026"
    assert [len(each) for each in versions] == sorted((len(each) for each in versions), reverse=True)


@pytest.mark.parametrize("text", ["", "  ", "🚀🚀", "!?", "\u200b"])
def test_nothing_to_read_is_nothing_to_write(text: str) -> None:
    assert lay_out(text, language="en", width=600, height=600) is None


def test_letters_are_never_too_small_unless_asked() -> None:
    endless = "Donaudampfschifffahrtsgesellschaft"
    assert lay_out(endless, language="de", width=500, height=500) is None
    small = lay_out(endless, language="de", width=500, height=500, least=0)
    assert small is not None
    assert 0 < small.letter < MIN_LETTER


@settings(max_examples=40)
@given(
    text=st.text(st.sampled_from("ABC xyzéß .,!?()0123日本語ひらカタ中文،يوم ไทย"), min_size=1, max_size=60),
    width=st.integers(300, 1200),
    height=st.integers(90, 640),
)
def test_a_setting_lies_in_its_room(text: str, width: int, height: int) -> None:
    setting = lay_out(text, language="ja", width=width, height=height)
    if setting is not None:
        assert setting.width <= width + 1
        assert setting.height <= height + 1
        assert setting.letter >= MIN_LETTER


@settings(max_examples=40)
@given(text=st.text(min_size=1, max_size=80))
def test_chunks_are_the_text(text: str) -> None:
    assert "".join(chunks_of(text)).split() == text.split()
