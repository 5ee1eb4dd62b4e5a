"""Cuts subjects out of images, and places and draws them on the canvas."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import cv2
import numpy as np

from cutroom.engines.thumbnails.port import THUMBNAIL_HEIGHT, THUMBNAIL_WIDTH
from cutroom.engines.types import Box
from cutroom.engines.vision.port import BackgroundRemover, FaceDetector

if TYPE_CHECKING:
    from cutroom.engines.thumbnails.compositor.color import Canvas, Plane
    from cutroom.engines.types import Image
    from cutroom.engines.vision.port import Mask

FACE_SCORE = 0.7  # minimum detection score of a face
POSSIBLE_FACE_SCORE = 0.55  # lower threshold for protecting possible faces, including animals
MIN_AREA, MAX_AREA = 0.03, 0.85  # share of the image that a usable subject covers
MIN_SOLID = 0.75  # share of near-opaque mask pixels; below that the segmentation is unreliable
COMPONENT_SHARE = 0.08  # minimum area of a mask component, relative to the largest
EDGE_SHARE = 0.05  # share of an image side that the mask touches when the subject is cropped there
MAX_UPSCALE = 2.6
HEADROOM = 0.045  # of the height, above the hair
FACE_HEIGHT = 0.40  # target face height, as a share of the thumbnail height
OUTLINE_PIXELS = 7
FADE_PIXELS = 48  # width of the fade where the subject is cropped


@dataclass(frozen=True, slots=True)
class Cutout:
    """A subject without its background, cropped to its bounding box; face boxes are in its own pixels."""

    pixels: "Image"
    mask: "Mask"
    source_mask: "Mask"  # in the coordinates of the source image
    faces: tuple[Box, ...]
    cropped_left: bool
    cropped_right: bool
    cropped_top: bool
    cropped_bottom: bool

    @property
    def width(self) -> int:
        return int(self.mask.shape[1])

    @property
    def height(self) -> int:
        return int(self.mask.shape[0])


@dataclass(frozen=True, slots=True)
class PlacedCutout:
    """A cutout with its scale and top left corner in the thumbnail, in pixels."""

    cutout: Cutout
    scale: float
    x: float
    y: float

    def faces(self) -> list[Box]:
        """In pixels of the thumbnail."""
        return [
            Box(self.x + f.x * self.scale, self.y + f.y * self.scale, f.width * self.scale, f.height * self.scale)
            for f in self.cutout.faces
        ]

    @property
    def right(self) -> float:
        return self.x + self.cutout.width * self.scale

    @property
    def bottom(self) -> float:
        return self.y + self.cutout.height * self.scale


def detect_faces(image: "Image", detector: FaceDetector, *, min_score: float = FACE_SCORE) -> list[Box]:
    """Face boxes in pixels, largest first."""
    height, width = image.shape[:2]
    found = [face.box for face in detector.detect(image) if face.score >= min_score]
    boxes = [Box(b.x * width, b.y * height, b.width * width, b.height * height) for b in found]
    return sorted(boxes, key=lambda box: -box.width * box.height)


def cut_out_subject(image: "Image", remover: BackgroundRemover, *, faces: list[Box]) -> Cutout | None:
    """The main subject, or None if the segmentation is not usable as a cutout."""
    mask = _without_specks(remover.mask(image), faces)
    covered = float((mask > 127).mean())
    touched = mask > 8
    if not MIN_AREA <= covered <= MAX_AREA or (mask[touched] > 230).mean() < MIN_SOLID:
        return None
    if faces and not _covers(mask, faces[0]):
        return None
    rows, columns = np.flatnonzero((mask > 60).any(axis=1)), np.flatnonzero((mask > 60).any(axis=0))
    top, bottom, left, right = int(rows[0]), int(rows[-1]) + 1, int(columns[0]), int(columns[-1]) + 1
    solid = mask > 127
    return Cutout(
        pixels=_without_fringe(image, mask)[top:bottom, left:right],
        mask=mask[top:bottom, left:right],
        source_mask=mask,
        faces=tuple(Box(box.x - left, box.y - top, box.width, box.height) for box in faces if _covers(mask, box)),
        cropped_left=bool(solid[:, :2].any(axis=1).mean() > EDGE_SHARE),
        cropped_right=bool(solid[:, -2:].any(axis=1).mean() > EDGE_SHARE),
        cropped_top=bool(solid[:2].any(axis=0).mean() > EDGE_SHARE),
        cropped_bottom=bool(solid[-2:].any(axis=0).mean() > EDGE_SHARE),
    )


def _without_specks(mask: "Mask", faces: list[Box]) -> "Mask":
    """Keeps the largest connected component, those with a face, and those above the size threshold."""
    count, labels, stats, _ = cv2.connectedComponentsWithStats((mask > 60).astype(np.uint8), connectivity=8)
    if count <= 1:
        return mask
    areas = stats[1:, cv2.CC_STAT_AREA]
    kept = {1 + int(each) for each in np.flatnonzero(areas >= COMPONENT_SHARE * areas.max())}
    for box in faces:
        kept.add(int(labels[min(mask.shape[0] - 1, int(box.y + box.height / 2)), int(box.x + box.width / 2)]))
    inside = np.isin(labels, [each for each in kept if each])
    near = cv2.dilate(inside.astype(np.uint8), np.ones((5, 5), np.uint8))
    return (mask * near).astype(np.uint8)


def _covers(mask: "Mask", face: Box) -> bool:
    part = mask[int(face.y) : int(face.y + face.height), int(face.x) : int(face.x + face.width)]
    return bool(part.size) and float((part > 127).mean()) > 0.6


def _without_fringe(image: "Image", mask: "Mask") -> "Image":
    """Decontaminates edge pixels by extending the subject's own colors outwards."""
    core = cv2.erode((mask > 235).astype(np.uint8), np.ones((3, 3), np.uint8)).astype(np.float32)
    weight = cv2.GaussianBlur(core, (0, 0), 4)[..., None]
    spread = cv2.GaussianBlur(image.astype(np.float32) * core[..., None], (0, 0), 4) / np.maximum(weight, 1e-3)
    share = (mask.astype(np.float32) / 255)[..., None]
    mixed = image * share + spread * (1 - share)
    return np.where(weight > 0.02, np.clip(mixed, 0, 255), image).astype(np.uint8)


def place_cutout(
    cutout: Cutout, *, left: float, right: float, face_height: float = FACE_HEIGHT, top: float = 0.0
) -> PlacedCutout:
    """Scales a cutout to the target face height and places it between `left` and `right`, with headroom.

    A cutout that is cropped at an edge of its source is aligned with the same edge of the thumbnail to hide the crop.
    """
    available, head = right - left, THUMBNAIL_HEIGHT * HEADROOM + top
    tall = THUMBNAIL_HEIGHT - (0 if cutout.cropped_top else head)
    if cutout.faces:
        face = max(cutout.faces, key=lambda box: box.height)
        scale = face_height * THUMBNAIL_HEIGHT / face.height
        # The body may extend beyond the column, the face may not.
        reach = 2 * max(face.x + face.width / 2 - 0.25 * cutout.width, 0.5 * face.width) + face.width
        scale = min(scale, 1.35 * available / min(cutout.width, reach + face.width))
    else:
        scale = min(0.92 * available / cutout.width, 0.86 * tall / cutout.height)
    if cutout.cropped_bottom:
        scale = max(scale, min(0.8 * tall / cutout.height, 1.25 * available / cutout.width))
    scale = min(scale, MAX_UPSCALE)
    if cutout.cropped_bottom and scale * cutout.height < 0.6 * tall:
        scale = min(MAX_UPSCALE, 0.6 * tall / cutout.height)
    return PlacedCutout(cutout, scale, _x(cutout, scale, left, right), _y(cutout, scale, head))


def _x(cutout: Cutout, scale: float, left: float, right: float) -> float:
    width = cutout.width * scale
    middle = (left + right) / 2
    if cutout.faces:
        face = max(cutout.faces, key=lambda box: box.height)
        # Weighted between face and body centers, because hands and props count too.
        center = 0.6 * (face.x + face.width / 2) + 0.4 * cutout.width / 2
        x = middle - center * scale
    else:
        x = middle - width / 2
    if cutout.cropped_left and not cutout.cropped_right and left < THUMBNAIL_WIDTH * 0.3:
        return min(0.0, x)
    if cutout.cropped_right and not cutout.cropped_left and right > THUMBNAIL_WIDTH * 0.7:
        return max(THUMBNAIL_WIDTH - width, x)
    return x


def _y(cutout: Cutout, scale: float, head: float) -> float:
    height = cutout.height * scale
    if cutout.cropped_top:
        return 0.0 if cutout.cropped_bottom and height >= THUMBNAIL_HEIGHT else min(0.0, THUMBNAIL_HEIGHT - height)
    if cutout.cropped_bottom:
        return max(head, THUMBNAIL_HEIGHT - height)
    return max(head, (THUMBNAIL_HEIGHT - height) / 2)


def _crop_fade(placed: PlacedCutout) -> "Plane":
    """Column weights: 1, fading out where the source image crops the subject, to hide the straight edge."""
    weight = np.ones((1, THUMBNAIL_WIDTH), np.float32)
    across = np.arange(THUMBNAIL_WIDTH, dtype=np.float32)[None]
    if placed.cutout.cropped_left and placed.x > 2:
        weight = np.minimum(weight, np.clip((across - placed.x - 2) / FADE_PIXELS, 0, 1))
    if placed.cutout.cropped_right and placed.right < THUMBNAIL_WIDTH - 2:
        weight = np.minimum(weight, np.clip((placed.right - 2 - across) / FADE_PIXELS, 0, 1))
    return weight.astype(np.float32)


def draw_cutout(canvas: "Canvas", placed: PlacedCutout, *, outline: tuple[int, int, int] | None) -> "Mask":
    """Draws a cutout with a drop shadow and an outline; returns its mask on the canvas."""
    matrix = np.array([[placed.scale, 0, placed.x], [0, placed.scale, placed.y]], np.float32)
    size = canvas.shape[1], canvas.shape[0]
    flags = cv2.INTER_AREA if placed.scale < 0.7 else cv2.INTER_CUBIC
    warped = cv2.warpAffine(placed.cutout.pixels, matrix, size, flags=flags, borderMode=cv2.BORDER_REPLICATE)
    warped_mask = cv2.warpAffine(placed.cutout.mask, matrix, size, flags=cv2.INTER_LINEAR)
    mask: Mask = np.rint(warped_mask * _crop_fade(placed)).astype(np.uint8)
    solid = (mask > 127).astype(np.uint8)
    distance = cv2.distanceTransform(1 - solid, cv2.DIST_L2, 5)
    shadow = cv2.GaussianBlur(
        np.roll(np.clip(24 - distance, 0, 12) / 12, (10, 6), axis=(0, 1)).astype(np.float32), (0, 0), 16
    )
    canvas *= 1 - 0.55 * shadow[..., None]
    if outline is not None:
        line = (np.clip(OUTLINE_PIXELS + 0.5 - distance, 0, 1) * _crop_fade(placed))[..., None]
        canvas += (np.array(outline, np.float32) - canvas) * line
    share = (mask.astype(np.float32) / 255)[..., None]
    if outline is not None:
        # Hardens the mask edge so that the background does not show between subject and outline.
        share = np.maximum(share, np.clip(share * 1.6 - 0.1, 0, 1))
    canvas += (warped.astype(np.float32) - canvas) * share
    return np.asarray(mask, np.uint8)
