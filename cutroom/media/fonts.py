"""The fonts that text in pictures is set in: which one has a text's letters, and how much room they take in it.

Text is measured with HarfBuzz, the shaper that libass uses, so that kerning, Arabic joins and Thai marks count exactly.
A table of widths could not know those, and Pillow would bring a whole imaging library for one number.
"""

import struct
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from cutroom.media.process import MediaError, Reason

if TYPE_CHECKING:
    import uharfbuzz as hb

FONTS_FOLDER = Path("/usr/share/fonts")
PACKAGES = "fonts-lato fonts-bebas-neue fonts-noto-core fonts-noto-cjk"
MEASURED_TEXTS = 4096
LONGEST_TEXT_CHARACTERS = 500  # nobody shows longer words; it keeps a hostile one from costing much


class Typeface(StrEnum):
    """The character of the letters, for scripts that offer a choice."""

    BLACK = "black"
    STRONG = "strong"
    TALL = "tall"
    PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class Font:
    """A font by the name that fontconfig knows it by, and its file.

    `scale` makes scripts look equally large at one size; `leading` is from one line to the next, in ems of that size.
    """

    family: str
    file: str
    bold: bool = False
    face: int = 0
    scale: float = 1.0
    leading: float = 1.15

    @property
    def path(self) -> Path:
        return FONTS_FOLDER / self.file


@dataclass(frozen=True, slots=True)
class Metrics:
    """Heights in ems above and below the baseline; libass takes a font's size as `ascent` and `descent` together."""

    ascent: float
    descent: float
    capital: float


@dataclass(frozen=True, slots=True)
class Ink:
    """The room of a text in ems: how far the next one is, and what it covers above and below the baseline."""

    advance: float
    top: float
    bottom: float


_LATO = {name: f"truetype/lato/Lato-{name}.ttf" for name in ("Black", "Heavy", "Medium")}
_BLACK = Font("Lato Black", _LATO["Black"])
_CHOICES = {
    Typeface.BLACK: (_BLACK,),
    Typeface.STRONG: (Font("Lato Heavy", _LATO["Heavy"]),),
    # Debian's Bebas Neue has Latin and Cyrillic letters; Greek and Vietnamese are set in Lato.
    Typeface.TALL: (Font("Bebas Neue", "opentype/bebas-neue/BebasNeue-Bold.otf", bold=True), _BLACK),
    Typeface.PLAIN: (Font("Lato Medium", _LATO["Medium"]),),
}

# First and last character of a block, and the Noto font for it, with its scale and leading.
_SCRIPTS = (
    (0x0530, 0x058F, "Armenian", 1.0, 1.2),
    (0x0590, 0x05FF, "Hebrew", 1.08, 1.2),
    (0x0600, 0x06FF, "Arabic", 1.25, 1.6),
    (0x0750, 0x08FF, "Arabic", 1.25, 1.6),
    (0x0900, 0x097F, "Devanagari", 1.1, 1.5),
    (0x0980, 0x09FF, "Bengali", 1.1, 1.5),
    (0x0A00, 0x0A7F, "Gurmukhi", 1.1, 1.5),
    (0x0A80, 0x0AFF, "Gujarati", 1.1, 1.5),
    (0x0B00, 0x0B7F, "Oriya", 1.1, 1.5),
    (0x0B80, 0x0BFF, "Tamil", 0.9, 1.4),
    (0x0C00, 0x0C7F, "Telugu", 0.95, 1.5),
    (0x0C80, 0x0CFF, "Kannada", 0.95, 1.5),
    (0x0D00, 0x0D7F, "Malayalam", 0.9, 1.4),
    (0x0D80, 0x0DFF, "Sinhala", 0.95, 1.4),
    (0x0E00, 0x0E7F, "Thai", 1.15, 1.6),
    (0x0E80, 0x0EFF, "Lao", 1.15, 1.6),
    (0x1000, 0x109F, "Myanmar", 0.9, 1.6),
    (0x10A0, 0x10FF, "Georgian", 1.0, 1.2),
    (0x1200, 0x139F, "Ethiopic", 0.95, 1.25),
    (0x1780, 0x17FF, "Khmer", 0.95, 1.7),
    (0xFB1D, 0xFB4F, "Hebrew", 1.08, 1.2),
    (0xFB50, 0xFEFC, "Arabic", 1.25, 1.6),
)
# Han characters look different from country to country; the order of the faces in Debian's file.
_HAN_FACES = {
    "ja": (0, "JP"),
    "ko": (1, "KR"),
    "zh": (2, "SC"),
    "zh-TW": (3, "TC"),
    "zh-HK": (4, "HK"),
    "yue": (4, "HK"),
}


def font_for(text: str, typeface: Typeface, *, language: str) -> Font:
    """The first of the typeface's fonts that has all letters; else the one that lacks the fewest."""
    return _font_for(_needed(text), typeface, language)


def has_letters(font: Font, text: str) -> bool:
    """Whether a font can show all of a text."""
    return _needed(text) <= _letters(font)


def _needed(text: str) -> frozenset[int]:
    return frozenset(ord(each) for each in set(text) if not _is_invisible(each))


@lru_cache(maxsize=MEASURED_TEXTS)
def _font_for(needed: frozenset[int], typeface: Typeface, language: str) -> Font:
    best, best_missing = None, len(needed) + 1
    for font in _candidates(needed, typeface, language):
        if not font.path.exists():
            continue
        missing = len(needed - _letters(font))
        if missing == 0:
            return font
        if missing < best_missing:
            best, best_missing = font, missing
    if best is None:
        sentence = "The fonts for captions are not installed."
        raise MediaError(Reason.TOOL_MISSING, sentence, detail=f"install {PACKAGES}")
    return best


def _candidates(needed: frozenset[int], typeface: Typeface, language: str) -> Iterator[Font]:
    yield from _CHOICES[typeface]
    weight = "Regular" if typeface is Typeface.PLAIN else "Bold"
    bold = weight == "Bold"
    yield Font("Noto Sans", f"truetype/noto/NotoSans-{weight}.ttf", bold)
    for first, last, script, scale, leading in _SCRIPTS:
        if any(first <= code <= last for code in needed):
            file = f"truetype/noto/NotoSans{script}-{weight}.ttf"
            yield Font(f"Noto Sans {script}", file, bold, scale=scale, leading=leading)
    face, country = _HAN_FACES.get(language) or _HAN_FACES.get(language.partition("-")[0].lower()) or _HAN_FACES["ja"]
    file = f"opentype/noto/NotoSansCJK-{weight}.ttc"
    yield Font(f"Noto Sans CJK {country}", file, bold, face, scale=0.9, leading=1.2)


def _is_invisible(character: str) -> bool:
    return character.isspace() or unicodedata.category(character) in {"Cf", "Cc"}


@lru_cache(maxsize=MEASURED_TEXTS)
def measure(text: str, font: Font) -> Ink:
    """The room that a text takes at a size of one em, its scale included; libass finds missing letters elsewhere."""
    import uharfbuzz as hb  # noqa: PLC0415 (loaded where captions are made only)

    shaper = shaper_of(font)
    buffer = hb.Buffer()
    buffer.add_str(text[:LONGEST_TEXT_CHARACTERS])
    buffer.guess_segment_properties()
    hb.shape(shaper, buffer, {"kern": True, "liga": True})
    unit = font.scale / shaper.face.upem
    advance, top, bottom = 0.0, 0.0, 0.0
    for info, position in zip(buffer.glyph_infos, buffer.glyph_positions, strict=True):
        if info.codepoint == 0:
            advance += shaper.face.upem
            continue
        advance += position.x_advance
        extents = shaper.get_glyph_extents(info.codepoint)
        if extents is not None and extents.height:
            top = max(top, position.y_offset + extents.y_bearing)
            bottom = max(bottom, -(position.y_offset + extents.y_bearing + extents.height))
    return Ink(advance * unit, top * unit, bottom * unit)


@cache
def metrics(font: Font) -> Metrics:
    """From the table that Windows reads, because libass follows what Windows does."""
    face = shaper_of(font).face
    table = face.reference_table("OS/2").data
    ascent, descent = struct.unpack_from(">HH", table, 74)
    (capital,) = struct.unpack_from(">h", table, 88) if len(table) >= 90 else (0,)
    unit = font.scale / face.upem
    return Metrics(ascent * unit, descent * unit, (capital or 0.72 * face.upem) * unit)


@cache
def _letters(font: Font) -> frozenset[int]:
    return frozenset(shaper_of(font).face.unicodes)


@cache
def shaper_of(font: Font) -> "hb.Font":
    """HarfBuzz's own font, in its own units."""
    import uharfbuzz as hb  # noqa: PLC0415

    return hb.Font(hb.Face(hb.Blob.from_file_path(str(font.path)), font.face))
