"""Places captions inside platform safe zones and away from faces."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

FACE_MARGIN = 0.012  # minimum distance between a face and the text, as a fraction of the height


class CaptionPosition(StrEnum):
    """Requested caption position."""

    TOP = "top"
    MIDDLE = "middle"
    BOTTOM = "bottom"


@dataclass(frozen=True, slots=True)
class FrameRegion:
    """A region of the frame, as fractions of its width and height from the top left corner."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def height(self) -> float:
        return self.bottom - self.top

    @property
    def area(self) -> float:
        return max(0.0, self.right - self.left) * max(0.0, self.bottom - self.top)

    def common_area(self, other: "FrameRegion") -> float:
        """Area of the intersection."""
        left, right = max(self.left, other.left), min(self.right, other.right)
        top, bottom = max(self.top, other.top), min(self.bottom, other.bottom)
        return max(0.0, right - left) * max(0.0, bottom - top)

    def is_inside(self, other: "FrameRegion", *, tolerance: float = 1e-6) -> bool:
        return (
            self.left >= other.left - tolerance
            and self.top >= other.top - tolerance
            and self.right <= other.right + tolerance
            and self.bottom <= other.bottom + tolerance
        )

    def moved_to(self, top: float) -> "FrameRegion":
        """The same box with another top edge."""
        return FrameRegion(self.left, top, self.right, top + self.height)


@dataclass(frozen=True, slots=True)
class SafeZone:
    """The safe area of a frame; `text_width` is the maximum width of centered lines, as a fraction of the frame width.

    `scale` reduces the text size for wide frames, which are watched on larger screens.
    """

    safe: FrameRegion
    text_width: float
    scale: float = 1.0


# Platforms cover the top with tabs and search, the bottom with names and descriptions, the right with buttons.
PORTRAIT = SafeZone(FrameRegion(0.06, 0.12, 0.88, 0.78), text_width=0.76)
SQUARE = SafeZone(FrameRegion(0.06, 0.07, 0.94, 0.90), text_width=0.84, scale=0.9)
# Players cover the bottom with their controls; longer lines would be hard to read.
WIDE = SafeZone(FrameRegion(0.06, 0.07, 0.94, 0.89), text_width=0.7, scale=0.78)


# A list of covers shows nothing over them, and crops 9:16 to 3:4.
PORTRAIT_COVER = SafeZone(FrameRegion(0.06, 0.13, 0.94, 0.87), text_width=0.84)


def cover_zone_for(width: int, height: int) -> SafeZone:
    """Where the title of a cover of this size may lie."""
    zone = safe_zone_for(width, height)
    return PORTRAIT_COVER if zone is PORTRAIT else zone


def safe_zone_for(width: int, height: int) -> SafeZone:
    """The zone of the closest supported aspect ratio."""
    if width < 0.8 * height:
        return PORTRAIT
    return SQUARE if width < 1.3 * height else WIDE


def place_block(
    position: CaptionPosition,
    zone: SafeZone,
    *,
    width: float,
    height: float,
    faces: Sequence[FrameRegion] = (),
    previous: FrameRegion | None = None,
) -> FrameRegion:
    """Places a text block of this size (in fractions) inside the zone, away from faces if possible.

    In order of preference: the previous block's position, so that consecutive captions do not jump; the requested one;
    the closest free position to it; and the position that covers the faces least.
    """
    preferred = _preferred_box(position, zone, width=width, height=height)
    if previous is not None:
        unmoved = preferred.moved_to(_clamp_top(_aligned_top(position, previous, height=height), zone, height=height))
        if covered_area(unmoved, faces) == 0:
            return unmoved
    if covered_area(preferred, faces) == 0:
        return preferred
    edges = [face.top - FACE_MARGIN * 1.01 - height for face in faces]
    edges += [face.bottom + FACE_MARGIN * 1.01 for face in faces]
    edges += [zone.safe.top, zone.safe.bottom - height]
    boxes = [preferred, *(preferred.moved_to(_clamp_top(edge, zone, height=height)) for edge in edges)]
    return min(boxes, key=lambda box: (round(covered_area(box, faces), 6), abs(box.top - preferred.top)))


def _preferred_box(position: CaptionPosition, zone: SafeZone, *, width: float, height: float) -> FrameRegion:
    tops = {
        CaptionPosition.TOP: zone.safe.top,
        CaptionPosition.MIDDLE: 0.5 - height / 2,
        CaptionPosition.BOTTOM: zone.safe.bottom - height,
    }
    top = _clamp_top(tops[position], zone, height=height)
    return FrameRegion(0.5 - width / 2, top, 0.5 + width / 2, top + height)


def _aligned_top(position: CaptionPosition, previous: FrameRegion, *, height: float) -> float:
    """Keeps the anchor edge, or center, of the previous block, whatever the number of lines."""
    if position is CaptionPosition.TOP:
        return previous.top
    if position is CaptionPosition.BOTTOM:
        return previous.bottom - height
    return (previous.top + previous.bottom - height) / 2


def _clamp_top(top: float, zone: SafeZone, *, height: float) -> float:
    return max(zone.safe.top, min(top, zone.safe.bottom - height))


def covered_area(box: FrameRegion, faces: Sequence[FrameRegion]) -> float:
    """Area of the faces, with a margin, that a block covers."""
    padded = FrameRegion(box.left, box.top - FACE_MARGIN, box.right, box.bottom + FACE_MARGIN)
    return sum(padded.common_area(face) for face in faces)
