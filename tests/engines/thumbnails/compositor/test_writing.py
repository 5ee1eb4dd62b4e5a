"""Letters stand off from their ground, and that is measured, not believed."""

from typing import TYPE_CHECKING

import numpy as np
import pytest

from cutroom.engines.thumbnails.compositor.colour import (
    INK,
    WHITE,
    Colour,
    contrast,
    letters_on,
    lifted,
    luminance,
    parse_hex,
)
from cutroom.engines.thumbnails.compositor.headline import Setting, lay_out
from cutroom.engines.thumbnails.compositor.palette import Palette
from cutroom.engines.thumbnails.compositor.writing import MIN_CONTRAST, Ground, Hand, Zone, measure_contrast, write
from dev.fixtures.photographs import photograph

if TYPE_CHECKING:
    from cutroom.engines.thumbnails.compositor.colour import Canvas

ZONE = Zone(40, 40, 700, 500)


def setting() -> Setting:
    made = lay_out("Seven days of rain", language="en", width=ZONE.width, height=ZONE.height)
    assert made is not None
    return made


def noise() -> "Canvas":
    return np.random.default_rng(0).integers(0, 255, (720, 1280, 3)).astype(np.float32)


@pytest.mark.parametrize(
    ("one", "two", "expected"), [(WHITE, (0, 0, 0), 21.0), (WHITE, WHITE, 1.0), ((119, 119, 119), WHITE, 4.48)]
)
def test_contrast_is_that_of_wcag(one: Colour, two: Colour, expected: float) -> None:
    assert contrast(one, two) == pytest.approx(expected, abs=0.01)
    assert contrast(two, one) == contrast(one, two)


def test_letters_can_be_read_on_every_colour() -> None:
    for red in range(0, 256, 17):
        for green in range(0, 256, 17):
            for blue in range(0, 256, 51):
                ground = red, green, blue
                assert contrast(letters_on(ground), ground) >= MIN_CONTRAST
                assert contrast(lifted(ground, against=ground, ratio=4.5), ground) >= 4.5


@pytest.mark.parametrize("accent", [(255, 214, 10), (10, 10, 10), (90, 0, 120), (128, 128, 128)])
@pytest.mark.parametrize("ground", [Ground.STROKE, Ground.LABEL])
def test_letters_stand_off_whatever_is_behind(ground: Ground, accent: Colour) -> None:
    rocket = np.repeat(np.repeat(photograph("rocket.jpg"), 2, axis=0), 2, axis=1)[:720, :1280].astype(np.float32)
    for canvas in (noise(), rocket, np.full((720, 1280, 3), 250, np.float32)):
        behind = INK if ground is Ground.STROKE else accent
        written = write(canvas, setting(), ZONE, Hand(ground, letters_on(behind), accent, behind))
        assert written.contrast >= MIN_CONTRAST
        assert measure_contrast(canvas, written.letters) >= MIN_CONTRAST


def test_what_cannot_be_read_is_measured_so() -> None:
    canvas = np.full((720, 1280, 3), 200, np.float32)
    written = write(canvas, setting(), ZONE, Hand(Ground.PANEL, WHITE, WHITE, (0, 0, 0)))
    assert measure_contrast(np.full((720, 1280, 3), 90, np.float32), written.letters) == pytest.approx(1.0)
    busy = noise()
    busy[written.letters > 127] = 255
    assert measure_contrast(busy, written.letters) < 3


@pytest.mark.parametrize(("across", "down"), [(0.0, 0.0), (0.5, 0.5), (1.0, 1.0)])
def test_letters_stand_where_the_zone_says(across: float, down: float) -> None:
    zone = Zone(100, 100, 800, 500, across, down)
    written = write(np.zeros((720, 1280, 3), np.float32), setting(), zone, Palette((200, 0, 0), WHITE).on_panel())
    rows, columns = np.nonzero(written.letters > 127)
    assert 95 <= columns.min() < columns.max() <= 905
    assert 95 <= rows.min() < rows.max() <= 605
    assert written.box.x == pytest.approx(100 + (800 - written.box.width) * across, abs=4)
    assert written.box.y == pytest.approx(100 + (500 - written.box.height) * down, abs=8)


def test_lines_from_the_right_begin_at_the_right() -> None:
    made = lay_out("يوم في الفضاء الخارجي", language="ar", width=500, height=500)
    assert made is not None
    assert made.right_to_left
    written = write(np.zeros((720, 1280, 3), np.float32), made, ZONE, Palette((200, 0, 0), WHITE).on_panel())
    assert written.box.x + written.box.width == pytest.approx(ZONE.x + ZONE.width, abs=2)


def test_hex_codes_are_read() -> None:
    assert parse_hex("#FF8000") == parse_hex("ff8000") == (255, 128, 0)
    assert parse_hex(" #f80 ") == (255, 136, 0)
    assert [parse_hex(each) for each in ("", "red", "#12", "#1234567")] == [None] * 4
    assert luminance((255, 255, 255)) == pytest.approx(1.0)
