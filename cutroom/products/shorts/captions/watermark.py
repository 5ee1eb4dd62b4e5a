"""Writes the watermark of an output as an ASS file, which is burned in together with the captions."""

from collections.abc import Sequence
from dataclasses import dataclass

from cutroom.engines.types import TimeSpan
from cutroom.media.fonts import Typeface, measure, metrics, select_font
from cutroom.products.shorts.captions.ass import ass_document, ass_event, ass_style
from cutroom.products.shorts.captions.safe_zones import FrameRegion, safe_zone_for
from cutroom.products.shorts.captions.styles import REFERENCE_PIXELS

TEXT = "Made with Cutroom"
# In pixels for a frame whose shorter side is 1080.
SIZE = 34
OUTLINE = 2.5
STYLE = "watermark"
# 80 % opaque white with a dark outline: legible on any picture, and quieter than the captions.
PAINT = r"\1c&HFFFFFF&\1a&H33&\3c&H000000&\3a&H66&\blur0.8"


@dataclass(frozen=True, slots=True)
class Watermark:
    """The ASS file, and the box of the text in the frame."""

    ass: str
    box: FrameRegion


def write_watermark(
    width: int, height: int, *, seconds: float, occupied: Sequence[tuple[TimeSpan, FrameRegion]] = ()
) -> Watermark:
    """A watermark for the whole output, in the corner of the safe zone that covers captions and faces least."""
    font = select_font(TEXT, Typeface.STRONG, language="en")
    unit = min(width, height) / REFERENCE_PIXELS
    em, padding = SIZE * unit, OUTLINE * unit
    heights = metrics(font)
    line = (heights.ascent + heights.descent) * em  # libass defines the font size as the height of the line
    box_width = (measure(TEXT, font).advance * em + 2 * padding) / width
    box = _least_occupied_corner(safe_zone_for(width, height).safe, box_width, (line + 2 * padding) / height, occupied)
    x, y = (box.left + box.right) / 2 * width, (box.top + box.bottom) / 2 * height
    tags = rf"\pos({x:.2f},{y:.2f})\fs{line:.2f}\bord{padding:.2f}{PAINT}"
    event = ass_event(0, TimeSpan(0.0, seconds), STYLE, f"{{{tags}}}{TEXT}")
    return Watermark(ass_document(width, height, styles=ass_style(STYLE, font), events=event), box)


def _least_occupied_corner(
    safe: FrameRegion, width: float, height: float, occupied: Sequence[tuple[TimeSpan, FrameRegion]]
) -> FrameRegion:
    """The first corner, from the top left, with the smallest overlap over time."""
    corners = [
        FrameRegion(left, top, left + width, top + height)
        for top in (safe.top, safe.bottom - height)
        for left in (safe.left, safe.right - width)
    ]

    def covered(corner: FrameRegion) -> float:
        return sum(corner.common_area(box) * (span.end_seconds - span.start_seconds) for span, box in occupied)

    return min(corners, key=lambda corner: round(covered(corner), 9))
