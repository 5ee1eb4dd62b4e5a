"""Writes captions as an ASS file with a measured position for every word.

Each word is a positioned event of its own, so that libass neither wraps, reorders nor moves anything: a word can change
color in any script without being reshaped, and the reported boxes match the rendered ones.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from cutroom.engines.types import TimeSpan
from cutroom.media.fonts import Font
from cutroom.products.shorts.captions.layout import CaptionBlock, PlacedWord, Typesetter, layout_block, make_typesetter
from cutroom.products.shorts.captions.safe_zones import (
    CaptionPosition,
    FrameRegion,
    SafeZone,
    place_block,
    safe_zone_for,
)
from cutroom.products.shorts.captions.screens import FLICKER_SECONDS, PAUSE_SECONDS, CaptionScreen
from cutroom.products.shorts.captions.styles import BLACK, STYLES, BackgroundBox, CaptionStyle, Highlighting, StyleSpec
from cutroom.products.shorts.captions.text import escape_ass
from cutroom.products.transcripts.text_units import UNSPACED_LANGUAGES
from cutroom.text.writing_systems import primary_language

POP_MILLISECONDS = 90
UNSPACED_PADDING = 4  # horizontal padding of a word box in scripts without spaces
# Stacking order.
BLOCK_BOX_LAYER, SHADOW_LAYER, WORD_BOX_LAYER, TEXT_LAYER, ACTIVE_LAYER = range(5)
# libass derives the base direction from a style's encoding: 178 (Arabic) is right-to-left, 0 left-to-right.
_RIGHT_TO_LEFT_ENCODING, _LEFT_TO_RIGHT_ENCODING = 178, 0
_BEZIER_CIRCLE = 0.5523  # Bézier handle length that approximates a quarter circle

# Enable kerning, which is off by default; no automatic wrapping; no color conversion.
_HEADER = """[Script Info]
ScriptType: v4.00+
PlayResX: {width}
PlayResY: {height}
WrapStyle: 2
ScaledBorderAndShadow: yes
Kerning: yes
YCbCr Matrix: None

[V4+ Styles]
Format: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, Bold, Italic, Underline, \
StrikeOut, ScaleX, ScaleY, Spacing, Angle, BorderStyle, Outline, Shadow, Alignment, MarginL, MarginR, MarginV, Encoding
"""
_EVENTS = """
[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
"""


@dataclass(frozen=True, slots=True)
class CaptionTrack:
    """The ASS file, and the box of each screen: text, outline and background, without soft shadows."""

    ass: str
    boxes: tuple[tuple[TimeSpan, FrameRegion], ...]


def write_captions(
    screens: Sequence[CaptionScreen],
    *,
    caption_style: CaptionStyle,
    position: CaptionPosition,
    width: int,
    height: int,
    language: str,
    faces: Sequence[tuple[TimeSpan, FrameRegion]] = (),
) -> CaptionTrack:
    """Captions for a frame of this size, placed away from the given faces where possible."""
    style = STYLES[caption_style]
    words = [word for screen in screens for word in screen.words]
    if not words:
        return CaptionTrack(ass_document(width, height), ())
    setter = make_typesetter(words, style, width=width, height=height, language=language)
    zone = safe_zone_for(width, height)
    return write_screens(screens, setter, zone, position=position, width=width, height=height, faces=faces)


def write_screens(
    screens: Sequence[CaptionScreen],
    setter: Typesetter,
    zone: SafeZone,
    *,
    position: CaptionPosition,
    width: int,
    height: int,
    faces: Sequence[tuple[TimeSpan, FrameRegion]] = (),
) -> CaptionTrack:
    """The screens in the style of the typesetter, inside the zone."""
    writer = _Writer(setter)
    boxes: list[tuple[TimeSpan, FrameRegion]] = []
    for screen in screens:
        block = layout_block(screen.lines, setter)
        span = TimeSpan(screen.start_seconds, screen.end_seconds)
        box = place_block(
            position,
            zone,
            width=block.width / width,
            height=block.height / height,
            faces=[face for seen, face in faces if _overlap(seen, span)],
            previous=boxes[-1][1] if boxes and _follows(boxes[-1][0], span) else None,
        )
        writer.write(screen, block, x=width / 2, y=box.top * height)
        boxes.append((span, box))
    return CaptionTrack(ass_document(width, height, styles=writer.styles(), events=writer.events()), tuple(boxes))


def ass_document(width: int, height: int, *, styles: str = "", events: str = "") -> str:
    """An ASS file for a frame of this size."""
    return _HEADER.format(width=width, height=height) + styles + _EVENTS + events


def _overlap(one: TimeSpan, other: TimeSpan) -> bool:
    return one.start_seconds < other.end_seconds and other.start_seconds < one.end_seconds


def _follows(one: TimeSpan, other: TimeSpan) -> bool:
    """Captions may move after a pause."""
    return other.start_seconds - one.end_seconds <= PAUSE_SECONDS


class _Writer:
    """Collects the events of one track and their styles."""

    def __init__(self, setter: Typesetter) -> None:
        self._style: StyleSpec = setter.style
        self._font = setter.font
        self._unit = setter.unit
        # Without spaces between words, a box of normal width would cover the neighbors.
        self._tight = primary_language(setter.language) in UNSPACED_LANGUAGES
        self._styles: dict[tuple[Font, bool], str] = {}
        self._events: list[str] = []

    def styles(self) -> str:
        return "".join(
            ass_style(name, font, right_to_left=right_to_left) for (font, right_to_left), name in self._styles.items()
        )

    def events(self) -> str:
        return "".join(self._events)

    def write(self, screen: CaptionScreen, block: CaptionBlock, *, x: float, y: float) -> None:
        span = TimeSpan(screen.start_seconds, screen.end_seconds)
        if box := self._style.block_box:
            half = block.width / 2
            self._box(box, span, x=(x - half, x + half), y=(y + block.top, y + block.bottom))
        spoken = spoken_spans(screen)
        for word, active_span in zip(block.words, spoken, strict=True):
            self._shadows(word, span, x=x, y=y)
            if self._style.highlighting is Highlighting.WORD:
                self._write_active(word, span, active_span, x=x, y=y)
            elif self._style.highlighting is Highlighting.SWEEP:
                self._text(TEXT_LAYER, span, word, self._sweep(word, span), x=x, y=y)
            else:
                self._text(TEXT_LAYER, span, word, self._paint(self._style.fill) + self._pop(), x=x, y=y)

    def _write_active(self, word: PlacedWord, span: TimeSpan, active_span: TimeSpan, *, x: float, y: float) -> None:
        """Writes a word before, while and after it is spoken."""
        style = self._style
        rest = self._paint(style.fill, opacity=style.fill_opacity)
        self._text(TEXT_LAYER, TimeSpan(span.start_seconds, active_span.start_seconds), word, rest, x=x, y=y)
        scale_tags = f"\\fscx{style.active_scale * 100:.0f}\\fscy{style.active_scale * 100:.0f}"
        grow_tag = f"\\t(0,{POP_MILLISECONDS},{scale_tags})" if style.active_scale != 1 else ""
        if box := style.word_box:
            half = word.width / 2 + (UNSPACED_PADDING if self._tight else box.pad_x) * self._unit
            sides = (x + word.middle_x - half, x + word.middle_x + half)
            # Few words have full descenders; without the factor, the others would look too high in their box.
            ends = (y + word.baseline_y - word.above, y + word.baseline_y + 0.7 * word.below)
            self._box(box, active_span, x=sides, y=ends, layer=WORD_BOX_LAYER)
        self._text(ACTIVE_LAYER, active_span, word, self._paint(style.active_color) + grow_tag, x=x, y=y)
        self._text(TEXT_LAYER, TimeSpan(active_span.end_seconds, span.end_seconds), word, rest, x=x, y=y)

    def _sweep(self, word: PlacedWord, span: TimeSpan) -> str:
        """Fills a word while it is spoken; right-to-left words at once, because libass only sweeps left to right."""
        wait = _centiseconds(word.word.start_seconds) - _centiseconds(span.start_seconds)
        length = _centiseconds(word.word.end_seconds) - _centiseconds(word.word.start_seconds)
        karaoke_tag = "k" if word.right_to_left else "kf"
        unsung_color = f"\\2c{_ass_color(self._style.fill)}"
        return f"{self._paint(self._style.active_color)}{unsung_color}\\k{wait}\\{karaoke_tag}{max(1, length)}"

    def _shadows(self, word: PlacedWord, span: TimeSpan, *, x: float, y: float) -> None:
        for shadow in self._style.shadows:
            alpha = _alpha(shadow.opacity)
            # Draw the shadow only: letters and outline would each get a soft edge.
            tags = f"\\1a&HFF&\\3a&HFF&\\4a{alpha}\\4c{_ass_color(BLACK)}\\bord{_number(shadow.grow * self._unit)}"
            tags += f"\\xshad0.01\\yshad{_number(max(0.01, shadow.drop * self._unit))}"
            tags += f"\\blur{_number(shadow.blur * self._unit)}"
            self._text(SHADOW_LAYER, span, word, tags + self._pop(), x=x, y=y)

    def _paint(self, fill: str, *, opacity: float = 1.0) -> str:
        tags = f"\\1c{_ass_color(fill)}\\1a{_alpha(opacity)}"
        if self._style.outline:
            # Slight blur anti-aliases the outline.
            tags += f"\\bord{_number(self._style.outline * self._unit)}\\3c{_ass_color(BLACK)}\\blur0.8"
        return tags

    def _pop(self) -> str:
        scale = self._style.pop_scale * 100
        if scale == 100:
            return ""
        return f"\\fscx{scale:.0f}\\fscy{scale:.0f}\\t(0,{POP_MILLISECONDS},\\fscx100\\fscy100)"

    def _text(self, layer: int, span: TimeSpan, word: PlacedWord, tags: str, *, x: float, y: float) -> None:
        name = self._name(word.font, right_to_left=word.right_to_left)
        position_tags = f"\\pos({_number(x + word.middle_x)},{_number(y + word.middle_y)})\\fs{_number(word.font_size)}"
        self._event(layer, span, name, f"{{{position_tags}{tags}}}{escape_ass(word.text)}")

    def _name(self, font: Font, *, right_to_left: bool) -> str:
        return self._styles.setdefault((font, right_to_left), f"caption{len(self._styles)}")

    def _box(
        self,
        box: BackgroundBox,
        span: TimeSpan,
        *,
        x: tuple[float, float],
        y: tuple[float, float],
        layer: int = BLOCK_BOX_LAYER,
    ) -> None:
        pad_y = box.pad_y * self._unit
        position_tags = f"\\an7\\pos({_number(x[0])},{_number(y[0] - pad_y)})\\p1"
        shape = rounded_box(x[1] - x[0], y[1] - y[0] + 2 * pad_y, radius=box.radius * self._unit)
        tags = f"{position_tags}\\1c{_ass_color(box.color)}\\1a{_alpha(box.opacity)}"
        self._event(layer, span, self._name(self._font, right_to_left=False), f"{{{tags}}}{shape}")

    def _event(self, layer: int, span: TimeSpan, style: str, text: str) -> None:
        self._events.append(ass_event(layer, span, style, text))


def ass_style(name: str, font: Font, *, right_to_left: bool = False) -> str:
    """The line of a style whose text is centered on its position."""
    encoding = _RIGHT_TO_LEFT_ENCODING if right_to_left else _LEFT_TO_RIGHT_ENCODING
    bold = -1 if font.bold else 0
    colors = "&H00FFFFFF,&H00FFFFFF,&H00000000,&H00000000"
    return f"Style: {name},{font.family},20,{colors},{bold},0,0,0,100,100,0,0,1,0,0,5,0,0,0,{encoding}\n"


def ass_event(layer: int, span: TimeSpan, style: str, text: str) -> str:
    """The line of an event; empty if it would last less than a hundredth of a second."""
    start, end = _centiseconds(span.start_seconds), _centiseconds(span.end_seconds)
    return f"Dialogue: {layer},{_clock(start)},{_clock(end)},{style},,0,0,0,,{text}\n" if start < end else ""


def spoken_spans(screen: CaptionScreen) -> Iterator[TimeSpan]:
    """Highlighting period of each word: until the next one starts, to avoid flicker between words."""
    words = screen.words
    for word, after in pairwise(words):
        pause = after.start_seconds - word.end_seconds
        yield TimeSpan(word.start_seconds, after.start_seconds if pause < FLICKER_SECONDS else word.end_seconds)
    yield TimeSpan(words[-1].start_seconds, screen.end_seconds)


def rounded_box(width: float, height: float, *, radius: float) -> str:
    """A rounded rectangle as an ASS drawing."""
    r = min(radius, width / 2, height / 2)
    h = r * (1 - _BEZIER_CIRCLE)
    w, t = width, height
    points = (
        ("m", (r, 0)),
        ("l", (w - r, 0)),
        ("b", (w - h, 0, w, h, w, r)),
        ("l", (w, t - r)),
        ("b", (w, t - h, w - h, t, w - r, t)),
        ("l", (r, t)),
        ("b", (h, t, 0, t - h, 0, t - r)),
        ("l", (0, r)),
        ("b", (0, h, h, 0, r, 0)),
    )
    return " ".join(f"{command} {' '.join(_number(each) for each in coordinates)}" for command, coordinates in points)


def _ass_color(rgb: str) -> str:
    return f"&H{rgb[4:6]}{rgb[2:4]}{rgb[0:2]}&"


def _alpha(opacity: float) -> str:
    return f"&H{round((1 - opacity) * 255):02X}&"


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _centiseconds(seconds: float) -> int:
    return round(seconds * 100)


def _clock(centiseconds: int) -> str:
    seconds, centiseconds = divmod(centiseconds, 100)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}.{centiseconds:02}"
