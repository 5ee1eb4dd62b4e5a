"""Where captions may stand: clear of what platforms lay over a picture, and of faces."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

FACE_MARGIN = 0.012  # of the height, between a face and the text


class Position(StrEnum):
    """Where a caller wants captions."""

    TOP = "top"
    MIDDLE = "middle"
    BOTTOM = "bottom"


@dataclass(frozen=True, slots=True)
class Area:
    """A part of the picture, in shares of its width and height from the upper left corner."""

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

    def common_area(self, other: "Area") -> float:
        """How much two boxes share."""
        left, right = max(self.left, other.left), min(self.right, other.right)
        top, bottom = max(self.top, other.top), min(self.bottom, other.bottom)
        return max(0.0, right - left) * max(0.0, bottom - top)

    def is_inside(self, other: "Area", *, tolerance: float = 1e-6) -> bool:
        return (
            self.left >= other.left - tolerance
            and self.top >= other.top - tolerance
            and self.right <= other.right + tolerance
            and self.bottom <= other.bottom + tolerance
        )

    def moved_to(self, top: float) -> "Area":
        """The same box with another upper edge."""
        return Area(self.left, top, self.right, top + self.height)


@dataclass(frozen=True, slots=True)
class Zone:
    """The safe part of a picture; `text_width` is the share that lines centred in the picture may take of it.

    `scale` makes text smaller where people sit closer to a picture that is wide for its height.
    """

    safe: Area
    text_width: float
    scale: float = 1.0


# Platforms cover the top with tabs and search, the bottom with names and descriptions, the right with buttons.
PORTRAIT = Zone(Area(0.06, 0.12, 0.88, 0.78), text_width=0.76)
SQUARE = Zone(Area(0.06, 0.07, 0.94, 0.90), text_width=0.84, scale=0.9)
# Players cover the lower edge with their bar; longer lines would be hard to follow.
WIDE = Zone(Area(0.06, 0.07, 0.94, 0.89), text_width=0.7, scale=0.78)


def zone_for(width: int, height: int) -> Zone:
    """The zone of the nearest of the three shapes that shorts have."""
    if width < 0.8 * height:
        return PORTRAIT
    return SQUARE if width < 1.3 * height else WIDE


def place(
    position: Position,
    zone: Zone,
    *,
    width: float,
    height: float,
    faces: Sequence[Area] = (),
    previous: Area | None = None,
) -> Area:
    """The box of a text block of this size (in shares), inside the zone and off the faces as far as can be.

    The previous block's place comes first, so that captions that follow each other do not jump; then the place that
    was asked for; then the free place nearest to it; and if there is none, the one that covers least of the faces.
    """
    asked = _asked(position, zone, width=width, height=height)
    if previous is not None:
        kept = asked.moved_to(_within(_kept_top(position, previous, height=height), zone, height=height))
        if _covered(kept, faces) == 0:
            return kept
    if _covered(asked, faces) == 0:
        return asked
    edges = [face.top - FACE_MARGIN * 1.01 - height for face in faces]
    edges += [face.bottom + FACE_MARGIN * 1.01 for face in faces]
    edges += [zone.safe.top, zone.safe.bottom - height]
    boxes = [asked, *(asked.moved_to(_within(edge, zone, height=height)) for edge in edges)]
    return min(boxes, key=lambda box: (round(_covered(box, faces), 6), abs(box.top - asked.top)))


def _asked(position: Position, zone: Zone, *, width: float, height: float) -> Area:
    tops = {
        Position.TOP: zone.safe.top,
        Position.MIDDLE: 0.5 - height / 2,
        Position.BOTTOM: zone.safe.bottom - height,
    }
    top = _within(tops[position], zone, height=height)
    return Area(0.5 - width / 2, top, 0.5 + width / 2, top + height)


def _kept_top(position: Position, previous: Area, *, height: float) -> float:
    """Blocks of one and of two lines share the edge, or the middle, by which they hang."""
    if position is Position.TOP:
        return previous.top
    if position is Position.BOTTOM:
        return previous.bottom - height
    return (previous.top + previous.bottom - height) / 2


def _within(top: float, zone: Zone, *, height: float) -> float:
    return max(zone.safe.top, min(top, zone.safe.bottom - height))


def _covered(box: Area, faces: Sequence[Area]) -> float:
    """How much of the faces, with a little room around them, a block covers."""
    wide = Area(box.left, box.top - FACE_MARGIN, box.right, box.bottom + FACE_MARGIN)
    return sum(wide.common_area(face) for face in faces)
