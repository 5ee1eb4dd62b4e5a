"""What is behind everything: the film blurred, a surface of colour, or a part of a picture that is shown as it is."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import cv2
import numpy as np

from cutroom.engines.thumbnails.compositor.colour import Colour
from cutroom.engines.thumbnails.port import THUMBNAIL_HEIGHT, THUMBNAIL_WIDTH
from cutroom.engines.types import Box
from cutroom.engines.vision.saliency import interest

if TYPE_CHECKING:
    from cutroom.engines.thumbnails.compositor.colour import Canvas, Plane
    from cutroom.engines.types import Image
    from cutroom.engines.vision.port import Mask

MAX_ENLARGED = 2.6
ZOOMS = (1.0, 1.1, 1.22, 1.36)
HAIR, SIDES, CHIN = 0.45, 0.15, 0.15  # of a face's box, around it: what belongs to a head
BLUR_SHARE = 8  # blurring is done in a picture this much smaller


@dataclass(frozen=True, slots=True)
class Window:
    """A part of a picture, in its pixels, that fills a part of the thumbnail."""

    x: float
    y: float
    width: float
    height: float

    def place(self, box: Box, *, width: float, height: float) -> Box:
        """A box of the picture as it is in the part that the window fills."""
        across, down = width / self.width, height / self.height
        return Box((box.x - self.x) * across, (box.y - self.y) * down, box.width * across, box.height * down)


def head_of(face: Box) -> Box:
    """The face with its hair."""
    return Box(
        face.x - SIDES * face.width,
        face.y - HAIR * face.height,
        face.width * (1 + 2 * SIDES),
        face.height * (1 + HAIR + CHIN),
    )


def choose_window(
    picture: "Image",
    faces: list[Box],
    *,
    at: float,
    width: int = THUMBNAIL_WIDTH,
    height: int = THUMBNAIL_HEIGHT,
    thing: Box | None = None,
) -> Window:
    """The part of a picture, of this shape, that has what matters `at` this share of its width, and cuts no face."""
    rows, columns = picture.shape[:2]
    full_width = min(columns, rows * width / height)
    full_height = full_width * height / width
    focus_x, focus_y = _focus(picture, faces or ([thing] if thing else []))
    best: tuple[float, Window] | None = None
    for zoom in ZOOMS:
        wide, tall = full_width / zoom, full_height / zoom
        if zoom > 1 and width / wide > MAX_ENLARGED:
            break
        for shift in (0.0, -0.08, 0.08, -0.16, 0.16, -0.3, 0.3):
            x = min(max(0.0, focus_x - (at + shift) * wide), columns - wide)
            y = min(max(0.0, focus_y - (0.42 if faces else 0.5) * tall), rows - tall)
            window = Window(x, y, wide, tall)
            off = abs((focus_x - x) / wide - at)
            rank = 2.2 * off + 0.55 * (zoom - 1) + _cuts(window, faces) + (_loses(window, thing) if thing else 0.0)
            if best is None or rank < best[0]:
                best = rank, window
    assert best is not None
    return best[1]


def _focus(picture: "Image", faces: list[Box]) -> tuple[float, float]:
    if faces:
        large = [box for box in faces if box.height >= 0.5 * faces[0].height]
        left, right = min(box.x for box in large), max(box.x + box.width for box in large)
        top, bottom = min(box.y for box in large), max(box.y + box.height for box in large)
        return (left + right) / 2, (top + bottom) / 2
    eye = interest(picture)
    total = float(eye.sum()) or 1.0
    rows, columns = (np.arange(side) + 0.5 for side in eye.shape)
    across = float((eye.sum(axis=0) * columns).sum() / total / eye.shape[1]) if eye.any() else 0.5
    down = float((eye.sum(axis=1) * rows).sum() / total / eye.shape[0]) if eye.any() else 0.5
    return across * picture.shape[1], down * picture.shape[0]


def _loses(window: Window, thing: Box) -> float:
    """How much of a thing is outside."""
    across = min(thing.x + thing.width, window.x + window.width) - max(thing.x, window.x)
    down = min(thing.y + thing.height, window.y + window.height) - max(thing.y, window.y)
    seen = max(0.0, across) * max(0.0, down) / max(1.0, thing.width * thing.height)
    return 3.0 * (1 - seen)


def _cuts(window: Window, faces: list[Box]) -> float:
    """How badly faces are cut by the window, or lost."""
    bad = 0.0
    for number, face in enumerate(faces):
        placed = window.place(face, width=1, height=1)
        head = window.place(head_of(face), width=1, height=1)
        inside = placed.x >= 0.01 and placed.y >= 0.01 and placed.x + placed.width <= 0.99
        inside = inside and placed.y + placed.height <= 0.99
        outside = placed.x >= 1 or placed.y >= 1 or placed.x + placed.width <= 0 or placed.y + placed.height <= 0
        bad += 0.0 if inside else (6.0 if number == 0 else 0.6) if outside else 5.0
        bad += 0.8 if inside and head.y < 0 else 0.0
    return bad


def shown(picture: "Image", window: Window, *, width: int, height: int) -> "Canvas":
    """The window at this size."""
    scale = width / window.width
    matrix = np.array([[scale, 0, -window.x * scale], [0, height / window.height, -window.y * height / window.height]])
    if scale < 0.7:  # a plain resize averages; a warp would skip pixels
        x, y = round(window.x), round(window.y)
        part = picture[y : y + max(1, round(window.height)), x : x + max(1, round(window.width))]
        return cv2.resize(part, (width, height), interpolation=cv2.INTER_AREA).astype(np.float32)
    large = cv2.warpAffine(
        picture, matrix.astype(np.float32), (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
    )
    return _sharpened(large.astype(np.float32), scale)


def _sharpened(canvas: "Canvas", scale: float) -> "Canvas":
    """Pictures that were enlarged are soft."""
    if scale <= 1.15:
        return canvas
    soft = cv2.GaussianBlur(canvas, (0, 0), min(2.5, 0.9 * scale))
    return np.clip(canvas + 0.45 * (canvas - soft), 0, 255).astype(np.float32)


def blurred(picture: "Image", mask: "Mask | None" = None, *, sigma: float = 13.0) -> "Canvas":
    """The whole thumbnail filled with a soft version of a picture, without the subject that is placed anew."""
    rows, columns = picture.shape[:2]
    width = min(columns, rows * THUMBNAIL_WIDTH / THUMBNAIL_HEIGHT)
    height = width * THUMBNAIL_HEIGHT / THUMBNAIL_WIDTH
    x, y = (columns - width) / 2, (rows - height) / 2
    part = picture[round(y) : round(y + height), round(x) : round(x + width)]
    size = THUMBNAIL_WIDTH // BLUR_SHARE, THUMBNAIL_HEIGHT // BLUR_SHARE
    small = cv2.resize(part, size, interpolation=cv2.INTER_AREA).astype(np.float32)
    weight = np.ones(small.shape[:2], np.float32)
    if mask is not None:
        cut = mask[round(y) : round(y + height), round(x) : round(x + width)]
        covered = cv2.dilate(cv2.resize(cut, size, interpolation=cv2.INTER_AREA), np.ones((5, 5), np.uint8))
        weight = np.where(covered > 20, 0.001, 1.0).astype(np.float32)
    soft = sigma / BLUR_SHARE
    for _ in range(3):
        # What is hidden is filled from around it, wider each time.
        soft = min(soft * 2.2, 24.0)
        around = cv2.GaussianBlur(small * weight[..., None], (0, 0), soft)
        share = cv2.GaussianBlur(weight, (0, 0), soft)[..., None]
        filled = around / np.maximum(share, 1e-4)
        small = np.where((weight < 0.5)[..., None], filled, small).astype(np.float32)
    large = cv2.resize(
        cv2.GaussianBlur(small, (0, 0), sigma / BLUR_SHARE),
        (THUMBNAIL_WIDTH, THUMBNAIL_HEIGHT),
        interpolation=cv2.INTER_CUBIC,
    )
    return np.clip(large, 0, 255).astype(np.float32)


def places() -> "tuple[Plane, Plane]":
    """Each pixel's place across and down, from 0 to 1."""
    down, across = np.mgrid[0:THUMBNAIL_HEIGHT, 0:THUMBNAIL_WIDTH].astype(np.float32)
    return across / (THUMBNAIL_WIDTH - 1), down / (THUMBNAIL_HEIGHT - 1)


def slope(first: Colour, second: Colour, *, slant: float = 0.35) -> "Canvas":
    """A surface that goes from one colour to another."""
    across, down = places()
    share = np.clip(across * (1 - slant) + down * slant, 0, 1)[..., None]
    one, two = np.array(first, np.float32), np.array(second, np.float32)
    surface: Canvas = (one + (two - one) * share).astype(np.float32)
    return surface


def rays(canvas: "Canvas", *, x: float, y: float, strength: float = 0.10, count: int = 18) -> None:
    """Light from behind the subject."""
    across, down = places()
    angle = np.arctan2((down - y) * THUMBNAIL_HEIGHT, (across - x) * THUMBNAIL_WIDTH)
    wave = np.clip(np.sin(angle * count) * 6, -1, 1) * 0.5 + 0.5
    far = np.hypot((across - x) * 16 / 9, down - y)
    canvas += (255 - canvas) * (strength * wave * np.clip(1.25 - far, 0, 1))[..., None]


def glow(canvas: "Canvas", colour: Colour, *, x: float, y: float, radius: float, strength: float) -> None:
    across, down = places()
    far = ((across - x) * 16 / 9) ** 2 + (down - y) ** 2
    weight = (strength * np.exp(-far / (2 * radius**2)))[..., None]
    canvas += (np.array(colour, np.float32) - canvas) * weight


def vignette(canvas: "Canvas", *, strength: float = 0.35) -> None:
    across, down = places()
    far = ((across - 0.5) * 2) ** 2 + ((down - 0.5) * 2) ** 2
    canvas *= (1 - strength * np.clip(far - 0.35, 0, 1.6) / 1.6)[..., None]


def shade(canvas: "Canvas", weight: "Plane", *, colour: Colour, strength: float) -> None:
    """Draw a soft veil, so that letters have a calm ground."""
    canvas += (np.array(colour, np.float32) - canvas) * (weight * strength)[..., None]
