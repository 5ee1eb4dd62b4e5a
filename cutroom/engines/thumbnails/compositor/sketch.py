"""A layout before its headline is written, and how one becomes a thumbnail that can be shown."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import cv2
import numpy as np

from cutroom.engines.thumbnails.compositor.grounds import head_of
from cutroom.engines.thumbnails.compositor.headline import MAX_LINES, MIN_LETTER, Setting, lay_out
from cutroom.engines.thumbnails.compositor.subjects import PERHAPS_SCORE, find_faces
from cutroom.engines.thumbnails.compositor.writing import Hand, Written, Zone, room_for, spaced, write
from cutroom.engines.thumbnails.port import THUMBNAIL_HEIGHT, THUMBNAIL_WIDTH, RenderedThumbnail
from cutroom.engines.types import Box
from cutroom.engines.vision.port import FaceDetector
from cutroom.engines.vision.saliency import interest

if TYPE_CHECKING:
    from cutroom.engines.thumbnails.compositor.colour import Canvas
    from cutroom.engines.thumbnails.port import ThumbnailSpec

MARGIN = 44  # pixels that letters stay away from the edges
DURATION = Box(1080, 640, 200, 80)  # where players write how long a film is
EDGE_SHARE = 0.01  # nearer than that, an edge cuts a face: its box ends where the chin does, and before the ears
GOOD_LETTER = 120.0
GOOD_CONTRAST = 7.0
EYE_WEIGHT = 0.8
HIDDEN_COST = 0.3  # of a score, where letters hide what is to be seen


@dataclass(frozen=True, slots=True)
class Sketch:
    """A picture with room for a headline in one of several zones; faces are in pixels.

    `worth` says how well this kind of layout works where everything else is equal.
    """

    layout: str
    canvas: "Canvas"
    hand: Hand
    zones: tuple[Zone, ...] = ()
    faces: tuple[Box, ...] = ()
    worth: float = 0.5
    max_lines: int = MAX_LINES
    shaded: bool = False  # whether the zone that is taken is to be calmed first
    thing: Box | None = None  # what is to be seen, where there is no face
    kept_free: tuple[Box, ...] = field(default=())  # what no letter may stand on, beside faces


def finish(
    sketch: Sketch, design: "ThumbnailSpec", finder: FaceDetector, *, least: float = MIN_LETTER
) -> RenderedThumbnail | None:
    """Write the headline where it is read best; nothing where that cannot be done without hiding a face."""
    canvas = sketch.canvas.copy()
    written, setting, hidden = None, None, 0.0
    if design.headline:
        chosen = _choose_zone(sketch, design, least=least)
        if chosen is None:
            return None
        zone, setting, hidden = chosen
        if sketch.shaded:
            _calm(canvas, zone, setting)
        written = write(canvas, setting, zone, sketch.hand)
    picture = np.clip(np.rint(canvas), 0, 255).astype(np.uint8)
    faces = find_faces(picture, finder, least=PERHAPS_SCORE)
    if written is not None and _hides(written, [*faces, *sketch.kept_free]):
        return None
    return RenderedThumbnail(
        picture=picture,
        score=max(0.0, _score(sketch, written, setting, faces) - (HIDDEN_COST * hidden if sketch.thing else 0.0)),
        layout=sketch.layout,
        headline=setting.text if setting else None,
        contrast=written.contrast if written else None,
        headline_box=_in_shares(written.box) if written else None,
        faces=tuple(_in_shares(box) for box in faces),
    )


def _choose_zone(sketch: Sketch, design: "ThumbnailSpec", *, least: float) -> tuple[Zone, Setting, float] | None:
    """The zone in which the headline is largest and hides least, and how much it hides there."""
    eye = interest(np.clip(sketch.canvas, 0, 255).astype(np.uint8))
    size = THUMBNAIL_WIDTH // 8, THUMBNAIL_HEIGHT // 8
    eye = cv2.resize(eye, size, interpolation=cv2.INTER_LINEAR).astype(np.float32)
    total = float(eye.sum()) or 1.0
    best: tuple[float, Zone, Setting, float] | None = None
    for zone in sketch.zones:
        width, height = room_for(zone, sketch.hand.ground)
        setting = lay_out(
            design.headline or "",
            language=design.language,
            width=width,
            height=height / (1.3 if sketch.hand.ground.value == "label" else 1.0),
            max_lines=sketch.max_lines,
            least=least,
        )
        if setting is None:
            continue
        setting = spaced(setting, sketch.hand.ground)
        left, top = zone.x / 8, (zone.y + (zone.height - setting.height) * zone.down) / 8
        part = eye[max(0, int(top)) : int(top + setting.height / 8), max(0, int(left)) : int(left + zone.width / 8)]
        hidden = float(part.sum()) / total
        if sketch.thing is not None:
            # The letters' own width counts: a short headline in a wide zone may leave the thing free.
            x = zone.x + (zone.width - setting.width) * zone.across
            y = zone.y + (zone.height - setting.height) * zone.down
            hidden = 0.3 * hidden + 0.9 * _covered(Box(x, y, setting.width, setting.height), sketch.thing)
        rank = min(1.0, setting.letter / GOOD_LETTER) * (1.0 if setting.is_whole else 0.75) - EYE_WEIGHT * hidden
        if best is None or rank > best[0]:
            best = rank, zone, setting, hidden
    return best[1:] if best else None


def _covered(by: Box, box: Box) -> float:
    across = min(by.x + by.width, box.x + box.width) - max(by.x, box.x)
    down = min(by.y + by.height, box.y + box.height) - max(by.y, box.y)
    return max(0.0, across) * max(0.0, down) / max(1.0, box.width * box.height)


def _calm(canvas: "Canvas", zone: Zone, setting: Setting) -> None:
    """Darken softly behind the headline, from the nearest edge on."""
    down, across = np.mgrid[0:THUMBNAIL_HEIGHT, 0:THUMBNAIL_WIDTH].astype(np.float32)
    middle_x = zone.x + zone.width / 2
    if zone.width > 0.7 * THUMBNAIL_WIDTH:
        top = zone.y + (zone.height - setting.height) * zone.down
        reach = setting.height + 160
        weight = (down - (top - 110)) / reach if zone.y > THUMBNAIL_HEIGHT / 3 else (top + reach - down) / reach
        weight = np.clip(weight * 1.5, 0, 1)
    else:
        reach = zone.width + 220
        weight = (zone.x + zone.width + 180 - across) / reach
        if middle_x > THUMBNAIL_WIDTH / 2:
            weight = (across - (zone.x - 180)) / reach
        weight = np.clip(weight * 1.35, 0, 1)
    smooth = weight * weight * (3 - 2 * weight)
    canvas *= (1 - 0.72 * smooth)[..., None]


def _hides(written: Written, faces: Sequence[Box]) -> bool:
    for face in faces:
        top, left = max(0, int(face.y)), max(0, int(face.x))
        part = written.letters[top : int(face.y + face.height), left : int(face.x + face.width)]
        if part.any():
            return True
    return False


def is_cut(face: Box) -> bool:
    """Whether an edge of the thumbnail goes through a face, in shares of it."""
    edges = face.x, face.y, 1 - face.x - face.width, 1 - face.y - face.height
    return min(edges) < EDGE_SHARE


def _score(sketch: Sketch, written: Written | None, setting: Setting | None, faces: Sequence[Box]) -> float:
    """From 0 to 1: how it is read, how faces are shown, how lively it is, and what kind of layout it is."""
    score = 0.3 * sketch.worth
    if written is not None and setting is not None:
        score += 0.26 * min(1.0, setting.letter / GOOD_LETTER) * (1.0 if setting.is_whole else 0.7)
        score += 0.08 * min(1.0, written.contrast / GOOD_CONTRAST)
        score -= 0.06 * bool(_covered(written.box, DURATION))
    else:
        score += 0.34
    if faces:
        tall = max(face.height for face in faces) / THUMBNAIL_HEIGHT
        score += 0.22 * min(1.0, tall / 0.3)
        score -= 0.5 * sum(is_cut(_in_shares(face)) for face in faces)
        score -= 0.1 if any(head_of(face).y < -8 for face in faces if face.height > 0.15 * THUMBNAIL_HEIGHT) else 0.0
    elif sketch.faces:
        score -= 0.1  # there was one, and it cannot be told any more
    else:
        score += 0.12
    score += 0.14 * min(1.0, _colourfulness(sketch.canvas) / 60)
    return float(min(1.0, max(0.0, score)))


def _colourfulness(canvas: "Canvas") -> float:
    """After Hasler and Suesstrunk: how far colours are from grey, and from each other."""
    small = cv2.resize(canvas, (128, 72), interpolation=cv2.INTER_AREA)
    one = small[..., 0] - small[..., 1]
    two = (small[..., 0] + small[..., 1]) / 2 - small[..., 2]
    return float(np.hypot(one.std(), two.std()) + 0.3 * np.hypot(one.mean(), two.mean()))


def _in_shares(box: Box) -> Box:
    """Of the thumbnail, and inside of it."""
    left, top = max(0.0, box.x / THUMBNAIL_WIDTH), max(0.0, box.y / THUMBNAIL_HEIGHT)
    right = min(1.0, (box.x + box.width) / THUMBNAIL_WIDTH)
    bottom = min(1.0, (box.y + box.height) / THUMBNAIL_HEIGHT)
    return Box(left, top, max(0.0, right - left), max(0.0, bottom - top))
