"""Rendered text reaches the required contrast, measured on the pixels."""

from typing import TYPE_CHECKING

import numpy as np
import pytest

from cutroom.engines.thumbnails.compositor.color import (
    INK,
    WHITE,
    Color,
    contrast,
    luminance,
    parse_hex,
    readable_text_color,
    with_contrast,
)
from cutroom.engines.thumbnails.compositor.headline_layout import HeadlineLayout, lay_out_headline
from cutroom.engines.thumbnails.compositor.headline_rendering import (
    MIN_CONTRAST,
    TextBacking,
    TextStyle,
    TextZone,
    measure_contrast,
    render_headline,
)
from cutroom.engines.thumbnails.compositor.palette import Palette
from dev.fixtures.photographs import photograph

if TYPE_CHECKING:
    from cutroom.engines.thumbnails.compositor.color import Canvas

ZONE = TextZone(40, 40, 700, 500)


def layout() -> HeadlineLayout:
    made = lay_out_headline("Seven days of rain", language="en", width=ZONE.width, height=ZONE.height)
    assert made is not None
    return made


def noise() -> "Canvas":
    return np.random.default_rng(0).integers(0, 255, (720, 1280, 3)).astype(np.float32)


@pytest.mark.parametrize(
    ("one", "two", "expected"), [(WHITE, (0, 0, 0), 21.0), (WHITE, WHITE, 1.0), ((119, 119, 119), WHITE, 4.48)]
)
def test_contrast_matches_wcag(one: Color, two: Color, expected: float) -> None:
    assert contrast(one, two) == pytest.approx(expected, abs=0.01)
    assert contrast(two, one) == contrast(one, two)


def test_text_is_readable_on_every_color() -> None:
    for red in range(0, 256, 17):
        for green in range(0, 256, 17):
            for blue in range(0, 256, 51):
                background = red, green, blue
                assert contrast(readable_text_color(background), background) >= MIN_CONTRAST
                assert contrast(with_contrast(background, against=background, ratio=4.5), background) >= 4.5


@pytest.mark.parametrize("accent", [(255, 214, 10), (10, 10, 10), (90, 0, 120), (128, 128, 128)])
@pytest.mark.parametrize("backing", [TextBacking.STROKE, TextBacking.LABEL])
def test_text_is_readable_on_any_image(backing: TextBacking, accent: Color) -> None:
    rocket = np.repeat(np.repeat(photograph("rocket.jpg"), 2, axis=0), 2, axis=1)[:720, :1280].astype(np.float32)
    for canvas in (noise(), rocket, np.full((720, 1280, 3), 250, np.float32)):
        background_color = INK if backing is TextBacking.STROKE else accent
        rendered = render_headline(
            canvas, layout(), ZONE, TextStyle(backing, readable_text_color(background_color), accent, background_color)
        )
        assert rendered.contrast >= MIN_CONTRAST
        assert measure_contrast(canvas, rendered.mask) >= MIN_CONTRAST


def test_unreadable_text_measures_low_contrast() -> None:
    canvas = np.full((720, 1280, 3), 200, np.float32)
    rendered = render_headline(canvas, layout(), ZONE, TextStyle(TextBacking.PANEL, WHITE, WHITE, (0, 0, 0)))
    assert measure_contrast(np.full((720, 1280, 3), 90, np.float32), rendered.mask) == pytest.approx(1.0)
    busy = noise()
    busy[rendered.mask > 127] = 255
    assert measure_contrast(busy, rendered.mask) < 3


@pytest.mark.parametrize(("align_x", "align_y"), [(0.0, 0.0), (0.5, 0.5), (1.0, 1.0)])
def test_text_is_aligned_in_its_zone(align_x: float, align_y: float) -> None:
    zone = TextZone(100, 100, 800, 500, align_x, align_y)
    rendered = render_headline(
        np.zeros((720, 1280, 3), np.float32), layout(), zone, Palette((200, 0, 0), WHITE).on_panel()
    )
    rows, columns = np.nonzero(rendered.mask > 127)
    assert 95 <= columns.min() < columns.max() <= 905
    assert 95 <= rows.min() < rows.max() <= 605
    assert rendered.box.x == pytest.approx(100 + (800 - rendered.box.width) * align_x, abs=4)
    assert rendered.box.y == pytest.approx(100 + (500 - rendered.box.height) * align_y, abs=8)


def test_right_to_left_text_is_right_aligned() -> None:
    made = lay_out_headline("يوم في الفضاء الخارجي", language="ar", width=500, height=500)
    assert made is not None
    assert made.right_to_left
    rendered = render_headline(np.zeros((720, 1280, 3), np.float32), made, ZONE, Palette((200, 0, 0), WHITE).on_panel())
    assert rendered.box.x + rendered.box.width == pytest.approx(ZONE.x + ZONE.width, abs=2)


def test_hex_codes_are_parsed() -> None:
    assert parse_hex("#FF8000") == parse_hex("ff8000") == (255, 128, 0)
    assert parse_hex(" #f80 ") == (255, 136, 0)
    assert [parse_hex(each) for each in ("", "red", "#12", "#1234567")] == [None] * 4
    assert luminance((255, 255, 255)) == pytest.approx(1.0)
