"""The seven looks of burnt-in captions, as data.

Lengths are pixels on a picture whose shorter side has 1080; other sizes scale with that side. Colours are RRGGBB.
"""

from dataclasses import dataclass
from enum import StrEnum

from cutroom.media.fonts import Typeface

REFERENCE_PIXELS = 1080

WHITE = "FFFFFF"
BLACK = "000000"


class Look(StrEnum):
    """The names that callers know."""

    DEFAULT = "default"
    KARAOKE = "karaoke"
    MODERN = "modern"
    IMPACT = "impact"
    SUBTLE = "subtle"
    HIGHLIGHT = "highlight"
    PRO_HIGHLIGHT = "pro_highlight"


class Pace(StrEnum):
    """How the picture follows the voice."""

    WHOLE = "whole"  # a screen stands still
    SWEEP = "sweep"  # words fill with colour as they are said, and stay so
    WORD = "word"  # the word that is being said stands out


@dataclass(frozen=True, slots=True)
class Shadow:
    """A soft dark copy under the text: `grow` makes it wider than the letters, `drop` moves it down."""

    opacity: float
    blur: float
    grow: float = 0.0
    drop: float = 0.0


@dataclass(frozen=True, slots=True)
class Plate:
    """A filled box with round corners behind a word or behind the whole block."""

    colour: str
    opacity: float
    pad_x: float
    pad_y: float
    radius: float


@dataclass(frozen=True, slots=True)
class Style:
    """What a look is made of; `unspaced_columns` bounds a screen where words are written without blanks."""

    typeface: Typeface
    size: float  # of an em
    most_words: int
    most_columns: int
    unspaced_columns: int
    most_lines: int = 2
    blank: float = 0.3  # between words, in ems
    leading: float = 1.0  # times what the font asks for
    pace: Pace = Pace.WHOLE
    upper: bool = True
    drops_stops: bool = False  # commas and full stops at the end of a word
    fill: str = WHITE
    fill_opacity: float = 1.0
    current: str = WHITE  # the colour of what is being said
    current_scale: float = 1.0
    pop_scale: float = 1.0  # the size from which a new screen grows
    outline: float = 0.0
    shadows: tuple[Shadow, ...] = ()
    word_plate: Plate | None = None
    block_plate: Plate | None = None


STYLES = {
    Look.DEFAULT: Style(
        Typeface.BLACK,
        size=98,
        most_words=6,
        most_columns=32,
        unspaced_columns=28,
        outline=7,
        shadows=(Shadow(opacity=0.55, blur=9, grow=6, drop=7),),
    ),
    Look.KARAOKE: Style(
        Typeface.BLACK,
        size=98,
        most_words=6,
        most_columns=32,
        unspaced_columns=28,
        pace=Pace.SWEEP,
        current="FFD21F",
        outline=7,
        shadows=(Shadow(opacity=0.45, blur=7, grow=6, drop=5),),
    ),
    Look.MODERN: Style(
        Typeface.BLACK,
        size=106,
        most_words=4,
        most_columns=24,
        unspaced_columns=20,
        blank=0.34,
        pace=Pace.WORD,
        current="3DFF8B",
        current_scale=1.06,
        outline=8,
        shadows=(Shadow(opacity=0.4, blur=16, grow=10),),
    ),
    Look.IMPACT: Style(
        Typeface.TALL,
        size=290,
        most_words=1,
        most_columns=16,
        unspaced_columns=8,
        most_lines=1,
        drops_stops=True,
        pop_scale=0.86,
        outline=12,
        shadows=(Shadow(opacity=0.55, blur=12, grow=10, drop=10),),
    ),
    Look.SUBTLE: Style(
        Typeface.PLAIN,
        size=56,
        most_words=12,
        most_columns=64,
        unspaced_columns=56,
        upper=False,
        block_plate=Plate("0B0D12", opacity=0.66, pad_x=30, pad_y=20, radius=18),
    ),
    Look.HIGHLIGHT: Style(
        Typeface.BLACK,
        size=92,
        most_words=5,
        most_columns=32,
        unspaced_columns=26,
        blank=0.36,
        leading=1.24,
        pace=Pace.WORD,
        upper=False,
        fill="D5D9E0",
        fill_opacity=0.82,
        shadows=(Shadow(opacity=0.75, blur=5, grow=4), Shadow(opacity=0.55, blur=18, grow=14)),
        word_plate=Plate("5B2BE0", opacity=1.0, pad_x=16, pad_y=14, radius=16),
    ),
    Look.PRO_HIGHLIGHT: Style(
        Typeface.BLACK,
        size=78,
        most_words=4,
        most_columns=24,
        unspaced_columns=20,
        most_lines=1,
        pace=Pace.WORD,
        upper=False,
        current="FFC933",
        shadows=(Shadow(opacity=0.8, blur=4, grow=2.5, drop=2), Shadow(opacity=0.6, blur=20, grow=14)),
    ),
}
