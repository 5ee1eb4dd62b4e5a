"""Selects fonts by glyph coverage and measures text for captions and thumbnails.

Text is measured with HarfBuzz, which libass uses too, so kerning, Arabic joins and Thai marks are exact. A table of
widths would miss those, and Pillow would add an imaging library for one number.
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

FONTS_DIR = Path("/usr/share/fonts")
PACKAGES = "fonts-lato fonts-bebas-neue fonts-noto-core fonts-noto-cjk"
CACHED_TEXTS = 4096
MAX_TEXT_CHARACTERS = 500  # bounds the cost of hostile input; displayed words are shorter


class Typeface(StrEnum):
    """Typographic style, for scripts with several fonts."""

    BLACK = "black"
    STRONG = "strong"
    TALL = "tall"
    PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class Font:
    """A font by its fontconfig family name, and its file.

    `scale` makes scripts look equally large at one size; `leading` is the line distance in ems of that size.
    """

    family: str
    file: str
    bold: bool = False
    face: int = 0
    scale: float = 1.0
    leading: float = 1.15

    @property
    def path(self) -> Path:
        return FONTS_DIR / self.file


@dataclass(frozen=True, slots=True)
class FontMetrics:
    """Heights in ems around the baseline; libass defines the font size as `ascent` + `descent`."""

    ascent: float
    descent: float
    cap_height: float


@dataclass(frozen=True, slots=True)
class TextExtents:
    """Size of a text in ems: its advance width, and its extents above and below the baseline."""

    advance: float
    top: float
    bottom: float


_LATO = {name: f"truetype/lato/Lato-{name}.ttf" for name in ("Black", "Heavy", "Medium")}
_BLACK = Font("Lato Black", _LATO["Black"])
_TYPEFACE_FONTS = {
    Typeface.BLACK: (_BLACK,),
    Typeface.STRONG: (Font("Lato Heavy", _LATO["Heavy"]),),
    # Debian's Bebas Neue covers Latin and Cyrillic; Greek and Vietnamese fall back to Lato.
    Typeface.TALL: (Font("Bebas Neue", "opentype/bebas-neue/BebasNeue-Bold.otf", bold=True), _BLACK),
    Typeface.PLAIN: (Font("Lato Medium", _LATO["Medium"]),),
}

# First and last code point of a block, its Noto font, and the font's scale and leading.
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
# Han glyphs vary by region; the face index in Debian's font collection.
_HAN_FACES = {
    "ja": (0, "JP"),
    "ko": (1, "KR"),
    "zh": (2, "SC"),
    "zh-TW": (3, "TC"),
    "zh-HK": (4, "HK"),
    "yue": (4, "HK"),
}


def select_font(text: str, typeface: Typeface, *, language: str) -> Font:
    """The typeface's first font that covers the text, or else the one with the fewest missing glyphs."""
    return _select_font(_required_code_points(text), typeface, language)


def has_glyphs(font: Font, text: str) -> bool:
    """Whether a font covers the whole text."""
    return _required_code_points(text) <= _code_points(font)


def _required_code_points(text: str) -> frozenset[int]:
    return frozenset(ord(each) for each in set(text) if not _is_invisible(each))


@lru_cache(maxsize=CACHED_TEXTS)
def _select_font(required: frozenset[int], typeface: Typeface, language: str) -> Font:
    best, best_missing = None, len(required) + 1
    for font in _candidates(required, typeface, language):
        if not font.path.exists():
            continue
        missing = len(required - _code_points(font))
        if missing == 0:
            return font
        if missing < best_missing:
            best, best_missing = font, missing
    if best is None:
        message = "The fonts for captions are not installed."
        raise MediaError(Reason.TOOL_MISSING, message, detail=f"install {PACKAGES}")
    return best


def all_fonts() -> set[Font]:
    """Every font that a text in some script and typeface may need."""
    every_script = frozenset(first for first, *_ in _SCRIPTS)
    return {font for typeface in Typeface for font in _candidates(every_script, typeface, "ja")}


def _candidates(required: frozenset[int], typeface: Typeface, language: str) -> Iterator[Font]:
    yield from _TYPEFACE_FONTS[typeface]
    weight = "Regular" if typeface is Typeface.PLAIN else "Bold"
    bold = weight == "Bold"
    yield Font("Noto Sans", f"truetype/noto/NotoSans-{weight}.ttf", bold)
    for first, last, script, scale, leading in _SCRIPTS:
        if any(first <= code <= last for code in required):
            file = f"truetype/noto/NotoSans{script}-{weight}.ttf"
            yield Font(f"Noto Sans {script}", file, bold, scale=scale, leading=leading)
    face, country = _HAN_FACES.get(language) or _HAN_FACES.get(language.partition("-")[0].lower()) or _HAN_FACES["ja"]
    file = f"opentype/noto/NotoSansCJK-{weight}.ttc"
    yield Font(f"Noto Sans CJK {country}", file, bold, face, scale=0.9, leading=1.2)


def _is_invisible(character: str) -> bool:
    return character.isspace() or unicodedata.category(character) in {"Cf", "Cc"}


@lru_cache(maxsize=CACHED_TEXTS)
def measure(text: str, font: Font) -> TextExtents:
    """Measures a text at 1 em, including the font's scale; libass substitutes missing glyphs."""
    import uharfbuzz as hb  # noqa: PLC0415 (only the workers that render captions load it)

    hb_font = harfbuzz_font(font)
    buffer = hb.Buffer()
    buffer.add_str(text[:MAX_TEXT_CHARACTERS])
    buffer.guess_segment_properties()
    hb.shape(hb_font, buffer, {"kern": True, "liga": True})
    unit = font.scale / hb_font.face.upem
    advance, top, bottom = 0.0, 0.0, 0.0
    for info, position in zip(buffer.glyph_infos, buffer.glyph_positions, strict=True):
        if info.codepoint == 0:
            advance += hb_font.face.upem
            continue
        advance += position.x_advance
        extents = hb_font.get_glyph_extents(info.codepoint)
        if extents is not None and extents.height:
            top = max(top, position.y_offset + extents.y_bearing)
            bottom = max(bottom, -(position.y_offset + extents.y_bearing + extents.height))
    return TextExtents(advance * unit, top * unit, bottom * unit)


@cache
def metrics(font: Font) -> FontMetrics:
    """From the OS/2 table, because libass follows Windows."""
    face = harfbuzz_font(font).face
    table = face.reference_table("OS/2").data
    ascent, descent = struct.unpack_from(">HH", table, 74)
    (cap_height,) = struct.unpack_from(">h", table, 88) if len(table) >= 90 else (0,)
    unit = font.scale / face.upem
    return FontMetrics(ascent * unit, descent * unit, (cap_height or 0.72 * face.upem) * unit)


@cache
def _code_points(font: Font) -> frozenset[int]:
    return frozenset(harfbuzz_font(font).face.unicodes)


@cache
def harfbuzz_font(font: Font) -> "hb.Font":
    """The HarfBuzz font, unscaled."""
    import uharfbuzz as hb  # noqa: PLC0415

    return hb.Font(hb.Face(hb.Blob.from_file_path(str(font.path)), font.face))
