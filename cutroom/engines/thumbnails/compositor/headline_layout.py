"""Lays out headlines: line breaks, font size, and shortening of text that does not fit."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

from cutroom.engines.thumbnails.compositor.line_breaking import PROCLITICS, breakable_chunks
from cutroom.engines.thumbnails.compositor.typesetting import TextLine, is_right_to_left, renderable_text, shape_line
from cutroom.media.fonts import Typeface

MAX_LINES = 4
MAX_HEADLINE_CHARACTERS = 200
LEADING = 0.16  # extra line spacing, as a share of the letter height
# In pixels at a width of 1280; in a preview 120 pixels wide, the minimum is 6 pixels, which is still readable.
MIN_LETTER_HEIGHT, MAX_LETTER_HEIGHT = 64.0, 190.0
DENSE_SCRIPT_FACTOR = 1.35  # minimum size factor for scripts with many strokes per letter
# Black is readable from farther away than the condensed face at the same height, so it wins unless much smaller.
_WEIGHTS = ((Typeface.BLACK, 1.3), (Typeface.TALL, 1.0))
_DENSE_SCRIPTS = re.compile(
    "[\u0900-\u0dff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)
_TURKISH = {ord("i"): "\u0130", 0x0131: "I"}  # dotted and dotless i keep their dots
_UNCASED = re.compile("[^a-zA-Z\u00c0-\u024f\u0400-\u052f]")  # everything but Latin and Cyrillic letters
_TRAILING = " ,;:-|\u2013\u2014\u3001\uff0c"
_WIDE_STOPS = "\u3001\u3002\uff0c\uff1a\uff1b\uff01\uff1f"
_CLAUSE_ENDS = re.compile(
    rf"\s*[:;|\u2013\u2014,\u060c\u061b!?.\u2026]+(?:\s+|$)|[{_WIDE_STOPS}]|\s+[-\u2013\u2014|]\s+"
)
_OPEN, _CLOSE = "(\\[\uff08\u3010\u300c\u300e", ")\\]\uff09\u3011\u300d\u300f"
_PARENTHESES = re.compile(rf"\s*[{_OPEN}][^{_CLOSE}]*[{_CLOSE}]\s*")
ORPHAN_WIDTH = 0.45  # of the widest line; a single word that is shorter looks lost as the last line
ORPHAN_WEIGHT = 0.75
SHORT_ORPHAN_WEIGHT = 0.92  # of three words or fewer: large letters count more than even lines
SHORT_WORDS = 3
ELLIPSIS = "\u2026"  # ends a headline that is cut off


@dataclass(frozen=True, slots=True)
class HeadlineLayout:
    """Lines set at one font size, in pixels per em; `line_pitch` is the distance between baselines in pixels."""

    text: str
    lines: tuple[TextLine, ...]
    font_size: float
    line_pitch: float
    letter_height: float  # pixels
    is_complete: bool
    right_to_left: bool

    @property
    def width(self) -> float:
        return max(line.width for line in self.lines) * self.font_size

    @property
    def height(self) -> float:
        return self.top + self.bottom + self.line_pitch * (len(self.lines) - 1)

    @property
    def top(self) -> float:
        return max(line.top for line in self.lines) * self.font_size

    @property
    def bottom(self) -> float:
        return max(line.bottom for line in self.lines) * self.font_size


def lay_out_headline(
    text: str,
    *,
    language: str,
    width: float,
    height: float,
    max_lines: int = MAX_LINES,
    min_letter_height: float = MIN_LETTER_HEIGHT,
) -> HeadlineLayout | None:
    """The largest layout that fits, shortening the text only if it would be unreadable; None if nothing fits.

    Words are split only if a single word is too wide.
    """
    min_letter_height *= DENSE_SCRIPT_FACTOR if _DENSE_SCRIPTS.search(text) else 1.0
    for number, variant in enumerate(shortened_variants(text, language=language)):
        found = [
            (layout.letter_height * weight, layout)
            for typeface, weight in _WEIGHTS
            if (layout := _fit(variant, typeface, language, width=width, height=height, max_lines=max_lines))
        ]
        readable = [(rank, each) for rank, each in found if each.letter_height >= min_letter_height]
        if readable:
            _, best = max(readable, key=lambda each: each[0])
            return replace(best, text=variant, is_complete=number == 0)
    return None


def shortened_variants(text: str, *, language: str) -> Iterator[str]:
    """The text, then shorter versions: without parentheses, its first clause, its first words."""
    whole = " ".join(text[:MAX_HEADLINE_CHARACTERS].split())
    variants = [whole]
    bare = " ".join(_PARENTHESES.sub(" ", whole).split())
    variants.append(bare)
    clauses = [each.strip() for each in _CLAUSE_ENDS.split(bare) if each.strip()]
    if len(clauses) > 1:
        variants += [each for each in clauses if len(each) >= 8][:1]
    shortest = min((each for each in variants if each), key=len, default="")
    chunks = breakable_chunks(shortest)
    for count in range(len(chunks) - 1, 1 if len(chunks) > 2 else 0, -1):
        kept = chunks[:count]
        while len(kept) > 2 and kept[-1].strip().lower() in PROCLITICS:
            kept = kept[:-1]
        variants.append("".join(kept).strip(_TRAILING) + ELLIPSIS)
    for each in dict.fromkeys(variants):
        rendered = renderable_text(_upper_cased(each, language), Typeface.BLACK, language=language)
        if any(unicodedata.category(letter)[0] in "LN" for letter in rendered):
            yield rendered


def _upper_cased(text: str, language: str) -> str:
    """Upper case for mostly Latin or Cyrillic text; other scripts have no case or do not gain from it."""
    if len(_UNCASED.sub("", text)) < 0.5 * sum(each.isalpha() for each in text):
        return text
    if language.lower().partition("-")[0] in {"tr", "az"}:
        text = text.translate(_TURKISH)
    return text.upper()


def _fit(
    text: str, typeface: Typeface, language: str, *, width: float, height: float, max_lines: int
) -> HeadlineLayout | None:
    """The line breaks that allow the largest font size, weighted by how even the lines are."""
    chunks = breakable_chunks(text)
    best: tuple[float, HeadlineLayout] | None = None
    for count in range(1, min(max_lines, len(chunks)) + 1):
        for cuts in combinations(range(1, len(chunks)), count - 1):
            texts = _joined(chunks, cuts)
            lines = tuple(shape_line(each, typeface, language=language) for each in texts)
            layout = _sized(lines, width=width, height=height)
            if layout is None:
                continue
            widths = [line.width for line in lines]
            even = min(widths) / max(widths)
            bad_ends = sum(each.rsplit(maxsplit=1)[-1].lower() in PROCLITICS for each in texts[:-1])
            tiny = sum(len(each) <= 2 and not any(map(str.isdigit, each)) for each in texts) if count > 1 else 0
            lone = sum(each.lower() in PROCLITICS for each in texts)
            orphan = count > 1 and " " not in texts[-1] and " " in texts[-2] and widths[-1] < ORPHAN_WIDTH * max(widths)
            orphan_weight = SHORT_ORPHAN_WEIGHT if len(text.split()) <= SHORT_WORDS else ORPHAN_WEIGHT
            rank = layout.letter_height * (0.8 + 0.2 * even) * orphan_weight**orphan
            rank *= 0.82**bad_ends * 0.75**tiny * 0.5**lone
            if best is None or rank > best[0]:
                best = rank, layout
    return best[1] if best else None


def _joined(chunks: Sequence[str], cuts: tuple[int, ...]) -> list[str]:
    bounds = [0, *cuts, len(chunks)]
    return ["".join(chunks[start:end]).strip() for start, end in pairwise(bounds)]


def _sized(lines: tuple[TextLine, ...], *, width: float, height: float) -> HeadlineLayout | None:
    top, bottom = max(line.top for line in lines), max(line.bottom for line in lines)
    widest = max(line.width for line in lines)
    if top <= 0 or widest <= 0:
        return None
    pitch = top + bottom + LEADING * top
    tall = top + bottom + pitch * (len(lines) - 1)
    size = min(width / widest, height / tall, MAX_LETTER_HEIGHT / top)
    letter_height = top * size
    right_to_left = is_right_to_left(lines[0].text)
    return HeadlineLayout("", lines, size, pitch * size, letter_height, is_complete=True, right_to_left=right_to_left)
