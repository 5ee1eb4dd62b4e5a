"""Sets and draws lines of letters in any script, as HarfBuzz shapes them: one line may need several fonts."""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

import cv2
import numpy as np
import uharfbuzz as hb

from cutroom.media.fonts import Font, Typeface, font_for, has_letters, measure, shaper_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutroom.engines.vision.port import Mask

    Outline = NDArray[np.float64]  # points of one closed line, in the font's units, upwards

FINER = 4  # times: letters are drawn this much larger, then made smaller, which smooths them
CURVE_STEPS = 12
GLYPHS_KEPT = 2048


@dataclass(frozen=True, slots=True)
class Run:
    """Letters of one font and direction, `x` ems from the left of the line."""

    text: str
    font: Font
    right_to_left: bool
    x: float


@dataclass(frozen=True, slots=True)
class Line:
    """A line as it is read, in ems: how wide it is, and what it covers above and below its baseline."""

    text: str
    runs: tuple[Run, ...]
    width: float
    top: float
    bottom: float


@dataclass(frozen=True, slots=True)
class _Word:
    """Letters of one font, of which word of the line, and in which stretch of one direction."""

    text: str
    font: Font
    right_to_left: bool
    number: int
    stretch: int


def showable(text: str, typeface: Typeface, *, language: str) -> str:
    """The text without letters that no font has, such as emoji, and with single blanks."""
    shown = "".join(each for each in text if each.isspace() or _is_shown(each, typeface, language))
    return " ".join(shown.split())


@lru_cache(maxsize=GLYPHS_KEPT)
def _is_shown(character: str, typeface: Typeface, language: str) -> bool:
    category = unicodedata.category(character)
    if category[0] == "C":  # joiners matter in some scripts; everything else of the kind is only trouble
        return character in "\u200c\u200d"
    return category != "So" and has_letters(font_for(character, typeface, language=language), character)


def is_right_to_left(text: str) -> bool:
    """By the first letter that has a direction."""
    strong = (unicodedata.bidirectional(each) for each in text)
    return next((way in {"R", "AL"} for way in strong if way in {"L", "R", "AL"}), False)


@lru_cache(maxsize=1024)
def set_line(text: str, typeface: Typeface, *, language: str) -> Line:
    backwards = is_right_to_left(text)
    words = _in_sight(list(_words(text, typeface, language, backwards=backwards)), backwards=backwards)
    runs, at, top, bottom = [], 0.0, 0.0, 0.0
    blank = measure(" ", words[0].font).advance if words else 0.0
    for before, word in pairwise([None, *words]):
        assert word is not None
        if before is not None and before.number != word.number:
            at += blank
        ink = measure(word.text, word.font)
        runs.append(Run(word.text, word.font, word.right_to_left, at))
        at, top, bottom = at + ink.advance, max(top, ink.top), max(bottom, ink.bottom)
    return Line(text, tuple(runs), at, top, bottom)


def _words(text: str, typeface: Typeface, language: str, *, backwards: bool) -> Iterator[_Word]:
    """In the order of reading. A word is parted where its font lacks a letter."""
    main = font_for(text, typeface, language=language)
    stretch, to_left, latin = 0, backwards, False
    for number, word in enumerate(text.split()):
        ways = {unicodedata.bidirectional(each) for each in word}
        goes_on = latin and not ways & {"R", "AL"}  # figures and signs behind Latin letters belong to them
        turned = bool(ways & {"R", "AL"}) or (backwards and not ways & {"L", "EN", "AN"})
        turned = False if goes_on else turned
        # Figures between words of the other direction are a stretch of their own.
        if not goes_on and (turned != to_left or not ways & {"L", "R", "AL"}):
            stretch += 1
        to_left, latin = turned, goes_on or bool(ways & {"L"})
        for _, group in groupby(word, key=lambda each: has_letters(main, each)):
            letters = "".join(group)
            font = main if has_letters(main, letters) else font_for(letters, typeface, language=language)
            yield _Word(letters, font, to_left, number, stretch)
        if not ways & {"L", "R", "AL"} and not goes_on:
            stretch += 1


def _in_sight(words: list[_Word], *, backwards: bool) -> list[_Word]:
    """From left to right: stretches of the other direction are turned round inside."""
    stretches = [list(group) for _, group in groupby(words, key=lambda each: each.stretch)]
    turned = [each[::-1] if each[0].right_to_left else each for each in stretches]
    if backwards:
        turned.reverse()
    return [word for stretch in turned for word in stretch]


def draw_line(line: Line, *, size: float) -> tuple["Mask", int, int]:
    """The letters at so many pixels an em, and where the line's left end and baseline are in them."""
    pad = 2 + round(0.15 * size)
    height, width = round((line.top + line.bottom) * size) + 2 * pad, round(line.width * size) + 2 * pad
    large = np.zeros((height * FINER, width * FINER), np.uint8)
    baseline = pad + round(line.top * size)
    for run in line.runs:
        _draw_run(large, run, size=size * FINER, x=(pad + run.x * size) * FINER, y=baseline * FINER)
    return cv2.resize(large, (width, height), interpolation=cv2.INTER_AREA).astype(np.uint8), pad, baseline


def _draw_run(into: "Mask", run: Run, *, size: float, x: float, y: float) -> None:
    shaper = shaper_of(run.font)
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
    """Where outlines wind around more one way than the other there is ink: parts of a letter may overlap."""
    if not outlines:
        return
    lines = [np.rint(each * (unit, -unit) + (left, base)).astype(np.int32) for each in outlines]
    low = np.maximum(np.min([each.min(axis=0) for each in lines], axis=0), 0)
    high = np.minimum(np.max([each.max(axis=0) for each in lines], axis=0) + 1, into.shape[::-1])
    if (high <= low).any():
        return
    wound = np.zeros((high[1] - low[1], high[0] - low[0]), np.int16)
    for each in lines:
        one = np.zeros(wound.shape, np.uint8)
        cv2.fillPoly(one, [each - low], 1)
        wound += one.astype(np.int16) * (1 if cv2.contourArea(each, oriented=True) > 0 else -1)
    part = into[low[1] : high[1], low[0] : high[0]]
    part[wound != 0] = 255


class _Pen:
    """Takes a glyph's lines from HarfBuzz, curves as short straight steps."""

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
        """Outlines are filled, so they are closed in any case."""

    def _curve(self, points: tuple[tuple[float, float], ...]) -> None:
        """De Casteljau: between each two points, until one is left."""
        start = self.outlines[-1][-1]
        for step in range(1, CURVE_STEPS + 1):
            share = step / CURVE_STEPS
            left = np.array([start, *points])
            while len(left) > 1:
                left = left[:-1] * (1 - share) + left[1:] * share
            self.outlines[-1].append((float(left[0][0]), float(left[0][1])))


@lru_cache(maxsize=GLYPHS_KEPT)
def _outlines(font: Font, glyph: int) -> "tuple[Outline, ...]":
    pen = _Pen()
    shaper_of(font).draw_glyph_with_pen(glyph, pen)
    return tuple(np.array(each, np.float64) for each in pen.outlines if len(each) > 2)
