"""Sets the lines of a screen in type: where each word stands in its block, to the pixel."""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from cutroom.engines.recognition.port import Word
from cutroom.media.fonts import Font, font_for, has_letters, measure, metrics
from cutroom.products.shorts.captions.looks import REFERENCE_PIXELS, Style
from cutroom.products.shorts.captions.text import shown_text
from cutroom.products.shorts.captions.zones import zone_for
from cutroom.products.transcripts.scripts import joined
from cutroom.text.writing_systems import base_of

RIGHT_TO_LEFT = frozenset({"ar", "arc", "ckb", "dv", "fa", "he", "iw", "ks", "ps", "sd", "ug", "ur", "yi"})
# What letters cover above and below the baseline when nothing about them is known, in ems.
MIXED_BOTTOM = 0.21
_RTL_CLASSES = frozenset({"R", "AL"})

Lines = Sequence[Sequence[Word]]


@dataclass(frozen=True, slots=True)
class Typesetter:
    """How one track of captions is set: a single font wherever it has the letters."""

    style: Style
    language: str
    font: Font
    unit: float  # pixels for one of the looks' pixels
    most_width: float  # of a line, in pixels

    def text(self, word: Word) -> str:
        return shown_text(word.text, self.style, language=self.language)

    def font_of(self, text: str) -> Font:
        if has_letters(self.font, text):
            return self.font
        return font_for(text, self.style.typeface, language=self.language)

    def width(self, text: str) -> float:
        return measure(text, self.font_of(text)).advance * self.style.size * self.unit

    def gap(self, left: Word, right: Word) -> float:
        """The blank between two words, if they have one."""
        first, second = self.text(left), self.text(right)
        touches = joined([first, second], language=self.language) == first + second
        return 0.0 if touches else self.style.blank * self.style.size * self.unit

    def line_width(self, words: Sequence[Word]) -> float:
        gaps = sum(self.gap(left, right) for left, right in pairwise(words))
        return gaps + sum(self.width(self.text(word)) for word in words)

    @property
    def edge_x(self) -> float:
        """What a look adds to its text at either side, in pixels."""
        plates = [plate.pad_x for plate in (self.style.word_plate, self.style.block_plate) if plate]
        return max([self.style.outline, *plates]) * self.unit

    @property
    def edge_y(self) -> float:
        plates = [plate.pad_y for plate in (self.style.word_plate, self.style.block_plate) if plate]
        return max([self.style.outline, *plates]) * self.unit


def typesetter(words: Iterable[Word], style: Style, *, width: int, height: int, language: str) -> Typesetter:
    """For all words of a track, on a picture of this size."""
    letters = "".join(sorted({each for word in words for each in shown_text(word.text, style, language=language)}))
    font = font_for(letters, style.typeface, language=language)
    zone = zone_for(width, height)
    unit = min(width, height) / REFERENCE_PIXELS * zone.scale
    setter = Typesetter(style, language, font, unit, zone.text_width * width / style.current_scale)
    return replace(setter, most_width=setter.most_width - 2 * setter.edge_x)


@dataclass(frozen=True, slots=True)
class PlacedWord:
    """A word in its block: pixels from the block's upper edge, and from its vertical middle to the right."""

    word: Word
    text: str
    font: Font
    em: float
    middle_x: float
    baseline_y: float
    width: float
    above: float  # the baseline, as its line reaches
    below: float
    right_to_left: bool

    @property
    def font_size(self) -> float:
        """As libass counts it."""
        heights = metrics(self.font)
        return (heights.ascent + heights.descent) * self.em

    @property
    def middle_y(self) -> float:
        """Of the room that libass gives the word."""
        return self.baseline_y - metrics(self.font).ascent * self.em + self.font_size / 2


@dataclass(frozen=True, slots=True)
class Block:
    """A screen's words and the room they take, edges of the look included; `top` to `bottom` is a plate's text."""

    words: tuple[PlacedWord, ...]
    width: float
    height: float
    top: float
    bottom: float


def lay_out(lines: Lines, setter: Typesetter) -> Block:
    """The block of these lines; made smaller as a whole where a word is wider than a line may be."""
    widest = max(setter.line_width(line) for line in lines)
    shrink = min(1.0, setter.most_width / widest)
    em = setter.style.size * setter.unit * shrink
    top, bottom = _extent(lines[0], setter)[0] * em, _extent(lines[-1], setter)[1] * em
    baseline = setter.edge_y + top
    placed: list[PlacedWord] = []
    for at, line in enumerate(lines):
        if at:
            fonts = [setter.font_of(setter.text(word)) for word in (*lines[at - 1], *line)]
            baseline += max(font.leading for font in fonts) * setter.style.leading * em
        placed += _place_line(line, setter, em=em, shrink=shrink, baseline=baseline)
    return Block(
        tuple(placed),
        width=widest * shrink + 2 * setter.edge_x,
        height=baseline + bottom + setter.edge_y,
        top=setter.edge_y,
        bottom=baseline + bottom,
    )


def _extent(line: Sequence[Word], setter: Typesetter) -> tuple[float, float]:
    """What a line covers above and below its baseline in ems: the same for most lines, so that they keep still."""
    inks = [measure(text, setter.font_of(text)) for text in (setter.text(word) for word in line)]
    capital = metrics(setter.font).capital
    bottom = 0.02 if setter.style.upper else MIXED_BOTTOM
    return max(capital, *(ink.top for ink in inks)), max(bottom, *(ink.bottom for ink in inks))


def _place_line(
    line: Sequence[Word], setter: Typesetter, *, em: float, shrink: float, baseline: float
) -> list[PlacedWord]:
    """Words from left to right, in the order in which they are seen."""
    backwards = reads_right_to_left([setter.text(word) for word in line], language=setter.language)
    order, directions = _visual_order([setter.text(word) for word in line], right_to_left=backwards)
    x = -setter.line_width(line) * shrink / 2
    above, below = (each * em for each in _extent(line, setter))
    placed: dict[int, PlacedWord] = {}
    for place, at in enumerate(order):
        text = setter.text(line[at])
        width = setter.width(text) * shrink
        if place:
            first, second = sorted((order[place - 1], at))
            x += setter.gap(line[first], line[second]) * shrink
        font = setter.font_of(text)
        placed[at] = PlacedWord(line[at], text, font, em, x + width / 2, baseline, width, above, below, directions[at])
        x += width
    return [placed[at] for at in range(len(line))]


def reads_right_to_left(texts: Sequence[str], *, language: str) -> bool:
    """By the language; where it says nothing of it, by the first letter that has a direction."""
    if base_of(language) in RIGHT_TO_LEFT:
        return True
    for character in "".join(texts):
        direction = unicodedata.bidirectional(character)
        if direction == "L" or direction in _RTL_CLASSES:
            return direction != "L"
    return False


def _visual_order(texts: Sequence[str], *, right_to_left: bool) -> tuple[list[int], list[bool]]:
    """Words as they are seen from left to right, and the direction that rules inside each of them.

    libass orders the letters of a word; the words are ours, because a word with a colour of its own would otherwise
    be a run of its own. A run of words against the line's direction keeps its own order, as in the Unicode rules.
    """
    against = [_direction(text) not in {None, right_to_left} for text in texts]
    runs: list[list[int]] = []
    for at in range(len(texts)):
        if runs and against[at] and against[runs[-1][-1]]:
            runs[-1].append(at)
        else:
            runs.append([at])
    # The marks behind a run's last word belong to the line around it; those within the run to the run.
    directions = [right_to_left] * len(texts)
    for run in runs:
        for at in run[:-1]:
            directions[at] = not right_to_left
    if not right_to_left:
        return [at for run in runs for at in (reversed(run) if against[run[0]] else run)], directions
    return [at for run in reversed(runs) for at in run], directions


def _direction(text: str) -> bool | None:
    """Whether a word reads from right to left; a word of digits and marks alone does not say."""
    found = [unicodedata.bidirectional(character) for character in text]
    if any(each in _RTL_CLASSES for each in found):
        return True
    return False if "L" in found or "EN" in found else None
