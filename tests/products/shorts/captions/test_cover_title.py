"""Tests for titles on covers."""

import re

import pytest

from cutroom.engines.recognition.port import Word
from cutroom.products.shorts.captions.cover_title import MAX_LINES, break_lines, write_cover_title
from cutroom.products.shorts.captions.layout import make_typesetter
from cutroom.products.shorts.captions.safe_zones import PORTRAIT_COVER, FrameRegion, covered_area
from cutroom.products.shorts.captions.styles import STYLES, CaptionStyle

WIDTH, HEIGHT = 1080, 1920


def lines_of(title: str, *, count: int, max_width: float = float("inf"), language: str = "en") -> list[str] | None:
    words = [Word(each, 0.0, 1.0, 1.0) for each in title.split()]
    setter = make_typesetter(words, STYLES[CaptionStyle.SUBTLE], width=WIDTH, height=HEIGHT, language=language)
    lines = break_lines(words, setter, count=count, max_width=max_width)
    return None if lines is None else [" ".join(word.text for word in line) for line in lines]


def test_lines_are_balanced_and_broken_between_phrases() -> None:
    assert lines_of("A slow drip can waste 5 gallons a day", count=2) == ["A slow drip can waste", "5 gallons a day"]
    assert lines_of("Let's hit the road!", count=1) == ["Let's hit the road!"]


def test_lines_that_do_not_fit() -> None:
    assert lines_of("A slow drip can waste 5 gallons a day", count=2, max_width=300) is None
    assert lines_of("Hello", count=2) is None


@pytest.mark.parametrize(
    ("title", "language"),
    [
        ("Go", "en"),
        ("Lucia, what did your place lose when the Marigold went dark?", "en"),
        ("Donaudampfschifffahrtsgesellschaftskapitaen " * 2, "de"),
        (
            "\u6c34\u6f0f\u308c\u3092\u76f4\u3059\u65b9\u6cd5\u3092\u7c21\u5358\u306b\u8aac\u660e\u3057\u307e\u3059"
            * 3,
            "ja",
        ),
        ("word " * 60, "en"),
        ("{\\pos(0,0)}\\N tags", "en"),
    ],
)
def test_title_lies_in_the_safe_zone(title: str, language: str) -> None:
    track = write_cover_title(title, width=WIDTH, height=HEIGHT, language=language, seconds=1.0)
    [(_, box)] = track.boxes
    assert box.is_inside(PORTRAIT_COVER.safe, tolerance=0.01)
    drawn = {round(float(y)) for y in re.findall(r"\\pos\([\d.]+,([\d.]+)\)", track.ass)}
    assert 1 <= len(drawn) <= 2 * MAX_LINES  # of letters and their shadows


def test_short_titles_are_larger() -> None:
    def size(title: str) -> float:
        track = write_cover_title(title, width=WIDTH, height=HEIGHT, language="en", seconds=1.0)
        return max(float(each) for each in re.findall(r"\\fs([\d.]+)", track.ass))

    assert size("Go home") > size("Nora Pembrey has been mending shoes here since 1998 and never stopped")


def test_title_is_smaller_where_a_large_one_would_cover_a_face() -> None:
    title = "I know what some of you are thinking"
    face = FrameRegion(0.2, 0.2, 0.8, 0.68)
    below = write_cover_title(title, width=WIDTH, height=HEIGHT, language="en", seconds=1.0, faces=[face])
    alone = write_cover_title(title, width=WIDTH, height=HEIGHT, language="en", seconds=1.0)
    [(_, box)], [(_, larger)] = below.boxes, alone.boxes
    assert covered_area(box, [face]) == 0
    assert box.height < larger.height


def test_empty_title_shows_nothing() -> None:
    track = write_cover_title("  ", width=WIDTH, height=HEIGHT, language="en", seconds=1.0)
    assert track.boxes == ()
    assert "Dialogue:" not in track.ass
