"""Writes captions as a file for libass, in which every word stands where we measured it.

Each word is an event of its own at a place of its own: libass breaks no line, orders no words and moves nothing, so
that a word can change its colour in any script without being shaped anew, and the boxes we tell are the boxes seen.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from cutroom.engines.types import TimeSpan
from cutroom.media.fonts import Font
from cutroom.products.shorts.captions.layout import Block, PlacedWord, Typesetter, lay_out, typesetter
from cutroom.products.shorts.captions.lines import FLICKER_SECONDS, PAUSE_SECONDS, Screen
from cutroom.products.shorts.captions.looks import BLACK, STYLES, Look, Pace, Plate, Style
from cutroom.products.shorts.captions.text import escape
from cutroom.products.shorts.captions.zones import Area, Position, place, zone_for
from cutroom.products.transcripts.scripts import SPACELESS
from cutroom.text.writing_systems import base_of

POP_MILLISECONDS = 90
TIGHT_PAD = 4  # of a plate, to the left and right of a word that touches its neighbours
# What lies over what.
BLOCK_LAYER, SHADOW_LAYER, PLATE_LAYER, TEXT_LAYER, CURRENT_LAYER = range(5)
# The base direction that libass takes from a style's encoding: Arabic's is right to left, that of Latin left to right.
_RIGHT_TO_LEFT_ENCODING, _LEFT_TO_RIGHT_ENCODING = 178, 0
_QUARTER_CIRCLE = 0.5523  # how far a Bézier curve's handles lie for a quarter of a circle

# Kerning is off in libass unless asked for. Line breaks are ours. Colours stay as they are written.
_HEAD = """[Script Info]
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
    """The file, and where each screen stands while it is shown: text, outline and plate, without soft shadows."""

    ass: str
    boxes: tuple[tuple[TimeSpan, Area], ...]


def write_captions(
    screens: Sequence[Screen],
    *,
    look: Look,
    position: Position,
    width: int,
    height: int,
    language: str,
    faces: Sequence[tuple[TimeSpan, Area]] = (),
) -> CaptionTrack:
    """Captions for a picture of this size; they keep off the faces, which are told with the times they are seen."""
    style = STYLES[look]
    words = [word for screen in screens for word in screen.words]
    if not words:
        return CaptionTrack(_HEAD.format(width=width, height=height) + _EVENTS, ())
    setter = typesetter(words, style, width=width, height=height, language=language)
    writer = _Writer(setter)
    boxes: list[tuple[TimeSpan, Area]] = []
    for screen in screens:
        block = lay_out(screen.lines, setter)
        span = TimeSpan(screen.start_seconds, screen.end_seconds)
        box = place(
            position,
            zone_for(width, height),
            width=block.width / width,
            height=block.height / height,
            faces=[face for seen, face in faces if _overlap(seen, span)],
            previous=boxes[-1][1] if boxes and _follows(boxes[-1][0], span) else None,
        )
        writer.write(screen, block, x=width / 2, y=box.top * height)
        boxes.append((span, box))
    ass = _HEAD.format(width=width, height=height) + writer.styles() + _EVENTS + writer.events()
    return CaptionTrack(ass, tuple(boxes))


def _overlap(one: TimeSpan, other: TimeSpan) -> bool:
    return one.start_seconds < other.end_seconds and other.start_seconds < one.end_seconds


def _follows(one: TimeSpan, other: TimeSpan) -> bool:
    """After a pause nobody sees captions jump."""
    return other.start_seconds - one.end_seconds <= PAUSE_SECONDS


class _Writer:
    """Collects the events of one track and the styles they use."""

    def __init__(self, setter: Typesetter) -> None:
        self._style: Style = setter.style
        self._font = setter.font
        self._unit = setter.unit
        # Where no blank parts words, a plate as wide as elsewhere would lie over its neighbours.
        self._tight = base_of(setter.language) in SPACELESS
        self._styles: dict[tuple[Font, bool], str] = {}
        self._events: list[str] = []

    def styles(self) -> str:
        lines = []
        for (font, right_to_left), name in self._styles.items():
            encoding = _RIGHT_TO_LEFT_ENCODING if right_to_left else _LEFT_TO_RIGHT_ENCODING
            bold = -1 if font.bold else 0
            colours = "&H00FFFFFF,&H00FFFFFF,&H00000000,&H00000000"
            lines.append(
                f"Style: {name},{font.family},20,{colours},{bold},0,0,0,100,100,0,0,1,0,0,5,0,0,0,{encoding}\n"
            )
        return "".join(lines)

    def events(self) -> str:
        return "".join(self._events)

    def write(self, screen: Screen, block: Block, *, x: float, y: float) -> None:
        span = TimeSpan(screen.start_seconds, screen.end_seconds)
        if plate := self._style.block_plate:
            half = block.width / 2
            self._plate(plate, span, x=(x - half, x + half), y=(y + block.top, y + block.bottom))
        spoken = spoken_spans(screen)
        for word, current in zip(block.words, spoken, strict=True):
            self._shadows(word, span, x=x, y=y)
            if self._style.pace is Pace.WORD:
                self._write_current(word, span, current, x=x, y=y)
            elif self._style.pace is Pace.SWEEP:
                self._text(TEXT_LAYER, span, word, self._sweep(word, span), x=x, y=y)
            else:
                self._text(TEXT_LAYER, span, word, self._paint(self._style.fill) + self._pop(), x=x, y=y)

    def _write_current(self, word: PlacedWord, span: TimeSpan, current: TimeSpan, *, x: float, y: float) -> None:
        """A word before, while and after it is said."""
        style = self._style
        rest = self._paint(style.fill, opacity=style.fill_opacity)
        self._text(TEXT_LAYER, TimeSpan(span.start_seconds, current.start_seconds), word, rest, x=x, y=y)
        grown = f"\\fscx{style.current_scale * 100:.0f}\\fscy{style.current_scale * 100:.0f}"
        grow = f"\\t(0,{POP_MILLISECONDS},{grown})" if style.current_scale != 1 else ""
        if plate := style.word_plate:
            half = word.width / 2 + (TIGHT_PAD if self._tight else plate.pad_x) * self._unit
            sides = (x + word.middle_x - half, x + word.middle_x + half)
            # Few words reach all the way down; the others would seem to hang too high in a box that does.
            ends = (y + word.baseline_y - word.above, y + word.baseline_y + 0.7 * word.below)
            self._plate(plate, current, x=sides, y=ends, layer=PLATE_LAYER)
        self._text(CURRENT_LAYER, current, word, self._paint(style.current) + grow, x=x, y=y)
        self._text(TEXT_LAYER, TimeSpan(current.end_seconds, span.end_seconds), word, rest, x=x, y=y)

    def _sweep(self, word: PlacedWord, span: TimeSpan) -> str:
        """Filled from left to right while it is said; words of the other direction at once: libass cannot sweep so."""
        wait = _centiseconds(word.word.start_seconds) - _centiseconds(span.start_seconds)
        length = _centiseconds(word.word.end_seconds) - _centiseconds(word.word.start_seconds)
        kind = "k" if word.right_to_left else "kf"
        before = f"\\2c{_colour(self._style.fill)}"
        return f"{self._paint(self._style.current)}{before}\\k{wait}\\{kind}{max(1, length)}"

    def _shadows(self, word: PlacedWord, span: TimeSpan, *, x: float, y: float) -> None:
        for shadow in self._style.shadows:
            alpha = _alpha(shadow.opacity)
            # Only the shadow is drawn: in one piece, where letters and outline would each have a soft edge.
            tags = f"\\1a&HFF&\\3a&HFF&\\4a{alpha}\\4c{_colour(BLACK)}\\bord{_number(shadow.grow * self._unit)}"
            tags += f"\\xshad0.01\\yshad{_number(max(0.01, shadow.drop * self._unit))}"
            tags += f"\\blur{_number(shadow.blur * self._unit)}"
            self._text(SHADOW_LAYER, span, word, tags + self._pop(), x=x, y=y)

    def _paint(self, fill: str, *, opacity: float = 1.0) -> str:
        tags = f"\\1c{_colour(fill)}\\1a{_alpha(opacity)}"
        if self._style.outline:
            # A hair of blur keeps the outline from looking cut out.
            tags += f"\\bord{_number(self._style.outline * self._unit)}\\3c{_colour(BLACK)}\\blur0.8"
        return tags

    def _pop(self) -> str:
        scale = self._style.pop_scale * 100
        if scale == 100:
            return ""
        return f"\\fscx{scale:.0f}\\fscy{scale:.0f}\\t(0,{POP_MILLISECONDS},\\fscx100\\fscy100)"

    def _text(self, layer: int, span: TimeSpan, word: PlacedWord, tags: str, *, x: float, y: float) -> None:
        name = self._name(word.font, right_to_left=word.right_to_left)
        where = f"\\pos({_number(x + word.middle_x)},{_number(y + word.middle_y)})\\fs{_number(word.font_size)}"
        self._event(layer, span, name, f"{{{where}{tags}}}{escape(word.text)}")

    def _name(self, font: Font, *, right_to_left: bool) -> str:
        return self._styles.setdefault((font, right_to_left), f"caption{len(self._styles)}")

    def _plate(
        self, plate: Plate, span: TimeSpan, *, x: tuple[float, float], y: tuple[float, float], layer: int = BLOCK_LAYER
    ) -> None:
        pad_y = plate.pad_y * self._unit
        where = f"\\an7\\pos({_number(x[0])},{_number(y[0] - pad_y)})\\p1"
        shape = rounded_box(x[1] - x[0], y[1] - y[0] + 2 * pad_y, radius=plate.radius * self._unit)
        tags = f"{where}\\1c{_colour(plate.colour)}\\1a{_alpha(plate.opacity)}"
        self._event(layer, span, self._name(self._font, right_to_left=False), f"{{{tags}}}{shape}")

    def _event(self, layer: int, span: TimeSpan, style: str, text: str) -> None:
        start, end = _centiseconds(span.start_seconds), _centiseconds(span.end_seconds)
        if start < end:
            self._events.append(f"Dialogue: {layer},{_clock(start)},{_clock(end)},{style},,0,0,0,,{text}\n")


def spoken_spans(screen: Screen) -> Iterator[TimeSpan]:
    """How long each word stands out: until the next begins, for a light that goes off between two words flickers."""
    words = screen.words
    for word, after in pairwise(words):
        pause = after.start_seconds - word.end_seconds
        yield TimeSpan(word.start_seconds, after.start_seconds if pause < FLICKER_SECONDS else word.end_seconds)
    yield TimeSpan(words[-1].start_seconds, screen.end_seconds)


def rounded_box(width: float, height: float, *, radius: float) -> str:
    """A box with round corners, as a drawing of libass."""
    r = min(radius, width / 2, height / 2)
    h = r * (1 - _QUARTER_CIRCLE)
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
    return " ".join(f"{command} {' '.join(_number(each) for each in at)}" for command, at in points)


def _colour(rgb: str) -> str:
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
