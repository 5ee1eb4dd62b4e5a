"""Prepares caption text: capitalization, punctuation and ASS escaping."""

# ruff: noqa: RUF001 (letters of many scripts look alike)

import re
import unicodedata

from cutroom.media.subtitles import JOINER, clean_text
from cutroom.products.shorts.captions.styles import StyleSpec
from cutroom.text.writing_systems import primary_language, strip_closing_marks

_DOTTED_I_LANGUAGES = frozenset({"tr", "az"})
_TONOS = "\u0301"  # Greek drops the accent in capitals, and keeps the diaeresis
_PUNCTUATION = ".,;:،؛。、，"
_GEORGIAN = re.compile("[\u10d0-\u10ff]+")
# Direction marks affect text beyond their word, and the base direction is set per style.
_DIRECTION_MARKS = re.compile("[\u200e\u200f\u061c]")


def display_text(text: str, style: StyleSpec, *, language: str) -> str:
    """The word as the style displays it, not yet escaped."""
    text = _DIRECTION_MARKS.sub("", clean_text(text))
    if style.strips_punctuation:
        kept = text if strip_closing_marks(text).endswith("...") else text.rstrip(_PUNCTUATION)
        text = kept or text
    return to_upper(text, language=language) if style.uppercase else text


def to_upper(text: str, *, language: str) -> str:
    """Language-specific upper case; scripts without case are unchanged."""
    base = primary_language(language)
    if base in _DOTTED_I_LANGUAGES:
        text = text.replace("i", "İ").replace("ı", "I")
    if base == "el":
        decomposed = unicodedata.normalize("NFD", text)
        text = unicodedata.normalize("NFC", decomposed.replace(_TONOS, ""))
    if base == "hy":
        text = text.replace("և", "եվ")
    # Georgian uses capitals for headlines only, and most fonts lack them.
    parts = _GEORGIAN.split(text)
    kept = [*_GEORGIAN.findall(text), ""]
    return "".join(part.upper() + kept_part for part, kept_part in zip(parts, kept, strict=True))


def escape_ass(text: str) -> str:
    """Escapes text for an ASS event, so that nothing is executed, hidden or wrapped."""
    text = clean_text(text).replace("\\", f"\\{JOINER}")
    return text.replace("{", r"\{").replace("}", r"\}")
