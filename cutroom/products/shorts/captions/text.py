"""What a caption shows of a word: in capitals or not, and written so that libass takes it for text."""

# ruff: noqa: RUF001 (letters of many scripts look alike)

import re
import unicodedata

from cutroom.media.subtitles import JOINER, clean_text
from cutroom.products.shorts.captions.looks import Style
from cutroom.text.writing_systems import bare, base_of

_DOTTED = frozenset({"tr", "az"})
_TONOS = "\u0301"  # which Greek leaves out in capitals; the two dots stay
_STOPS = ".,;:،؛。、，"
_GEORGIAN = re.compile("[\u10d0-\u10ff]+")
# Marks of direction reach beyond their word, and a caption has the direction of its language anyway.
_MARKS = re.compile("[\u200e\u200f\u061c]")


def shown_text(text: str, style: Style, *, language: str) -> str:
    """The word as this look shows it, not yet escaped."""
    text = _MARKS.sub("", clean_text(text))
    if style.drops_stops:
        kept = text if bare(text).endswith("...") else text.rstrip(_STOPS)
        text = kept or text
    return upper(text, language=language) if style.upper else text


def upper(text: str, *, language: str) -> str:
    """Capitals as the language writes them; scripts without any stay as they are."""
    base = base_of(language)
    if base in _DOTTED:
        text = text.replace("i", "İ").replace("ı", "I")
    if base == "el":
        apart = unicodedata.normalize("NFD", text)
        text = unicodedata.normalize("NFC", apart.replace(_TONOS, ""))
    if base == "hy":
        text = text.replace("և", "եվ")
    # Georgian has capitals for headlines only, which most fonts lack.
    parts = _GEORGIAN.split(text)
    kept = [*_GEORGIAN.findall(text), ""]
    return "".join(part.upper() + same for part, same in zip(parts, kept, strict=True))


def escape(text: str) -> str:
    """The text for an event of an ASS file: nothing in it is run, hidden or broken."""
    text = clean_text(text).replace("\\", f"\\{JOINER}")
    return text.replace("{", r"\{").replace("}", r"\}")
