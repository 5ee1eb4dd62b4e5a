"""Backgrounds and crops: blurred images, gradients, light effects, and face-safe crop windows."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import cv2
import numpy as np

from cutroom.engines.thumbnails.compositor.color import Color
from cutroom.engines.thumbnails.port import THUMBNAIL_HEIGHT, THUMBNAIL_WIDTH
from cutroom.engines.types import Box
from cutroom.engines.vision.saliency import saliency_map

if TYPE_CHECKING:
    from cutroom.engines.thumbnails.compositor.color import Canvas, Plane
    from cutroom.engines.types import Image
    from cutroom.engines.vision.port import Mask

MAX_UPSCALE = 2.6
ZOOMS = (1.0, 1.1, 1.22, 1.36)
HAIR, SIDES, CHIN = 0.45, 0.15, 0.15  # margins from face box to head box, as shares of the face
BLUR_SCALE = 8  # blurring runs on an image downscaled by this factor


@dataclass(frozen=True, slots=True)
class CropWindow:
    """A crop of a source image in its pixels, scaled to fill a region of the thumbnail."""

    x: float
    y: float
    width: float
    height: float

    def map_box(self, box: Box, *, width: float, height: float) -> Box:
        """Maps a box from the source image to the region that the crop fills."""
        across, down = width / self.width, height / self.height
        return Box((box.x - self.x) * across, (box.y - self.y) * down, box.width * across, box.height * down)


def head_box(face: Box) -> Box:
    """The face box extended to include hair and chin."""
    return Box(
        face.x - SIDES * face.width,
        face.y - HAIR * face.height,
        face.width * (1 + 2 * SIDES),
        face.height * (1 + HAIR + CHIN),
    )


def choose_crop(
    image: "Image",
    faces: list[Box],
    *,
    at: float,
    width: int = THUMBNAIL_WIDTH,
    height: int = THUMBNAIL_HEIGHT,
    object_box: Box | None = None,
) -> CropWindow:
    """The crop of this aspect ratio that puts the focus at `at` of its width and cuts no face."""
    rows, columns = image.shape[:2]
    full_width = min(columns, rows * width / height)
    full_height = full_width * height / width
    focus_x, focus_y = _focus(image, faces or ([object_box] if object_box else []))
    best: tuple[float, CropWindow] | None = None
    for zoom in ZOOMS:
        wide, tall = full_width / zoom, full_height / zoom
        if zoom > 1 and width / wide > MAX_UPSCALE:
            break
        for shift in (0.0, -0.08, 0.08, -0.16, 0.16, -0.3, 0.3):
            x = min(max(0.0, focus_x - (at + shift) * wide), columns - wide)
            y = min(max(0.0, focus_y - (0.42 if faces else 0.5) * tall), rows - tall)
            crop = CropWindow(x, y, wide, tall)
            off = abs((focus_x - x) / wide - at)
            rank = 2.2 * off + 0.55 * (zoom - 1) + _face_penalty(crop, faces)
            rank += _object_penalty(crop, object_box) if object_box else 0.0
            if best is None or rank < best[0]:
                best = rank, crop
    assert best is not None
    return best[1]


def _focus(image: "Image", faces: list[Box]) -> tuple[float, float]:
    if faces:
        large = [box for box in faces if box.height >= 0.5 * faces[0].height]
        left, right = min(box.x for box in large), max(box.x + box.width for box in large)
        top, bottom = min(box.y for box in large), max(box.y + box.height for box in large)
        return (left + right) / 2, (top + bottom) / 2
    saliency = saliency_map(image)
    total = float(saliency.sum()) or 1.0
    rows, columns = (np.arange(side) + 0.5 for side in saliency.shape)
    across = float((saliency.sum(axis=0) * columns).sum() / total / saliency.shape[1]) if saliency.any() else 0.5
    down = float((saliency.sum(axis=1) * rows).sum() / total / saliency.shape[0]) if saliency.any() else 0.5
    return across * image.shape[1], down * image.shape[0]


def _object_penalty(crop: CropWindow, object_box: Box) -> float:
    """Penalty for the share of the object outside the crop."""
    across = min(object_box.x + object_box.width, crop.x + crop.width) - max(object_box.x, crop.x)
    down = min(object_box.y + object_box.height, crop.y + crop.height) - max(object_box.y, crop.y)
    seen = max(0.0, across) * max(0.0, down) / max(1.0, object_box.width * object_box.height)
    return 3.0 * (1 - seen)


def _face_penalty(crop: CropWindow, faces: list[Box]) -> float:
    """Penalty for faces that the crop cuts or excludes."""
    penalty = 0.0
    for number, face in enumerate(faces):
        placed = crop.map_box(face, width=1, height=1)
        head = crop.map_box(head_box(face), width=1, height=1)
        inside = placed.x >= 0.01 and placed.y >= 0.01 and placed.x + placed.width <= 0.99
        inside = inside and placed.y + placed.height <= 0.99
        outside = placed.x >= 1 or placed.y >= 1 or placed.x + placed.width <= 0 or placed.y + placed.height <= 0
        penalty += 0.0 if inside else (6.0 if number == 0 else 0.6) if outside else 5.0
        penalty += 0.8 if inside and head.y < 0 else 0.0
    return penalty


def render_crop(image: "Image", crop: CropWindow, *, width: int, height: int) -> "Canvas":
    """The crop scaled to this size."""
    scale = width / crop.width
    matrix = np.array([[scale, 0, -crop.x * scale], [0, height / crop.height, -crop.y * height / crop.height]])
    if scale < 0.7:  # resize with INTER_AREA averages; warpAffine would skip pixels
        x, y = round(crop.x), round(crop.y)
        part = image[y : y + max(1, round(crop.height)), x : x + max(1, round(crop.width))]
        return cv2.resize(part, (width, height), interpolation=cv2.INTER_AREA).astype(np.float32)
    large = cv2.warpAffine(
        image, matrix.astype(np.float32), (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
    )
    return _sharpened(large.astype(np.float32), scale)


def _sharpened(canvas: "Canvas", scale: float) -> "Canvas":
    """Unsharp mask for upscaled images."""
    if scale <= 1.15:
        return canvas
    soft = cv2.GaussianBlur(canvas, (0, 0), min(2.5, 0.9 * scale))
    return np.clip(canvas + 0.45 * (canvas - soft), 0, 255).astype(np.float32)


def blurred_background(image: "Image", mask: "Mask | None" = None, *, sigma: float = 13.0) -> "Canvas":
    """Fills the thumbnail with a blurred image, inpainting the masked subject from its surroundings."""
    rows, columns = image.shape[:2]
    width = min(columns, rows * THUMBNAIL_WIDTH / THUMBNAIL_HEIGHT)
    height = width * THUMBNAIL_HEIGHT / THUMBNAIL_WIDTH
    x, y = (columns - width) / 2, (rows - height) / 2
    part = image[round(y) : round(y + height), round(x) : round(x + width)]
    size = THUMBNAIL_WIDTH // BLUR_SCALE, THUMBNAIL_HEIGHT // BLUR_SCALE
    small = cv2.resize(part, size, interpolation=cv2.INTER_AREA).astype(np.float32)
    weight = np.ones(small.shape[:2], np.float32)
    if mask is not None:
        cut = mask[round(y) : round(y + height), round(x) : round(x + width)]
        covered = cv2.dilate(cv2.resize(cut, size, interpolation=cv2.INTER_AREA), np.ones((5, 5), np.uint8))
        weight = np.where(covered > 20, 0.001, 1.0).astype(np.float32)
    soft = sigma / BLUR_SCALE
    for _ in range(3):
        # Fills the masked area from its surroundings, with a wider radius on each pass.
        soft = min(soft * 2.2, 24.0)
        around = cv2.GaussianBlur(small * weight[..., None], (0, 0), soft)
        share = cv2.GaussianBlur(weight, (0, 0), soft)[..., None]
        filled = around / np.maximum(share, 1e-4)
        small = np.where((weight < 0.5)[..., None], filled, small).astype(np.float32)
    large = cv2.resize(
        cv2.GaussianBlur(small, (0, 0), sigma / BLUR_SCALE),
        (THUMBNAIL_WIDTH, THUMBNAIL_HEIGHT),
        interpolation=cv2.INTER_CUBIC,
    )
    return np.clip(large, 0, 255).astype(np.float32)


def pixel_coordinates() -> "tuple[Plane, Plane]":
    """x and y of each pixel, from 0 to 1."""
    down, across = np.mgrid[0:THUMBNAIL_HEIGHT, 0:THUMBNAIL_WIDTH].astype(np.float32)
    return across / (THUMBNAIL_WIDTH - 1), down / (THUMBNAIL_HEIGHT - 1)


def gradient(first: Color, second: Color, *, slant: float = 0.35) -> "Canvas":
    """A linear gradient between two colors."""
    across, down = pixel_coordinates()
    share = np.clip(across * (1 - slant) + down * slant, 0, 1)[..., None]
    one, two = np.array(first, np.float32), np.array(second, np.float32)
    surface: Canvas = (one + (two - one) * share).astype(np.float32)
    return surface


def rays(canvas: "Canvas", *, x: float, y: float, strength: float = 0.10, count: int = 18) -> None:
    """Sunburst from behind the subject."""
    across, down = pixel_coordinates()
    angle = np.arctan2((down - y) * THUMBNAIL_HEIGHT, (across - x) * THUMBNAIL_WIDTH)
    wave = np.clip(np.sin(angle * count) * 6, -1, 1) * 0.5 + 0.5
    distance = np.hypot((across - x) * 16 / 9, down - y)
    canvas += (255 - canvas) * (strength * wave * np.clip(1.25 - distance, 0, 1))[..., None]


def glow(canvas: "Canvas", color: Color, *, x: float, y: float, radius: float, strength: float) -> None:
    across, down = pixel_coordinates()
    distance = ((across - x) * 16 / 9) ** 2 + (down - y) ** 2
    weight = (strength * np.exp(-distance / (2 * radius**2)))[..., None]
    canvas += (np.array(color, np.float32) - canvas) * weight


def vignette(canvas: "Canvas", *, strength: float = 0.35) -> None:
    across, down = pixel_coordinates()
    distance = ((across - 0.5) * 2) ** 2 + ((down - 0.5) * 2) ** 2
    canvas *= (1 - strength * np.clip(distance - 0.35, 0, 1.6) / 1.6)[..., None]
