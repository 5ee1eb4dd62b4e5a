"""The seven burned-in caption styles.

Lengths are pixels for a frame whose shorter side is 1080, and scale with that side. Colors are RRGGBB.
"""

from dataclasses import dataclass
from enum import StrEnum

from cutroom.media.fonts import Typeface

REFERENCE_PIXELS = 1080

WHITE = "FFFFFF"
BLACK = "000000"


class CaptionStyle(StrEnum):
    """Caption styles of the API."""

    DEFAULT = "default"
    KARAOKE = "karaoke"
    MODERN = "modern"
    IMPACT = "impact"
    SUBTLE = "subtle"
    HIGHLIGHT = "highlight"
    PRO_HIGHLIGHT = "pro_highlight"


class Highlighting(StrEnum):
    """How captions follow the speech."""

    NONE = "none"
    SWEEP = "sweep"  # words fill with color while spoken, and stay filled
    WORD = "word"  # the spoken word is highlighted


@dataclass(frozen=True, slots=True)
class TextShadow:
    """A soft dark copy under the text: `grow` widens it, `drop` moves it down."""

    opacity: float
    blur: float
    grow: float = 0.0
    drop: float = 0.0


@dataclass(frozen=True, slots=True)
class BackgroundBox:
    """A rounded background box behind a word or the whole block."""

    color: str
    opacity: float
    pad_x: float
    pad_y: float
    radius: float


@dataclass(frozen=True, slots=True)
class StyleSpec:
    """Parameters of a style; `unspaced_columns` is the maximum for scripts without spaces between words."""

    typeface: Typeface
    size: float  # em size
    max_words: int
    max_columns: int
    unspaced_columns: int
    max_lines: int = 2
    word_spacing: float = 0.3  # in ems
    leading: float = 1.0  # relative to the font's leading
    highlighting: Highlighting = Highlighting.NONE
    uppercase: bool = True
    strips_punctuation: bool = False  # trailing commas and full stops of a word
    fill: str = WHITE
    fill_opacity: float = 1.0
    active_color: str = WHITE  # of the spoken word
    active_scale: float = 1.0
    pop_scale: float = 1.0  # initial scale of a new screen
    outline: float = 0.0
    shadows: tuple[TextShadow, ...] = ()
    word_box: BackgroundBox | None = None
    block_box: BackgroundBox | None = None


STYLES = {
    CaptionStyle.DEFAULT: StyleSpec(
        Typeface.BLACK,
        size=98,
        max_words=6,
        max_columns=32,
        unspaced_columns=28,
        outline=7,
        shadows=(TextShadow(opacity=0.55, blur=9, grow=6, drop=7),),
    ),
    CaptionStyle.KARAOKE: StyleSpec(
        Typeface.BLACK,
        size=98,
        max_words=6,
        max_columns=32,
        unspaced_columns=28,
        highlighting=Highlighting.SWEEP,
        active_color="FFD21F",
        outline=7,
        shadows=(TextShadow(opacity=0.45, blur=7, grow=6, drop=5),),
    ),
    CaptionStyle.MODERN: StyleSpec(
        Typeface.BLACK,
        size=106,
        max_words=4,
        max_columns=24,
        unspaced_columns=20,
        word_spacing=0.34,
        highlighting=Highlighting.WORD,
        active_color="3DFF8B",
        active_scale=1.06,
        outline=8,
        shadows=(TextShadow(opacity=0.4, blur=16, grow=10),),
    ),
    CaptionStyle.IMPACT: StyleSpec(
        Typeface.TALL,
        size=290,
        max_words=1,
        max_columns=16,
        unspaced_columns=8,
        max_lines=1,
        strips_punctuation=True,
        pop_scale=0.86,
        outline=12,
        shadows=(TextShadow(opacity=0.55, blur=12, grow=10, drop=10),),
    ),
    CaptionStyle.SUBTLE: StyleSpec(
        Typeface.PLAIN,
        size=56,
        max_words=12,
        max_columns=64,
        unspaced_columns=56,
        uppercase=False,
        block_box=BackgroundBox("0B0D12", opacity=0.66, pad_x=30, pad_y=20, radius=18),
    ),
    CaptionStyle.HIGHLIGHT: StyleSpec(
        Typeface.BLACK,
        size=92,
        max_words=5,
        max_columns=32,
        unspaced_columns=26,
        word_spacing=0.36,
        leading=1.24,
        highlighting=Highlighting.WORD,
        uppercase=False,
        fill="D5D9E0",
        fill_opacity=0.82,
        shadows=(TextShadow(opacity=0.75, blur=5, grow=4), TextShadow(opacity=0.55, blur=18, grow=14)),
        word_box=BackgroundBox("5B2BE0", opacity=1.0, pad_x=16, pad_y=14, radius=16),
    ),
    CaptionStyle.PRO_HIGHLIGHT: StyleSpec(
        Typeface.BLACK,
        size=78,
        max_words=4,
        max_columns=24,
        unspaced_columns=20,
        max_lines=1,
        highlighting=Highlighting.WORD,
        uppercase=False,
        active_color="FFC933",
        shadows=(TextShadow(opacity=0.8, blur=4, grow=2.5, drop=2), TextShadow(opacity=0.6, blur=20, grow=14)),
    ),
}
