"""Shapes text with HarfBuzz and rasterizes it, with font fallback and bidirectional runs."""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

import cv2
import numpy as np
import uharfbuzz as hb

from cutroom.media.fonts import Font, Typeface, harfbuzz_font, has_glyphs, measure, select_font

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutroom.engines.vision.port import Mask

    Outline = NDArray[np.float64]  # points of one closed contour, in font units, y up

SUPERSAMPLING = 4  # antialiasing: text is drawn at this scale and reduced
CURVE_STEPS = 12
GLYPH_CACHE = 2048


@dataclass(frozen=True, slots=True)
class GlyphRun:
    """Text of one font and direction, starting `x` ems from the left of the line."""

    text: str
    font: Font
    right_to_left: bool
    x: float


@dataclass(frozen=True, slots=True)
class TextLine:
    """A shaped line in visual order, in ems: its width and its extent above and below the baseline."""

    text: str
    runs: tuple[GlyphRun, ...]
    width: float
    top: float
    bottom: float


@dataclass(frozen=True, slots=True)
class _Word:
    """Text of one font, with the index of its word and of its bidirectional run."""

    text: str
    font: Font
    right_to_left: bool
    number: int
    run: int


def renderable_text(text: str, typeface: Typeface, *, language: str) -> str:
    """The text without characters that no font covers, such as emoji, and with whitespace collapsed."""
    kept = "".join(each for each in text if each.isspace() or _is_renderable(each, typeface, language))
    return " ".join(kept.split())


@lru_cache(maxsize=GLYPH_CACHE)
def _is_renderable(character: str, typeface: Typeface, language: str) -> bool:
    category = unicodedata.category(character)
    if category[0] == "C":  # of the control characters, only the zero-width joiners affect shaping
        return character in "\u200c\u200d"
    return category != "So" and has_glyphs(select_font(character, typeface, language=language), character)


def is_right_to_left(text: str) -> bool:
    """Base direction, by the first strongly directional character."""
    strong = (unicodedata.bidirectional(each) for each in text)
    return next((direction in {"R", "AL"} for direction in strong if direction in {"L", "R", "AL"}), False)


@lru_cache(maxsize=1024)
def shape_line(text: str, typeface: Typeface, *, language: str) -> TextLine:
    right_to_left = is_right_to_left(text)
    words = _visual_order(
        list(_words(text, typeface, language, right_to_left=right_to_left)), right_to_left=right_to_left
    )
    runs, at, top, bottom = [], 0.0, 0.0, 0.0
    space = measure(" ", words[0].font).advance if words else 0.0
    for before, word in pairwise([None, *words]):
        assert word is not None
        if before is not None and before.number != word.number:
            at += space
        ink = measure(word.text, word.font)
        runs.append(GlyphRun(word.text, word.font, word.right_to_left, at))
        at, top, bottom = at + ink.advance, max(top, ink.top), max(bottom, ink.bottom)
    return TextLine(text, tuple(runs), at, top, bottom)


def _words(text: str, typeface: Typeface, language: str, *, right_to_left: bool) -> Iterator[_Word]:
    """In logical order. Words are split where the main font lacks a glyph."""
    main = select_font(text, typeface, language=language)
    run, is_rtl, latin = 0, right_to_left, False
    for number, word in enumerate(text.split()):
        directions = {unicodedata.bidirectional(each) for each in word}
        continues = latin and not directions & {
            "R",
            "AL",
        }  # digits and symbols after Latin letters keep their direction
        turns_rtl = bool(directions & {"R", "AL"}) or (right_to_left and not directions & {"L", "EN", "AN"})
        turns_rtl = False if continues else turns_rtl
        # Digits between right-to-left words form a run of their own.
        if not continues and (turns_rtl != is_rtl or not directions & {"L", "R", "AL"}):
            run += 1
        is_rtl, latin = turns_rtl, continues or bool(directions & {"L"})
        for _, group in groupby(word, key=lambda each: has_glyphs(main, each)):
            letters = "".join(group)
            font = main if has_glyphs(main, letters) else select_font(letters, typeface, language=language)
            yield _Word(letters, font, is_rtl, number, run)
        if not directions & {"L", "R", "AL"} and not continues:
            run += 1


def _visual_order(words: list[_Word], *, right_to_left: bool) -> list[_Word]:
    """Left to right, with right-to-left runs reversed."""
    runs = [list(group) for _, group in groupby(words, key=lambda each: each.run)]
    ordered = [each[::-1] if each[0].right_to_left else each for each in runs]
    if right_to_left:
        ordered.reverse()
    return [word for run in ordered for word in run]


def rasterize_line(line: TextLine, *, size: float) -> tuple["Mask", int, int]:
    """Mask of the line at this many pixels per em, with the x of its left end and the y of its baseline."""
    pad = 2 + round(0.15 * size)
    height, width = round((line.top + line.bottom) * size) + 2 * pad, round(line.width * size) + 2 * pad
    large = np.zeros((height * SUPERSAMPLING, width * SUPERSAMPLING), np.uint8)
    baseline = pad + round(line.top * size)
    for run in line.runs:
        _draw_run(
            large, run, size=size * SUPERSAMPLING, x=(pad + run.x * size) * SUPERSAMPLING, y=baseline * SUPERSAMPLING
        )
    return cv2.resize(large, (width, height), interpolation=cv2.INTER_AREA).astype(np.uint8), pad, baseline


def _draw_run(into: "Mask", run: GlyphRun, *, size: float, x: float, y: float) -> None:
    shaper = harfbuzz_font(run.font)
    buffer = hb.Buffer()
    buffer.add_str(run.text)
    buffer.guess_segment_properties()
    buffer.direction = "rtl" if run.right_to_left else "ltr"
    hb.shape(shaper, buffer, {"kern": True, "liga": True})
    unit = size * run.font.scale / shaper.face.upem
    for info, position in zip(buffer.glyph_infos, buffer.glyph_positions, strict=True):
        left, base = x + position.x_offset * unit, y - position.y_offset * unit
        _fill(into, _outlines(run.font, info.codepoint), unit=unit, left=left, base=base)
        x += position.x_advance * unit


def _fill(into: "Mask", outlines: "tuple[Outline, ...]", *, unit: float, left: float, base: float) -> None:
    """Nonzero winding fill, because contours of a glyph may overlap."""
    if not outlines:
        return
    lines = [np.rint(each * (unit, -unit) + (left, base)).astype(np.int32) for each in outlines]
    low = np.maximum(np.min([each.min(axis=0) for each in lines], axis=0), 0)
    high = np.minimum(np.max([each.max(axis=0) for each in lines], axis=0) + 1, into.shape[::-1])
    if (high <= low).any():
        return
    winding = np.zeros((high[1] - low[1], high[0] - low[0]), np.int16)
    for each in lines:
        one = np.zeros(winding.shape, np.uint8)
        cv2.fillPoly(one, [each - low], 1)
        winding += one.astype(np.int16) * (1 if cv2.contourArea(each, oriented=True) > 0 else -1)
    part = into[low[1] : high[1], low[0] : high[0]]
    part[winding != 0] = 255


class _Pen:
    """Collects contours from HarfBuzz, with curves flattened."""

    def __init__(self) -> None:
        self.outlines: list[list[tuple[float, float]]] = []

    def moveTo(self, to: tuple[float, float]) -> None:  # noqa: N802 - HarfBuzz calls it so
        self.outlines.append([to])

    def lineTo(self, to: tuple[float, float]) -> None:  # noqa: N802 - as above
        self.outlines[-1].append(to)

    def qCurveTo(self, *points: tuple[float, float]) -> None:  # noqa: N802 - as above
        self._curve(points)

    def curveTo(self, *points: tuple[float, float]) -> None:  # noqa: N802 - as above
        self._curve(points)

    def closePath(self) -> None:  # noqa: N802 - as above
        """Contours are filled, which closes them."""

    def _curve(self, points: tuple[tuple[float, float], ...]) -> None:
        """De Casteljau's algorithm."""
        start = self.outlines[-1][-1]
        for step in range(1, CURVE_STEPS + 1):
            share = step / CURVE_STEPS
            left = np.array([start, *points])
            while len(left) > 1:
                left = left[:-1] * (1 - share) + left[1:] * share
            self.outlines[-1].append((float(left[0][0]), float(left[0][1])))


@lru_cache(maxsize=GLYPH_CACHE)
def _outlines(font: Font, glyph: int) -> "tuple[Outline, ...]":
    pen = _Pen()
    harfbuzz_font(font).draw_glyph_with_pen(glyph, pen)
    return tuple(np.array(each, np.float64) for each in pen.outlines if len(each) > 2)
