"""Text is shaped correctly in every script, and its ink matches its metrics."""

from typing import TYPE_CHECKING

import numpy as np
import pytest

from cutroom.engines.thumbnails.compositor.typesetting import (
    is_right_to_left,
    rasterize_line,
    renderable_text,
    shape_line,
)
from cutroom.media.fonts import Typeface

if TYPE_CHECKING:
    from cutroom.engines.vision.port import Mask


def drawn(text: str, language: str = "en") -> "Mask":
    return rasterize_line(shape_line(text, Typeface.BLACK, language=language), size=100)[0]


def runs(text: str, language: str) -> list[str]:
    """From left to right."""
    return [run.text for run in sorted(shape_line(text, Typeface.BLACK, language=language).runs, key=lambda run: run.x)]


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("one two", "en", ["one", "two"]),
        ("٢٠٠ يوم في", "ar", ["في", "يوم", "٢٠٠"]),
        ("جرّبت iPhone 15 اليوم", "ar", ["اليوم", "iPhone", "15", "جرّبت"]),
        ("שלום 2024 World Cup", "he", ["World", "Cup", "2024", "שלום"]),
        ("say שלום עולם now", "en", ["say", "עולם", "שלום", "now"]),
    ],
)
def test_words_are_in_visual_order(text: str, language: str, expected: list[str]) -> None:
    assert runs(text, language) == expected


def test_each_word_uses_a_font_with_its_glyphs() -> None:
    line = shape_line("الفضاء! iPhone", Typeface.BLACK, language="ar")
    assert len({run.font.family for run in line.runs}) == 2
    assert all(run.text for run in line.runs)


def test_glyph_counters_are_empty_and_overlaps_filled() -> None:
    """The counter of an O is empty; overlapping contours of one glyph are filled."""
    ring = drawn("O")
    rows, columns = ring.shape
    assert ring[rows // 2, columns // 2] == 0
    solid = drawn("■") if renderable_text("■", Typeface.BLACK, language="en") else drawn("I")
    inked = solid[:, (solid > 0).any(axis=0)]
    assert (inked[inked.shape[0] // 2] > 200).any()


def test_arabic_letters_are_joined() -> None:
    joined = shape_line("سيمس", Typeface.BLACK, language="ar").width
    apart = sum(shape_line(letter, Typeface.BLACK, language="ar").width for letter in "سيمس")
    assert joined < 0.9 * apart


@pytest.mark.parametrize("text", ["HAMBURG", "宇宙で200日", "कैसे", "ทำอาหาร", "يوم"])
def test_ink_lies_between_top_and_bottom(text: str) -> None:
    line = shape_line(text, Typeface.BLACK, language="ja")
    mask, pad, baseline = rasterize_line(line, size=100)
    rows = np.flatnonzero((mask > 40).any(axis=1))
    assert rows[0] == pytest.approx(baseline - 100 * line.top, abs=3)
    assert rows[-1] <= baseline + 100 * line.bottom + 3
    columns = np.flatnonzero((mask > 40).any(axis=0))
    assert columns[0] >= pad - 16
    assert columns[-1] <= pad + 100 * line.width + 16


def test_ink_scales_with_size() -> None:
    line = shape_line("SIZE", Typeface.TALL, language="en")
    one, two = (float((rasterize_line(line, size=size)[0] > 127).sum()) for size in (80, 160))
    assert two == pytest.approx(4 * one, rel=0.05)


def test_characters_without_glyphs_are_dropped() -> None:
    assert renderable_text("Go 🚀 \x00now\u202e", Typeface.BLACK, language="en") == "Go now"


@pytest.mark.parametrize(("text", "expected"), [("abc", False), ("12 שלום", True), ("يوم abc", True), ("123", False)])
def test_first_strong_character_sets_the_direction(text: str, *, expected: bool) -> None:
    assert is_right_to_left(text) is expected
