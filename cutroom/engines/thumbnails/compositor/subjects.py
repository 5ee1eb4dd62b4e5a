"""Whom a thumbnail shows: a subject cut out of its picture, and where it can stand without being cut itself."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import cv2
import numpy as np

from cutroom.engines.thumbnails.port import THUMBNAIL_HEIGHT, THUMBNAIL_WIDTH
from cutroom.engines.types import Box
from cutroom.engines.vision.port import BackgroundRemover, FaceDetector

if TYPE_CHECKING:
    from cutroom.engines.thumbnails.compositor.colour import Canvas, Plane
    from cutroom.engines.types import Image
    from cutroom.engines.vision.port import Mask

FACE_SCORE = 0.7  # from which a finding counts as a face
PERHAPS_SCORE = 0.55  # from which it may be one, an animal's among them: worth keeping whole
MIN_AREA, MAX_AREA = 0.03, 0.85  # of a picture that a subject covers
MIN_SOLID = 0.75  # of a mask that is nearly all or nothing: else nobody could tell what the subject is
PART_SHARE = 0.08  # of the largest part, from which another part belongs to the subject
EDGE_SHARE = 0.05  # of a side that a subject touches, from which the picture's edge cuts it
MAX_ENLARGED = 2.6
HEADROOM = 0.045  # of the height, above the hair
FACE_HEIGHT = 0.40  # of the picture's height: as large as a face is shown
OUTLINE_PIXELS = 7
SOFT_PIXELS = 48  # over which a subject that was cut fades away


@dataclass(frozen=True, slots=True)
class Subject:
    """A subject and nothing else; boxes of faces are in its own pixels."""

    picture: "Image"
    mask: "Mask"
    whole: "Mask"  # in the picture that it was cut out of
    faces: tuple[Box, ...]
    cut_left: bool
    cut_right: bool
    cut_top: bool
    cut_bottom: bool

    @property
    def width(self) -> int:
        return int(self.mask.shape[1])

    @property
    def height(self) -> int:
        return int(self.mask.shape[0])


@dataclass(frozen=True, slots=True)
class Placed:
    """A subject in the thumbnail: how much larger it is, and where its top left corner is, in pixels."""

    subject: Subject
    scale: float
    x: float
    y: float

    def faces(self) -> list[Box]:
        """In pixels of the thumbnail."""
        return [
            Box(self.x + f.x * self.scale, self.y + f.y * self.scale, f.width * self.scale, f.height * self.scale)
            for f in self.subject.faces
        ]

    @property
    def right(self) -> float:
        return self.x + self.subject.width * self.scale

    @property
    def bottom(self) -> float:
        return self.y + self.subject.height * self.scale


def find_faces(picture: "Image", finder: FaceDetector, *, least: float = FACE_SCORE) -> list[Box]:
    """In pixels, the largest first."""
    height, width = picture.shape[:2]
    found = [face.box for face in finder.find(picture) if face.score >= least]
    boxes = [Box(b.x * width, b.y * height, b.width * width, b.height * height) for b in found]
    return sorted(boxes, key=lambda box: -box.width * box.height)


def cut_subject(picture: "Image", cutter: BackgroundRemover, *, faces: list[Box]) -> Subject | None:
    """The subject, or nothing where the picture has none that could stand alone."""
    mask = _of_subject(cutter.cut(picture), faces)
    covered = float((mask > 127).mean())
    touched = mask > 8
    if not MIN_AREA <= covered <= MAX_AREA or (mask[touched] > 230).mean() < MIN_SOLID:
        return None
    if faces and not _covers(mask, faces[0]):
        return None
    rows, columns = np.flatnonzero((mask > 60).any(axis=1)), np.flatnonzero((mask > 60).any(axis=0))
    top, bottom, left, right = int(rows[0]), int(rows[-1]) + 1, int(columns[0]), int(columns[-1]) + 1
    solid = mask > 127
    return Subject(
        picture=_without_fringe(picture, mask)[top:bottom, left:right],
        mask=mask[top:bottom, left:right],
        whole=mask,
        faces=tuple(Box(box.x - left, box.y - top, box.width, box.height) for box in faces if _covers(mask, box)),
        cut_left=bool(solid[:, :2].any(axis=1).mean() > EDGE_SHARE),
        cut_right=bool(solid[:, -2:].any(axis=1).mean() > EDGE_SHARE),
        cut_top=bool(solid[:2].any(axis=0).mean() > EDGE_SHARE),
        cut_bottom=bool(solid[-2:].any(axis=0).mean() > EDGE_SHARE),
    )


def _of_subject(mask: "Mask", faces: list[Box]) -> "Mask":
    """Without specks: the largest part, those that hold a face, and those that are not much smaller."""
    count, labels, stats, _ = cv2.connectedComponentsWithStats((mask > 60).astype(np.uint8), connectivity=8)
    if count <= 1:
        return mask
    areas = stats[1:, cv2.CC_STAT_AREA]
    kept = {1 + int(each) for each in np.flatnonzero(areas >= PART_SHARE * areas.max())}
    for box in faces:
        kept.add(int(labels[min(mask.shape[0] - 1, int(box.y + box.height / 2)), int(box.x + box.width / 2)]))
    inside = np.isin(labels, [each for each in kept if each])
    near = cv2.dilate(inside.astype(np.uint8), np.ones((5, 5), np.uint8))
    return (mask * near).astype(np.uint8)


def _covers(mask: "Mask", face: Box) -> bool:
    part = mask[int(face.y) : int(face.y + face.height), int(face.x) : int(face.x + face.width)]
    return bool(part.size) and float((part > 127).mean()) > 0.6


def _without_fringe(picture: "Image", mask: "Mask") -> "Image":
    """Where the edge mixes subject and background, the colours of the subject go on outwards."""
    core = cv2.erode((mask > 235).astype(np.uint8), np.ones((3, 3), np.uint8)).astype(np.float32)
    weight = cv2.GaussianBlur(core, (0, 0), 4)[..., None]
    spread = cv2.GaussianBlur(picture.astype(np.float32) * core[..., None], (0, 0), 4) / np.maximum(weight, 1e-3)
    share = (mask.astype(np.float32) / 255)[..., None]
    mixed = picture * share + spread * (1 - share)
    return np.where(weight > 0.02, np.clip(mixed, 0, 255), picture).astype(np.uint8)


def stand(subject: Subject, *, left: float, right: float, face_height: float = FACE_HEIGHT, top: float = 0.0) -> Placed:
    """The subject between two places of the width, as large as its face asks, with air above its hair.

    What the edge of its own picture cuts stands at the same edge of the thumbnail, so that no cut is seen.
    """
    room, head = right - left, THUMBNAIL_HEIGHT * HEADROOM + top
    tall = THUMBNAIL_HEIGHT - (0 if subject.cut_top else head)
    if subject.faces:
        face = max(subject.faces, key=lambda box: box.height)
        scale = face_height * THUMBNAIL_HEIGHT / face.height
        # The middle of the body matters less than that the face is in the room.
        reach = 2 * max(face.x + face.width / 2 - 0.25 * subject.width, 0.5 * face.width) + face.width
        scale = min(scale, 1.35 * room / min(subject.width, reach + face.width))
    else:
        scale = min(0.92 * room / subject.width, 0.86 * tall / subject.height)
    if subject.cut_bottom:
        scale = max(scale, min(0.8 * tall / subject.height, 1.25 * room / subject.width))
    scale = min(scale, MAX_ENLARGED)
    if subject.cut_bottom and scale * subject.height < 0.6 * tall:
        scale = min(MAX_ENLARGED, 0.6 * tall / subject.height)
    return Placed(subject, scale, _across(subject, scale, left, right), _down(subject, scale, head))


def _across(subject: Subject, scale: float, left: float, right: float) -> float:
    width = subject.width * scale
    middle = (left + right) / 2
    if subject.faces:
        face = max(subject.faces, key=lambda box: box.height)
        # Between the face's own middle and the body's, since hands and helmets count too.
        own = 0.6 * (face.x + face.width / 2) + 0.4 * subject.width / 2
        x = middle - own * scale
    else:
        x = middle - width / 2
    if subject.cut_left and not subject.cut_right and left < THUMBNAIL_WIDTH * 0.3:
        return min(0.0, x)
    if subject.cut_right and not subject.cut_left and right > THUMBNAIL_WIDTH * 0.7:
        return max(THUMBNAIL_WIDTH - width, x)
    return x


def _down(subject: Subject, scale: float, head: float) -> float:
    height = subject.height * scale
    if subject.cut_top:
        return 0.0 if subject.cut_bottom and height >= THUMBNAIL_HEIGHT else min(0.0, THUMBNAIL_HEIGHT - height)
    if subject.cut_bottom:
        return max(head, THUMBNAIL_HEIGHT - height)
    return max(head, (THUMBNAIL_HEIGHT - height) / 2)


def _away_from_cuts(placed: Placed) -> "Plane":
    """1, but for a soft end where the edge of its picture cuts the subject: a straight edge would be seen as one."""
    weight = np.ones((1, THUMBNAIL_WIDTH), np.float32)
    across = np.arange(THUMBNAIL_WIDTH, dtype=np.float32)[None]
    if placed.subject.cut_left and placed.x > 2:
        weight = np.minimum(weight, np.clip((across - placed.x - 2) / SOFT_PIXELS, 0, 1))
    if placed.subject.cut_right and placed.right < THUMBNAIL_WIDTH - 2:
        weight = np.minimum(weight, np.clip((placed.right - 2 - across) / SOFT_PIXELS, 0, 1))
    return weight.astype(np.float32)


def paste(canvas: "Canvas", placed: Placed, *, outline: tuple[int, int, int] | None) -> "Mask":
    """Draw a subject with a shadow behind it and a line around it; gives where it is."""
    matrix = np.array([[placed.scale, 0, placed.x], [0, placed.scale, placed.y]], np.float32)
    size = canvas.shape[1], canvas.shape[0]
    flags = cv2.INTER_AREA if placed.scale < 0.7 else cv2.INTER_CUBIC
    shown = cv2.warpAffine(placed.subject.picture, matrix, size, flags=flags, borderMode=cv2.BORDER_REPLICATE)
    warped = cv2.warpAffine(placed.subject.mask, matrix, size, flags=cv2.INTER_LINEAR)
    mask: Mask = np.rint(warped * _away_from_cuts(placed)).astype(np.uint8)
    solid = (mask > 127).astype(np.uint8)
    far = cv2.distanceTransform(1 - solid, cv2.DIST_L2, 5)
    shadow = cv2.GaussianBlur(
        np.roll(np.clip(24 - far, 0, 12) / 12, (10, 6), axis=(0, 1)).astype(np.float32), (0, 0), 16
    )
    canvas *= 1 - 0.55 * shadow[..., None]
    if outline is not None:
        line = (np.clip(OUTLINE_PIXELS + 0.5 - far, 0, 1) * _away_from_cuts(placed))[..., None]
        canvas += (np.array(outline, np.float32) - canvas) * line
    share = (mask.astype(np.float32) / 255)[..., None]
    if outline is not None:
        # Inside of the line nothing shines through at the edge.
        share = np.maximum(share, np.clip(share * 1.6 - 0.1, 0, 1))
    canvas += (shown.astype(np.float32) - canvas) * share
    return np.asarray(mask, np.uint8)
