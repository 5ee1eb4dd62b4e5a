"""Cuts subjects out of images, and places and draws them on the canvas."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import cv2
import numpy as np

from cutroom.engines.thumbnails.compositor.mask_quality import SOLID, VISIBLE, clean_mask, covers_face, is_usable
from cutroom.engines.thumbnails.port import THUMBNAIL_HEIGHT, THUMBNAIL_WIDTH
from cutroom.engines.types import Box
from cutroom.engines.vision.port import BackgroundRemover, FaceDetector

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutroom.engines.thumbnails.compositor.color import Canvas
    from cutroom.engines.types import Image
    from cutroom.engines.vision.port import Mask

FACE_SCORE = 0.7  # minimum detection score of a face
POSSIBLE_FACE_SCORE = 0.55  # lower threshold for protecting possible faces, including animals
EDGE_SHARE = 0.02  # share of an image side that the mask touches when the subject is cropped there
# A side of a person that stays within this share of the image's width for this share of the height is not their own.
STRAIGHT_WIDTH, STRAIGHT_SIDE = 0.003, 0.2
FULL_BODY = 5.0  # face heights below the top of the face; a shorter person is cropped, by furniture or a caption
MAX_UPSCALE = 2.6
GROWTH = (1.0, 1.1, 1.2, 1.3, 1.4)  # scales tried until the thumbnail's edges hide every cropped edge
HEADROOM = 0.045  # of the height, above the hair
FACE_HEIGHT = 0.40  # target face height, as a share of the thumbnail height
OVERSCAN = 6  # pixels by which a cropped edge lies outside of the thumbnail, because masks fade at the edge
MAX_SHIFT = 0.1  # of the width, to keep hands and props inside the thumbnail
OUTLINE_PIXELS = 7
FEATHER = 0.9  # sigma in pixels


@dataclass(frozen=True, slots=True)
class Cutout:
    """A subject without its background, cropped to its bounding box; boxes and rows are in its own pixels."""

    pixels: "Image"
    mask: "Mask"
    source_mask: "Mask"  # in the coordinates of the source image
    faces: tuple[Box, ...]
    left_crop: int | None  # first row in which an edge of the source crops the subject
    right_crop: int | None
    cropped_top: bool
    bottom_crop: int | None  # last row of the body, if the subject is cropped below it

    @property
    def width(self) -> int:
        return int(self.mask.shape[1])

    @property
    def height(self) -> int:
        return int(self.mask.shape[0])

    @property
    def main_face(self) -> Box | None:
        return max(self.faces, key=lambda box: box.height, default=None)


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
    def floats(self) -> bool:
        """Whether an edge at which the source crops the subject is visible inside the thumbnail."""
        return (
            (self.cutout.bottom_crop is not None and self._y(self.cutout.bottom_crop) < THUMBNAIL_HEIGHT)
            or (self.cutout.cropped_top and self.y > 0)
            or (self._is_visible(self.cutout.left_crop) and self.x > 0)
            or (self._is_visible(self.cutout.right_crop) and self.right < THUMBNAIL_WIDTH)
        )

    def _y(self, row: int) -> float:
        return self.y + row * self.scale

    def _is_visible(self, row: int | None) -> bool:
        return row is not None and self._y(row) < THUMBNAIL_HEIGHT


def detect_faces(image: "Image", detector: FaceDetector, *, min_score: float = FACE_SCORE) -> list[Box]:
    """Face boxes in pixels, largest first."""
    height, width = image.shape[:2]
    found = [face.box for face in detector.detect(image) if face.score >= min_score]
    boxes = [Box(b.x * width, b.y * height, b.width * width, b.height * height) for b in found]
    return sorted(boxes, key=lambda box: -box.width * box.height)


def cut_out_subject(image: "Image", remover: BackgroundRemover, *, faces: list[Box]) -> Cutout | None:
    """The main subject, or None if the segmentation is not usable as a cutout."""
    mask = clean_mask(remover.mask(image), faces)
    if not is_usable(mask, faces):
        return None
    rows, columns = np.flatnonzero((mask > VISIBLE).any(axis=1)), np.flatnonzero((mask > VISIBLE).any(axis=0))
    top, bottom, left, right = int(rows[0]), int(rows[-1]) + 1, int(columns[0]), int(columns[-1]) + 1
    own_faces = tuple(Box(box.x - left, box.y - top, box.width, box.height) for box in faces if covers_face(mask, box))
    solid = mask > SOLID
    return Cutout(
        pixels=_without_fringe(image, mask)[top:bottom, left:right],
        mask=mask[top:bottom, left:right],
        source_mask=mask,
        faces=own_faces,
        left_crop=_side_crop(solid[top:bottom], left, at_edge=left <= 1, has_face=bool(own_faces)),
        right_crop=_side_crop(
            solid[top:bottom, ::-1],
            solid.shape[1] - right,
            at_edge=right >= solid.shape[1] - 1,
            has_face=bool(own_faces),
        ),
        cropped_top=_first_cropped(solid[:2].T, image.shape[1]) is not None,
        bottom_crop=_last_body_row(
            solid[top:bottom, left:right],
            own_faces[0] if own_faces else None,
            touches_edge=_first_cropped(solid[-2:].T, image.shape[1]) is not None,
        ),
    )


def _first_cropped(edge: "NDArray[np.bool_]", side: int) -> int | None:
    """The first position at which the mask touches an edge of the image, if it touches it for long enough."""
    touched = np.flatnonzero(edge.any(axis=1))
    return int(touched[0]) if touched.size > EDGE_SHARE * side else None


def _side_crop(solid: "NDArray[np.bool_]", first: int, *, at_edge: bool, has_face: bool) -> int | None:
    """The first row in which the side that starts at column `first` is cropped: by the image, or by a picture in it."""
    width = 2 if at_edge else max(2, round(STRAIGHT_WIDTH * solid.shape[1]))
    touched = np.flatnonzero(solid[:, first : first + width].any(axis=1))
    share = EDGE_SHARE if at_edge else STRAIGHT_SIDE if has_face else 1.0
    return int(touched[0]) if touched.size > share * solid.shape[0] else None


def _last_body_row(solid: "NDArray[np.bool_]", face: Box | None, *, touches_edge: bool) -> int | None:
    """The row down to which a cropped body reaches, below its face; None if the subject is whole."""
    height = int(solid.shape[0])
    if face is None or not solid.any():
        return height if touches_edge else None
    if not touches_edge and height - face.y >= FULL_BODY * face.height:
        return None
    # A desk or a caption may hide one side of the body higher up than the other.
    around = solid[:, max(0, int(face.x - 0.5 * face.width)) : int(face.x + 1.5 * face.width)]
    last = height - around[::-1].argmax(axis=0)[around.any(axis=0)]
    return min(height, max(int(np.percentile(last, 25)), round(face.y + 1.5 * face.height)))


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
) -> PlacedCutout | None:
    """Scales a cutout to the target face height and places it between `left` and `right`, with headroom.

    Edges at which the source crops the subject are placed outside of the thumbnail, at a larger scale if necessary;
    None if that is not possible.
    """
    head = THUMBNAIL_HEIGHT * HEADROOM + top
    scale = _scale(cutout, right - left, THUMBNAIL_HEIGHT - (0 if cutout.cropped_top else head), face_height)
    for growth in GROWTH:
        larger = min(MAX_UPSCALE, scale * growth)
        y = _y(cutout, larger, head)
        placed = PlacedCutout(cutout, larger, _x(cutout, larger, y, left, right), y)
        if not placed.floats:
            return placed
    return None


def _scale(cutout: Cutout, available: float, tall: float, face_height: float) -> float:
    face = cutout.main_face
    if face is not None:
        scale = face_height * THUMBNAIL_HEIGHT / face.height
        # The body may extend beyond the column, the face may not.
        reach = 2 * max(face.x + face.width / 2 - 0.25 * cutout.width, 0.5 * face.width) + face.width
        scale = min(scale, 1.35 * available / min(cutout.width, reach + face.width))
    else:
        scale = min(0.92 * available / cutout.width, 0.86 * tall / cutout.height)
    if cutout.bottom_crop is not None:
        scale = max(scale, min(0.8 * tall / cutout.bottom_crop, 1.25 * available / cutout.width))
        scale = max(scale, 0.6 * tall / cutout.bottom_crop)
    return min(scale, MAX_UPSCALE)


def _x(cutout: Cutout, scale: float, y: float, left: float, right: float) -> float:
    width = cutout.width * scale
    face = cutout.main_face
    # Weighted between face and body centers, because hands and props count too.
    center = cutout.width / 2 if face is None else 0.6 * (face.x + face.width / 2) + 0.2 * cutout.width
    x = (left + right) / 2 - center * scale
    at_left, at_right = left < THUMBNAIL_WIDTH * 0.3, right > THUMBNAIL_WIDTH * 0.7
    if cutout.left_crop is not None and at_left and not (cutout.right_crop is not None and at_right):
        return min(-float(OVERSCAN), x)
    if cutout.right_crop is not None and at_right:
        return max(THUMBNAIL_WIDTH + OVERSCAN - width, x)
    # What is not cropped in the source should not be cropped here.
    visible = cutout.mask[: max(1, int((THUMBNAIL_HEIGHT - y) / scale))]
    columns = np.flatnonzero((visible > SOLID).any(axis=0))
    outside_left = -(x + float(columns[0]) * scale) if columns.size else 0.0
    outside_right = x + float(columns[-1] + 1) * scale - THUMBNAIL_WIDTH if columns.size else 0.0
    if max(outside_left, outside_right) > 0 > min(outside_left, outside_right):
        shift = MAX_SHIFT * THUMBNAIL_WIDTH
        x += min(shift, outside_left) if outside_left > 0 else -min(shift, outside_right)
    return x


def _y(cutout: Cutout, scale: float, head: float) -> float:
    if cutout.cropped_top:
        return -float(OVERSCAN)
    if cutout.bottom_crop is not None:
        return max(head, THUMBNAIL_HEIGHT + OVERSCAN - cutout.bottom_crop * scale)
    return max(head, (THUMBNAIL_HEIGHT - cutout.height * scale) / 2)


def draw_cutout(canvas: "Canvas", placed: PlacedCutout, *, outline: tuple[int, int, int] | None) -> "Mask":
    """Draws a cutout with a drop shadow and an outline; returns its mask on the canvas."""
    matrix = np.array([[placed.scale, 0, placed.x], [0, placed.scale, placed.y]], np.float32)
    size = canvas.shape[1], canvas.shape[0]
    flags = cv2.INTER_AREA if placed.scale < 0.7 else cv2.INTER_CUBIC
    warped = cv2.warpAffine(placed.cutout.pixels, matrix, size, flags=flags, borderMode=cv2.BORDER_REPLICATE)
    mask = cv2.warpAffine(placed.cutout.mask, matrix, size, flags=cv2.INTER_LINEAR)
    solid = (mask > SOLID).astype(np.uint8)
    distance = cv2.distanceTransform(1 - solid, cv2.DIST_L2, 5)
    near = (np.clip(24 - distance, 0, 12) / 12).astype(np.float32)
    offset = np.array([[1, 0, 6], [0, 1, 10]], np.float32)
    shadow = cv2.GaussianBlur(cv2.warpAffine(near, offset, size, borderMode=cv2.BORDER_REPLICATE), (0, 0), 16)
    canvas *= 1 - 0.55 * shadow[..., None]
    if outline is not None:
        line = np.clip(OUTLINE_PIXELS + 0.5 - distance, 0, 1)[..., None]
        canvas += (np.array(outline, np.float32) - canvas) * line
    share = mask.astype(np.float32) / 255
    if outline is not None:
        # Hardens the mask edge so that the background does not show between subject and outline.
        share = np.maximum(share, np.clip(share * 1.6 - 0.1, 0, 1))
    feathered = cv2.GaussianBlur(share, (0, 0), FEATHER)[..., None]
    canvas += (warped.astype(np.float32) - canvas) * feathered
    return np.asarray(mask, np.uint8)
