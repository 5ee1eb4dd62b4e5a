"""Typesets the lines of a caption screen: the position of each word in its block."""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from cutroom.engines.recognition.port import Word
from cutroom.media.fonts import Font, has_glyphs, measure, metrics, select_font
from cutroom.products.shorts.captions.safe_zones import safe_zone_for
from cutroom.products.shorts.captions.styles import REFERENCE_PIXELS, StyleSpec
from cutroom.products.shorts.captions.text import display_text
from cutroom.products.transcripts.text_units import join_words
from cutroom.text.writing_systems import primary_language

RIGHT_TO_LEFT = frozenset({"ar", "arc", "ckb", "dv", "fa", "he", "iw", "ks", "ps", "sd", "ug", "ur", "yi"})
# Default depth below the baseline, in ems.
DESCENDER_EMS = 0.21
_RTL_CLASSES = frozenset({"R", "AL"})

Lines = Sequence[Sequence[Word]]


@dataclass(frozen=True, slots=True)
class Typesetter:
    """Typesetting parameters of one caption track, with a single font where it covers the text."""

    style: StyleSpec
    language: str
    font: Font
    unit: float  # output pixels per style pixel
    max_width: float  # of a line, in pixels

    def text(self, word: Word) -> str:
        return display_text(word.text, self.style, language=self.language)

    def font_of(self, text: str) -> Font:
        if has_glyphs(self.font, text):
            return self.font
        return select_font(text, self.style.typeface, language=self.language)

    def width(self, text: str) -> float:
        return measure(text, self.font_of(text)).advance * self.style.size * self.unit

    def gap(self, left: Word, right: Word) -> float:
        """The space between two words, 0 if the script writes none."""
        first, second = self.text(left), self.text(right)
        touches = join_words([first, second], language=self.language) == first + second
        return 0.0 if touches else self.style.word_spacing * self.style.size * self.unit

    def line_width(self, words: Sequence[Word]) -> float:
        gaps = sum(self.gap(left, right) for left, right in pairwise(words))
        return gaps + sum(self.width(self.text(word)) for word in words)

    @property
    def padding_x(self) -> float:
        """Horizontal padding that the style adds to its text, in pixels."""
        plates = [plate.pad_x for plate in (self.style.word_box, self.style.block_box) if plate]
        return max([self.style.outline, *plates]) * self.unit

    @property
    def padding_y(self) -> float:
        plates = [plate.pad_y for plate in (self.style.word_box, self.style.block_box) if plate]
        return max([self.style.outline, *plates]) * self.unit


def make_typesetter(words: Iterable[Word], style: StyleSpec, *, width: int, height: int, language: str) -> Typesetter:
    """The typesetter for all words of a track, on a frame of this size."""
    letters = "".join(sorted({each for word in words for each in display_text(word.text, style, language=language)}))
    font = select_font(letters, style.typeface, language=language)
    zone = safe_zone_for(width, height)
    unit = min(width, height) / REFERENCE_PIXELS * zone.scale
    setter = Typesetter(style, language, font, unit, zone.text_width * width / style.active_scale)
    return replace(setter, max_width=setter.max_width - 2 * setter.padding_x)


@dataclass(frozen=True, slots=True)
class PlacedWord:
    """A word's position in its block: pixels from the top edge, and to the right of the vertical center line."""

    word: Word
    text: str
    font: Font
    em: float
    middle_x: float
    baseline_y: float
    width: float
    above: float  # ascent of its line above the baseline
    below: float
    right_to_left: bool

    @property
    def font_size(self) -> float:
        """libass's font size: ascent plus descent."""
        heights = metrics(self.font)
        return (heights.ascent + heights.descent) * self.em

    @property
    def middle_y(self) -> float:
        """Vertical center of the line box that libass gives the word."""
        return self.baseline_y - metrics(self.font).ascent * self.em + self.font_size / 2


@dataclass(frozen=True, slots=True)
class CaptionBlock:
    """A screen's words and size including padding; `top` to `bottom` is the text inside a background box."""

    words: tuple[PlacedWord, ...]
    width: float
    height: float
    top: float
    bottom: float


def layout_block(lines: Lines, setter: Typesetter) -> CaptionBlock:
    """Lays out the lines; scales the whole block down if a line is too wide."""
    widest = max(setter.line_width(line) for line in lines)
    shrink = min(1.0, setter.max_width / widest)
    em = setter.style.size * setter.unit * shrink
    top, bottom = _extent(lines[0], setter)[0] * em, _extent(lines[-1], setter)[1] * em
    baseline = setter.padding_y + top
    placed: list[PlacedWord] = []
    for index, line in enumerate(lines):
        if index:
            fonts = [setter.font_of(setter.text(word)) for word in (*lines[index - 1], *line)]
            baseline += max(font.leading for font in fonts) * setter.style.leading * em
        placed += _place_line(line, setter, em=em, shrink=shrink, baseline=baseline)
    return CaptionBlock(
        tuple(placed),
        width=widest * shrink + 2 * setter.padding_x,
        height=baseline + bottom + setter.padding_y,
        top=setter.padding_y,
        bottom=baseline + bottom,
    )


def _extent(line: Sequence[Word], setter: Typesetter) -> tuple[float, float]:
    """Extents of a line around its baseline, in ems; constant for most lines, so that they do not jitter."""
    extents = [measure(text, setter.font_of(text)) for text in (setter.text(word) for word in line)]
    cap_height = metrics(setter.font).cap_height
    bottom = 0.02 if setter.style.uppercase else DESCENDER_EMS
    return max(cap_height, *(extent.top for extent in extents)), max(bottom, *(extent.bottom for extent in extents))


def _place_line(
    line: Sequence[Word], setter: Typesetter, *, em: float, shrink: float, baseline: float
) -> list[PlacedWord]:
    """Places the words in visual order from left to right."""
    right_to_left = reads_right_to_left([setter.text(word) for word in line], language=setter.language)
    order, directions = _visual_order([setter.text(word) for word in line], right_to_left=right_to_left)
    x = -setter.line_width(line) * shrink / 2
    above, below = (each * em for each in _extent(line, setter))
    placed: dict[int, PlacedWord] = {}
    for position, index in enumerate(order):
        text = setter.text(line[index])
        width = setter.width(text) * shrink
        if position:
            first, second = sorted((order[position - 1], index))
            x += setter.gap(line[first], line[second]) * shrink
        font = setter.font_of(text)
        placed[index] = PlacedWord(
            line[index], text, font, em, x + width / 2, baseline, width, above, below, directions[index]
        )
        x += width
    return [placed[index] for index in range(len(line))]


def reads_right_to_left(texts: Sequence[str], *, language: str) -> bool:
    """By the language, or else by the first character with a strong direction."""
    if primary_language(language) in RIGHT_TO_LEFT:
        return True
    for character in "".join(texts):
        direction = unicodedata.bidirectional(character)
        if direction == "L" or direction in _RTL_CLASSES:
            return direction != "L"
    return False


def _visual_order(texts: Sequence[str], *, right_to_left: bool) -> tuple[list[int], list[bool]]:
    """Visual order of the words from left to right, and the direction to shape each with.

    libass orders the characters within a word; word order is ours, because a word with its own color is a separate run
    for libass. A sequence of words against the line's direction keeps its own order, as in the Unicode bidi algorithm.
    """
    opposite = [_direction(text) not in {None, right_to_left} for text in texts]
    runs: list[list[int]] = []
    for index in range(len(texts)):
        if runs and opposite[index] and opposite[runs[-1][-1]]:
            runs[-1].append(index)
        else:
            runs.append([index])
    # Punctuation after the last word of a run belongs to the surrounding line; within the run, to the run.
    directions = [right_to_left] * len(texts)
    for run in runs:
        for index in run[:-1]:
            directions[index] = not right_to_left
    if not right_to_left:
        return [index for run in runs for index in (reversed(run) if opposite[run[0]] else run)], directions
    return [index for run in reversed(runs) for index in run], directions


def _direction(text: str) -> bool | None:
    """Whether a word is right-to-left; None if it has only digits and punctuation."""
    classes = [unicodedata.bidirectional(character) for character in text]
    if any(each in _RTL_CLASSES for each in classes):
        return True
    return False if "L" in classes or "EN" in classes else None
