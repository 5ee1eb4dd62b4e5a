"""Lays out a headline: which words share a line, how large they can be, and what is left out where too much is said."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

from cutroom.engines.thumbnails.compositor.lettering import Line, is_right_to_left, set_line, showable
from cutroom.engines.thumbnails.compositor.phrases import chunks_of
from cutroom.media.fonts import Typeface

MAX_LINES = 4
MAX_CHARACTERS = 200  # of a headline that is looked at
LEADING = 0.16  # of the letters' height between lines
# In pixels of a picture 1280 wide: at 120 pixels such letters are 6 pixels high, which can still be read.
MIN_LETTER, MAX_LETTER = 64.0, 190.0
DENSE_LETTER = 1.35  # times larger for scripts whose letters have many strokes
# Black letters of one height are read from farther than tall ones, so they are taken unless much smaller.
_WEIGHTS = ((Typeface.BLACK, 1.3), (Typeface.TALL, 1.0))
_DENSE = re.compile("[\u0900-\u0dff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_TURKISH = {ord("i"): "\u0130", 0x0131: "I"}  # a dot stays a dot
_CASED = re.compile("[^a-zA-Z\u00c0-\u024f\u0400-\u052f]")  # everything but Latin and Cyrillic letters
_TRAILING = " ,;:-|\u2013\u2014\u3001\uff0c"
_WIDE_STOPS = "\u3001\u3002\uff0c\uff1a\uff1b\uff01\uff1f"
_STOPS = re.compile(rf"\s*[:;|\u2013\u2014,\u060c\u061b!?.\u2026]+(?:\s+|$)|[{_WIDE_STOPS}]|\s+[-\u2013\u2014|]\s+")
_OPEN, _CLOSE = "(\\[\uff08\u3010\u300c\u300e", ")\\]\uff09\u3011\u300d\u300f"  # brackets of all kinds
_ASIDE = re.compile(rf"\s*[{_OPEN}][^{_CLOSE}]*[{_CLOSE}]\s*")
# Short words that belong to what follows: a line should not end with them.
_LEANING = frozenset(
    {"a", "an", "the", "of", "in", "on", "at", "to", "for", "and", "or", "my", "your", "is", "about", "with", "from"}
    | {"der", "die", "das", "ein", "eine", "und", "im", "zu", "le", "la", "les", "un", "une", "de", "du", "des", "et"}
    | {"el", "los", "las", "una", "y", "en", "con", "o", "os", "as", "um", "uma", "e", "em", "da", "do"}
    | {"\u0641\u064a", "\u0645\u0646", "\u0639\u0644\u0649"}
)


@dataclass(frozen=True, slots=True)
class Setting:
    """Lines of one size in pixels an em; `pitch` is from one baseline to the next, in pixels."""

    text: str
    lines: tuple[Line, ...]
    size: float
    pitch: float
    letter: float  # how high its letters are, in pixels
    is_whole: bool
    right_to_left: bool

    @property
    def width(self) -> float:
        return max(line.width for line in self.lines) * self.size

    @property
    def height(self) -> float:
        return self.top + self.bottom + self.pitch * (len(self.lines) - 1)

    @property
    def top(self) -> float:
        return max(line.top for line in self.lines) * self.size

    @property
    def bottom(self) -> float:
        return max(line.bottom for line in self.lines) * self.size


def lay_out(
    text: str, *, language: str, width: float, height: float, max_lines: int = MAX_LINES, least: float = MIN_LETTER
) -> Setting | None:
    """The headline as large as fits, shortened only where it could not be read otherwise; nothing where nothing fits.

    Words are never parted, except where one alone is too long for the room.
    """
    least *= DENSE_LETTER if _DENSE.search(text) else 1.0
    for number, words in enumerate(shorter(text, language=language)):
        found = [
            (setting.letter * weight, setting)
            for typeface, weight in _WEIGHTS
            if (setting := _fit(words, typeface, language, width=width, height=height, max_lines=max_lines))
        ]
        readable = [(rank, each) for rank, each in found if each.letter >= least]
        if readable:
            _, best = max(readable, key=lambda each: each[0])
            return replace(best, text=words, is_whole=number == 0)
    return None


def shorter(text: str, *, language: str) -> Iterator[str]:
    """The text, then less and less of it: without asides, its first clause, its first words."""
    whole = " ".join(text[:MAX_CHARACTERS].split())
    given = [whole]
    bare = " ".join(_ASIDE.sub(" ", whole).split())
    given.append(bare)
    clauses = [each.strip() for each in _STOPS.split(bare) if each.strip()]
    if len(clauses) > 1:
        given += [each for each in clauses if len(each) >= 8][:1]
    shortest = min((each for each in given if each), key=len, default="")
    chunks = chunks_of(shortest)
    for count in range(len(chunks) - 1, 1 if len(chunks) > 2 else 0, -1):
        kept = chunks[:count]
        while len(kept) > 2 and kept[-1].strip().lower() in _LEANING:
            kept = kept[:-1]
        given.append("".join(kept).strip(_TRAILING) + "\u2026")
    for each in dict.fromkeys(given):
        shown = showable(_cased(each, language), Typeface.BLACK, language=language)
        if any(unicodedata.category(letter)[0] in "LN" for letter in shown):
            yield shown


def _cased(text: str, language: str) -> str:
    """Capitals where most is Latin or Cyrillic; others have none, or are not read more easily in them."""
    if len(_CASED.sub("", text)) < 0.5 * sum(each.isalpha() for each in text):
        return text
    if language.lower().partition("-")[0] in {"tr", "az"}:
        text = text.translate(_TURKISH)
    return text.upper()


def _fit(
    text: str, typeface: Typeface, language: str, *, width: float, height: float, max_lines: int
) -> Setting | None:
    """The way to part the text into lines that makes it largest; of ways that are nearly as large, the evenest."""
    chunks = chunks_of(text)
    best: tuple[float, Setting] | None = None
    for count in range(1, min(max_lines, len(chunks)) + 1):
        for cuts in combinations(range(1, len(chunks)), count - 1):
            texts = _joined(chunks, cuts)
            lines = tuple(set_line(each, typeface, language=language) for each in texts)
            setting = _sized(lines, width=width, height=height)
            if setting is None:
                continue
            widths = [line.width for line in lines]
            even = min(widths) / max(widths)
            leaning = sum(each.rsplit(maxsplit=1)[-1].lower() in _LEANING for each in texts[:-1])
            tiny = sum(len(each) <= 2 and not any(map(str.isdigit, each)) for each in texts) if count > 1 else 0
            rank = setting.letter * (0.8 + 0.2 * even) * 0.82**leaning * 0.75**tiny
            if best is None or rank > best[0]:
                best = rank, setting
    return best[1] if best else None


def _joined(chunks: Sequence[str], cuts: tuple[int, ...]) -> list[str]:
    bounds = [0, *cuts, len(chunks)]
    return ["".join(chunks[start:end]).strip() for start, end in pairwise(bounds)]


def _sized(lines: tuple[Line, ...], *, width: float, height: float) -> Setting | None:
    top, bottom = max(line.top for line in lines), max(line.bottom for line in lines)
    widest = max(line.width for line in lines)
    if top <= 0 or widest <= 0:
        return None
    pitch = top + bottom + LEADING * top
    tall = top + bottom + pitch * (len(lines) - 1)
    size = min(width / widest, height / tall, MAX_LETTER / top)
    letter = top * size
    turned = is_right_to_left(lines[0].text)
    return Setting("", lines, size, pitch * size, letter, is_whole=True, right_to_left=turned)
