"""Layouts of the precision pipeline: plates are shown whole, undistorted and in their own colors."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import cv2
import numpy as np

from cutroom.engines.thumbnails.compositor.backgrounds import (
    CropWindow,
    blurred_background,
    glow,
    gradient,
    render_crop,
    vignette,
)
from cutroom.engines.thumbnails.compositor.color import WHITE, mix
from cutroom.engines.thumbnails.compositor.creative import label_zones
from cutroom.engines.thumbnails.compositor.draft import MARGIN, DraftBuilder, LayoutDraft
from cutroom.engines.thumbnails.compositor.headline_rendering import TextZone
from cutroom.engines.thumbnails.compositor.inputs import AnalyzedImage, CompositorInputs
from cutroom.engines.thumbnails.compositor.palette import Palette
from cutroom.engines.thumbnails.port import THUMBNAIL_HEIGHT, THUMBNAIL_WIDTH
from cutroom.engines.types import Box
from cutroom.engines.vision.saliency import is_screen

if TYPE_CHECKING:
    from cutroom.engines.thumbnails.compositor.color import Canvas, Plane

W, H = THUMBNAIL_WIDTH, THUMBNAIL_HEIGHT
BORDER, CORNER = 8, 18  # pixels, of the frame around a plate
PADDING = 30  # pixels around a framed plate
BAND = 196  # pixels
ASPECT_TOLERANCE = 0.06  # relative difference in aspect ratio up to which a plate fills the thumbnail


def layouts(inputs: CompositorInputs) -> Iterator[DraftBuilder]:
    headline, plates = bool(inputs.spec.headline), inputs.plates
    if len(plates) == 1:
        if abs(_aspect_ratio(plates[0]) / (W / H) - 1) <= ASPECT_TOLERANCE and not (
            headline and is_screen(plates[0].pixels)
        ):
            yield lambda: _filled(inputs, palette=0)
        if headline:
            yield lambda: _column(inputs, side="right", palette=0, soft=False)
            yield lambda: _banded(inputs, palette=1, below=True, soft=True)
            yield lambda: _column(inputs, side="left", palette=2, soft=True)
            yield lambda: _banded(inputs, palette=0, below=False, soft=False)
    elif headline:
        yield lambda: _banded(inputs, palette=0, below=True, soft=True)
        yield lambda: _column(inputs, side="right", palette=1, soft=False)
        yield lambda: _banded(inputs, palette=2, below=False, soft=False)
        yield lambda: _column(inputs, side="left", palette=0, soft=True)
    if not headline:
        yield lambda: _plates_only(inputs, palette=0, soft=True)
        yield lambda: _plates_only(inputs, palette=1, soft=False)


def _aspect_ratio(plate: AnalyzedImage) -> float:
    return float(plate.pixels.shape[1] / plate.pixels.shape[0])


def _filled(inputs: CompositorInputs, *, palette: int) -> LayoutDraft:
    """A plate of the thumbnail's aspect ratio across the thumbnail, the headline on labels."""
    plate = inputs.plates[0]
    rows, columns = plate.pixels.shape[:2]
    width = min(columns, rows * W / H)
    crop = CropWindow((columns - width) / 2, (rows - width * H / W) / 2, width, width * H / W)
    canvas = render_crop(plate.pixels, crop, width=W, height=H)
    faces = [crop.map_box(box, width=W, height=H) for box in plate.faces]
    text_style = inputs.palette(palette).on_labels()
    return LayoutDraft("filled", canvas, text_style, label_zones(faces), tuple(faces), base_score=0.6, max_lines=2)


def _background(inputs: CompositorInputs, colors: Palette, *, soft: bool) -> "Canvas":
    """The backdrop or the first plate, blurred; or a gradient."""
    if inputs.backdrop is not None:
        canvas = blurred_background(inputs.backdrop, sigma=5)
        canvas *= 0.8
        return canvas
    if not soft:
        canvas = gradient(colors.panel, mix(colors.panel, (0, 0, 0), 0.18))
        glow(canvas, mix(colors.panel, WHITE, 0.4), x=0.7, y=0.4, radius=0.5, strength=0.25)
        return canvas
    source = inputs.spec.style if inputs.spec.style is not None else inputs.plates[0].pixels
    canvas = blurred_background(source, sigma=30)
    canvas *= 0.6
    canvas += (np.array(colors.dark, np.float32) - canvas) * 0.5
    glow(canvas, colors.panel, x=0.75, y=0.35, radius=0.5, strength=0.35)
    vignette(canvas)
    return canvas


def _column(inputs: CompositorInputs, *, side: str, palette: int, soft: bool) -> LayoutDraft:
    """Plates stacked on one side, the headline in the remaining column."""
    colors = inputs.palette(palette)
    canvas = _background(inputs, colors, soft=soft)
    plates = inputs.plates
    available = 0.60 * W - PADDING
    tall = (H - PADDING * (len(plates) + 1)) / len(plates)
    scales = [min(available / each.pixels.shape[1], tall / each.pixels.shape[0]) for each in plates]
    widest = max(scale * each.pixels.shape[1] for scale, each in zip(scales, plates, strict=True))
    faces: list[Box] = []
    boxes = []
    for number, (plate, scale) in enumerate(zip(plates, scales, strict=True)):
        width, height = scale * plate.pixels.shape[1], scale * plate.pixels.shape[0]
        x = (W - PADDING - widest if side == "right" else PADDING) + (widest - width) / 2
        y = PADDING + number * (tall + PADDING) + (tall - height) / 2
        boxes.append(Box(x, y, width, height))
        faces += draw_framed(canvas, plate, boxes[-1])
    start = MARGIN if side == "right" else PADDING + widest + PADDING + 14
    end = W - PADDING - widest - PADDING - 14 if side == "right" else W - MARGIN
    zone = TextZone(start, MARGIN, end - start, H - 2 * MARGIN)
    text_style = colors.over_image() if soft or inputs.backdrop is not None else colors.on_panel()
    return LayoutDraft(
        f"column-{side}", canvas, text_style, (zone,), tuple(faces), base_score=0.9, max_lines=5, protected=tuple(boxes)
    )


def _banded(inputs: CompositorInputs, *, palette: int, below: bool, soft: bool) -> LayoutDraft:
    """Plates side by side, with the headline on a band below or above."""
    colors = inputs.palette(palette)
    canvas = _background(inputs, colors, soft=soft)
    band = gradient(colors.panel, mix(colors.panel, (0, 0, 0), 0.10))
    edge = H - BAND if below else BAND
    part = slice(edge, H) if below else slice(0, edge)
    if soft or inputs.backdrop is not None:
        canvas[part] = band[part]
        canvas[edge - 5 : edge + 5] = WHITE if colors.accent == colors.panel else colors.accent
    top = 0 if below else BAND
    boxes, faces = _draw_row(canvas, inputs, top=top, height=H - BAND)
    zone = TextZone(MARGIN, edge + 24 if below else 24, W - 2 * MARGIN, BAND - 48, align_x=0.5)
    layout = ("split" if len(inputs.plates) > 1 else "framed") + ("-below" if below else "-above")
    return LayoutDraft(
        layout, canvas, colors.on_panel(), (zone,), faces, base_score=0.85, max_lines=2, protected=tuple(boxes)
    )


def _plates_only(inputs: CompositorInputs, *, palette: int, soft: bool) -> LayoutDraft:
    """Plates without a headline."""
    colors = inputs.palette(palette)
    canvas = _background(inputs, colors, soft=soft)
    _, faces = _draw_row(canvas, inputs, top=0, height=H)
    return LayoutDraft("plates" if soft else "plates-on-color", canvas, colors.on_panel(), (), faces, base_score=0.7)


def _draw_row(
    canvas: "Canvas", inputs: CompositorInputs, *, top: float, height: float
) -> tuple[list[Box], tuple[Box, ...]]:
    """Draws the plates in a row, at equal height where their aspect ratios allow."""
    plates = inputs.plates
    tall = height - 2 * PADDING
    ratios = [_aspect_ratio(each) for each in plates]
    available = W - PADDING * (len(plates) + 1)
    tall = min(tall, available / sum(ratios))
    x = (W - tall * sum(ratios) - PADDING * (len(plates) - 1)) / 2
    boxes: list[Box] = []
    faces: list[Box] = []
    for plate, ratio in zip(plates, ratios, strict=True):
        box = Box(x, top + (height - tall) / 2, tall * ratio, tall)
        boxes.append(box)
        faces += draw_framed(canvas, plate, box)
        x += tall * ratio + PADDING
    return boxes, tuple(faces)


def draw_framed(canvas: "Canvas", plate: AnalyzedImage, box: Box, *, crop: CropWindow | None = None) -> list[Box]:
    """Draws an image, or a crop of it, with a frame and a shadow; returns its faces on the canvas."""
    left, top, width, height = round(box.x), round(box.y), round(box.width), round(box.height)
    rows, columns = plate.pixels.shape[:2]
    crop = crop or CropWindow(0, 0, columns, rows)
    outer = _rounded(left - BORDER, top - BORDER, width + 2 * BORDER, height + 2 * BORDER)
    shadow = cv2.GaussianBlur(np.roll(outer, 12, axis=0), (0, 0), 18)
    canvas *= 1 - 0.6 * shadow[..., None]
    canvas += (255 - canvas) * outer[..., None]
    inner = _rounded(left, top, width, height)[top : top + height, left : left + width, None]
    part = canvas[top : top + height, left : left + width]
    part += (render_crop(plate.pixels, crop, width=width, height=height) - part) * inner
    placed = [crop.map_box(face, width=width, height=height) for face in plate.faces]
    return [Box(face.x + left, face.y + top, face.width, face.height) for face in placed]


def _rounded(x: int, y: int, width: int, height: int) -> "Plane":
    """Mask of a rectangle with rounded corners."""
    mask = np.zeros((H, W), np.uint8)
    cv2.rectangle(mask, (x + CORNER, y), (x + width - CORNER - 1, y + height - 1), 255, -1)
    cv2.rectangle(mask, (x, y + CORNER), (x + width - 1, y + height - CORNER - 1), 255, -1)
    for corner_x in (x + CORNER, x + width - CORNER - 1):
        for corner_y in (y + CORNER, y + height - CORNER - 1):
            cv2.circle(mask, (corner_x, corner_y), CORNER, 255, -1, cv2.LINE_AA)
    return mask.astype(np.float32) / np.float32(255)
