"""Renders a headline on a canvas and guarantees its WCAG contrast."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

import cv2
import numpy as np

from cutroom.engines.thumbnails.compositor.color import INK, Color, luminance, readable_text_color, with_contrast
from cutroom.engines.thumbnails.compositor.headline_layout import HeadlineLayout
from cutroom.engines.thumbnails.compositor.typesetting import rasterize_line
from cutroom.engines.types import Box

if TYPE_CHECKING:
    from cutroom.engines.thumbnails.compositor.color import Canvas
    from cutroom.engines.vision.port import Mask

MIN_CONTRAST = 4.5  # WCAG AA, for text of any size
TARGET_CONTRAST = 5.5  # of the colors themselves, because antialiased edges are softer
RING_PIXELS = 3  # width of the ring around letters in which contrast is measured
STROKE_SHARE, MIN_STROKE, MAX_STROKE = 0.11, 7, 16  # of the letter height; bounds in pixels
SHADOW_SHARE = 0.10
LABEL_PAD_X, LABEL_PAD_Y = 0.30, 0.22  # of the letter height
WORST_PERCENT = 5  # of ring pixels ignored as outliers


class TextBacking(StrEnum):
    """What separates text from the image."""

    STROKE = "stroke"  # a dark outline around each letter
    LABEL = "label"  # a box behind each line
    PANEL = "panel"  # a surface drawn by the layout


@dataclass(frozen=True, slots=True)
class TextZone:
    """A region for the headline in pixels; the alignment of the text in it is from 0 to 1."""

    x: float
    y: float
    width: float
    height: float
    align_x: float = 0.0
    align_y: float = 0.5


@dataclass(frozen=True, slots=True)
class TextStyle:
    """Colors of the text, of its emphasized line, and of the backing."""

    backing: TextBacking
    color: Color
    accent: Color
    background: Color = INK


@dataclass(frozen=True, slots=True)
class RenderedHeadline:
    """Mask of the text on the canvas, its bounding box in pixels, and its measured contrast."""

    mask: "Mask"
    box: Box
    contrast: float


def available_size(zone: TextZone, backing: TextBacking) -> tuple[float, float]:
    """Maximum width and height of a headline in the zone."""
    if backing is TextBacking.LABEL:
        return zone.width * 0.92, zone.height * 0.9
    return (zone.width, zone.height) if backing is TextBacking.PANEL else (zone.width - 16, zone.height - 16)


def with_label_spacing(layout: HeadlineLayout, backing: TextBacking) -> HeadlineLayout:
    """Increases the line pitch to make room for labels."""
    if backing is not TextBacking.LABEL or len(layout.lines) == 1:
        return layout
    return replace(layout, line_pitch=layout.top + layout.bottom + (2 * LABEL_PAD_Y + 0.10) * layout.letter_height)


def render_headline(canvas: "Canvas", layout: HeadlineLayout, zone: TextZone, style: TextStyle) -> RenderedHeadline:
    """Draws the headline; if the measured contrast is too low, redraws it in plain white or near-black."""
    before = canvas.copy()
    rendered = _render(canvas, layout, zone, style)
    if rendered.contrast < MIN_CONTRAST:
        canvas[:] = before
        plain = readable_text_color(style.background)
        rendered = _render(canvas, layout, zone, replace(style, color=plain, accent=plain))
    return rendered


def _render(canvas: "Canvas", layout: HeadlineLayout, zone: TextZone, style: TextStyle) -> RenderedHeadline:
    masks, boxes = _place(layout, zone, shape=(canvas.shape[0], canvas.shape[1]))
    all_text = np.maximum.reduce(masks)
    stroke = round(min(MAX_STROKE, max(MIN_STROKE, STROKE_SHARE * layout.letter_height)))
    if style.backing is TextBacking.LABEL:
        _draw_labels(canvas, boxes, layout, color=style.background)
        margin = LABEL_PAD_X * layout.letter_height
    elif style.backing is TextBacking.STROKE:
        _draw_shadow(canvas, all_text, layout)
        _paint(canvas, _dilated(all_text, stroke), style.background)
        margin = float(stroke)
    else:
        margin = 0.0
    emphasized = _emphasized_line(layout)
    for number, mask in enumerate(masks):
        color = style.accent if number == emphasized else style.color
        _paint(canvas, mask, with_contrast(color, against=style.background, ratio=TARGET_CONTRAST))
    contrast = min(measure_contrast(canvas, mask, all_text) for mask in masks)
    left, top = min(box[0] for box in boxes) - margin, min(box[1] for box in boxes) - margin
    right, bottom = max(box[2] for box in boxes) + margin, max(box[3] for box in boxes) + margin
    return RenderedHeadline(all_text, Box(left, top, right - left, bottom - top), contrast)


def _place(
    layout: HeadlineLayout, zone: TextZone, *, shape: tuple[int, int]
) -> "tuple[list[Mask], list[tuple[float, float, float, float]]]":
    """A full-size mask and the text box of each line."""
    align_x = 1 - zone.align_x if layout.right_to_left and zone.align_x != 0.5 else zone.align_x
    top = zone.y + (zone.height - layout.height) * zone.align_y
    masks, boxes = [], []
    for number, line in enumerate(layout.lines):
        drawn, pad, base = rasterize_line(line, size=layout.font_size)
        width = line.width * layout.font_size
        x = round(zone.x + (zone.width - width) * align_x)
        y = round(top + layout.top + number * layout.line_pitch)
        mask = np.zeros(shape, np.uint8)
        _paste(mask, drawn, x - pad, y - base)
        masks.append(mask)
        boxes.append((float(x), y - layout.top, x + width, y + line.bottom * layout.font_size))
    return masks, boxes


def _paste(into: "Mask", part: "Mask", x: int, y: int) -> None:
    """Clips to the target."""
    left, top = max(0, x), max(0, y)
    right, bottom = min(into.shape[1], x + part.shape[1]), min(into.shape[0], y + part.shape[0])
    if right > left and bottom > top:
        into[top:bottom, left:right] = part[top - y : bottom - y, left - x : right - x]


def _emphasized_line(layout: HeadlineLayout) -> int:
    """The only line with a digit, else the last; none in a single-line headline."""
    if len(layout.lines) == 1:
        return -1
    with_digits = [at for at, line in enumerate(layout.lines) if any(each.isdigit() for each in line.text)]
    return with_digits[0] if len(with_digits) == 1 else len(layout.lines) - 1


def _dilated(mask: "Mask", pixels: int) -> "Mask":
    """Dilates with an antialiased edge."""
    distance = cv2.distanceTransform(255 - mask, cv2.DIST_L2, 5)
    near: Mask = np.clip((pixels + 0.5 - distance) * 255, 0, 255).astype(np.uint8)
    return near


def _paint(canvas: "Canvas", mask: "Mask", color: Color, *, share: float = 1.0) -> None:
    x, y, width, height = cv2.boundingRect(mask)
    part = canvas[y : y + height, x : x + width]
    weight = mask[y : y + height, x : x + width].astype(np.float32)[..., None] * (share / 255)
    part += (np.array(color, np.float32) - part) * weight


def _draw_shadow(canvas: "Canvas", letters: "Mask", layout: HeadlineLayout) -> None:
    drop = max(3, round(SHADOW_SHARE * layout.letter_height))
    moved = np.zeros_like(letters)
    moved[drop:, :] = letters[:-drop, :]
    soft = cv2.GaussianBlur(_dilated(moved, drop), (0, 0), drop * 1.3)
    _paint(canvas, soft.astype(np.uint8), (0, 0, 0), share=0.75)


def _draw_labels(
    canvas: "Canvas", boxes: list[tuple[float, float, float, float]], layout: HeadlineLayout, *, color: Color
) -> None:
    pad_x, pad_y = LABEL_PAD_X * layout.letter_height, LABEL_PAD_Y * layout.letter_height
    shape = np.zeros(canvas.shape[:2], np.uint8)
    for left, top, right, bottom in boxes:
        corners = (round(left - pad_x), round(top - pad_y)), (round(right + pad_x), round(bottom + pad_y))
        cv2.rectangle(shape, *corners, 255, -1)
    soft = cv2.GaussianBlur(np.roll(shape, 8, axis=0), (0, 0), 12).astype(np.uint8)
    _paint(canvas, soft, (0, 0, 0), share=0.5)
    _paint(canvas, shape, color)


def measure_contrast(canvas: "Canvas", letters: "Mask", all_text: "Mask | None" = None) -> float:
    """WCAG ratio of the text to the ring of pixels around it, at its worst after dropping outliers."""
    x, y, width, height = cv2.boundingRect(letters)
    left, top = max(0, x - 2 * RING_PIXELS), max(0, y - 2 * RING_PIXELS)
    part = slice(top, y + height + 2 * RING_PIXELS), slice(left, x + width + 2 * RING_PIXELS)
    all_text = letters[part] if all_text is None else all_text[part]
    letters, canvas = letters[part], canvas[part]
    inside = letters > 250
    near = cv2.dilate(letters, np.ones((2 * RING_PIXELS + 1, 2 * RING_PIXELS + 1), np.uint8)) > 128
    # Antialiased pixels belong to neither text nor background.
    ring = near & (cv2.dilate(all_text, np.ones((3, 3), np.uint8)) < 8)
    if not inside.any() or not ring.any():
        return 1.0
    text = float(np.median(luminance(np.clip(canvas[inside], 0, 255))))
    around = luminance(np.clip(canvas[ring], 0, 255))
    worst = float(np.percentile(around, 100 - WORST_PERCENT if text > np.median(around) else WORST_PERCENT))
    low, high = sorted((text, worst))
    return (high + 0.05) / (low + 0.05)
