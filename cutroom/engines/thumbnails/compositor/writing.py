"""Writes a headline into a picture, and sees to it that its letters stand off from what is around them."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

import cv2
import numpy as np

from cutroom.engines.thumbnails.compositor.colour import INK, Colour, letters_on, lifted, luminance
from cutroom.engines.thumbnails.compositor.headline import Setting
from cutroom.engines.thumbnails.compositor.lettering import draw_line
from cutroom.engines.types import Box

if TYPE_CHECKING:
    from cutroom.engines.thumbnails.compositor.colour import Canvas
    from cutroom.engines.vision.port import Mask

MIN_CONTRAST = 4.5  # of WCAG, for text of any size
AIM_CONTRAST = 5.5  # of the colours themselves: edges are softer than they
RING_PIXELS = 3  # around letters, in which their contrast is measured
STROKE_SHARE, MIN_STROKE, MAX_STROKE = 0.11, 7, 16  # of the letters' height, and in pixels
SHADOW_SHARE = 0.10
LABEL_PAD_X, LABEL_PAD_Y = 0.30, 0.22  # of the letters' height, around a line on a label
WORST_SHARE = 5  # percent of the ring that may be worse than what is told


class Ground(StrEnum):
    """What letters stand on."""

    STROKE = "stroke"  # the picture, with a dark line around each letter
    LABEL = "label"  # a box of its own for each line
    PANEL = "panel"  # a surface that the layout has made


@dataclass(frozen=True, slots=True)
class Zone:
    """Room for a headline, in pixels; `across` and `down` say where it stands in there, from 0 to 1."""

    x: float
    y: float
    width: float
    height: float
    across: float = 0.0
    down: float = 0.5


@dataclass(frozen=True, slots=True)
class Hand:
    """How it is written: the colour of most lines, of the line that stands out, and of what is behind."""

    ground: Ground
    letters: Colour
    accent: Colour
    behind: Colour = INK


@dataclass(frozen=True, slots=True)
class Written:
    """The letters as a mask of the whole picture, the box around all of it in pixels, and their contrast."""

    letters: "Mask"
    box: Box
    contrast: float


def room_for(zone: Zone, ground: Ground) -> tuple[float, float]:
    """How wide and high a setting may be in the zone."""
    if ground is Ground.LABEL:
        return zone.width * 0.92, zone.height * 0.9
    return (zone.width, zone.height) if ground is Ground.PANEL else (zone.width - 16, zone.height - 16)


def spaced(setting: Setting, ground: Ground) -> Setting:
    """Labels need more room between lines than letters do."""
    if ground is not Ground.LABEL or len(setting.lines) == 1:
        return setting
    return replace(setting, pitch=setting.top + setting.bottom + (2 * LABEL_PAD_Y + 0.10) * setting.letter)


def write(canvas: "Canvas", setting: Setting, zone: Zone, hand: Hand) -> Written:
    """Draw all of it on the canvas; where the letters are not clear enough, once more in plain white or ink."""
    before = canvas.copy()
    written = _write(canvas, setting, zone, hand)
    if written.contrast < MIN_CONTRAST:
        canvas[:] = before
        plain = letters_on(hand.behind)
        written = _write(canvas, setting, zone, replace(hand, letters=plain, accent=plain))
    return written


def _write(canvas: "Canvas", setting: Setting, zone: Zone, hand: Hand) -> Written:
    masks, boxes = _place(setting, zone, shape=(canvas.shape[0], canvas.shape[1]))
    everything = np.maximum.reduce(masks)
    stroke = round(min(MAX_STROKE, max(MIN_STROKE, STROKE_SHARE * setting.letter)))
    if hand.ground is Ground.LABEL:
        _draw_labels(canvas, boxes, setting, colour=hand.behind)
        grown = LABEL_PAD_X * setting.letter
    elif hand.ground is Ground.STROKE:
        _draw_shadow(canvas, everything, setting)
        _paint(canvas, _grown(everything, stroke), hand.behind)
        grown = float(stroke)
    else:
        grown = 0.0
    stands_out = _line_that_stands_out(setting)
    for number, mask in enumerate(masks):
        colour = hand.accent if number == stands_out else hand.letters
        _paint(canvas, mask, lifted(colour, against=hand.behind, ratio=AIM_CONTRAST))
    contrast = min(measure_contrast(canvas, mask, everything) for mask in masks)
    left, top = min(box[0] for box in boxes) - grown, min(box[1] for box in boxes) - grown
    right, bottom = max(box[2] for box in boxes) + grown, max(box[3] for box in boxes) + grown
    return Written(everything, Box(left, top, right - left, bottom - top), contrast)


def _place(
    setting: Setting, zone: Zone, *, shape: tuple[int, int]
) -> "tuple[list[Mask], list[tuple[float, float, float, float]]]":
    """A mask of the whole picture for each line, and the box of its letters."""
    across = 1 - zone.across if setting.right_to_left and zone.across != 0.5 else zone.across
    top = zone.y + (zone.height - setting.height) * zone.down
    masks, boxes = [], []
    for number, line in enumerate(setting.lines):
        drawn, pad, base = draw_line(line, size=setting.size)
        width = line.width * setting.size
        x = round(zone.x + (zone.width - width) * across)
        y = round(top + setting.top + number * setting.pitch)
        mask = np.zeros(shape, np.uint8)
        _paste(mask, drawn, x - pad, y - base)
        masks.append(mask)
        boxes.append((float(x), y - setting.top, x + width, y + line.bottom * setting.size))
    return masks, boxes


def _paste(into: "Mask", part: "Mask", x: int, y: int) -> None:
    """What lies outside of the picture is left away."""
    left, top = max(0, x), max(0, y)
    right, bottom = min(into.shape[1], x + part.shape[1]), min(into.shape[0], y + part.shape[0])
    if right > left and bottom > top:
        into[top:bottom, left:right] = part[top - y : bottom - y, left - x : right - x]


def _line_that_stands_out(setting: Setting) -> int:
    """One with a figure in it, else the last; a lone line is like all lines."""
    if len(setting.lines) == 1:
        return -1
    with_figures = [at for at, line in enumerate(setting.lines) if any(each.isdigit() for each in line.text)]
    return with_figures[0] if len(with_figures) == 1 else len(setting.lines) - 1


def _grown(mask: "Mask", pixels: int) -> "Mask":
    """All that is so near to a letter, with a smooth edge."""
    far = cv2.distanceTransform(255 - mask, cv2.DIST_L2, 5)
    near: Mask = np.clip((pixels + 0.5 - far) * 255, 0, 255).astype(np.uint8)
    return near


def _paint(canvas: "Canvas", mask: "Mask", colour: Colour, *, share: float = 1.0) -> None:
    x, y, width, height = cv2.boundingRect(mask)
    part = canvas[y : y + height, x : x + width]
    weight = mask[y : y + height, x : x + width].astype(np.float32)[..., None] * (share / 255)
    part += (np.array(colour, np.float32) - part) * weight


def _draw_shadow(canvas: "Canvas", letters: "Mask", setting: Setting) -> None:
    drop = max(3, round(SHADOW_SHARE * setting.letter))
    moved = np.zeros_like(letters)
    moved[drop:, :] = letters[:-drop, :]
    soft = cv2.GaussianBlur(_grown(moved, drop), (0, 0), drop * 1.3)
    _paint(canvas, soft.astype(np.uint8), (0, 0, 0), share=0.75)


def _draw_labels(
    canvas: "Canvas", boxes: list[tuple[float, float, float, float]], setting: Setting, *, colour: Colour
) -> None:
    pad_x, pad_y = LABEL_PAD_X * setting.letter, LABEL_PAD_Y * setting.letter
    shape = np.zeros(canvas.shape[:2], np.uint8)
    for left, top, right, bottom in boxes:
        corners = (round(left - pad_x), round(top - pad_y)), (round(right + pad_x), round(bottom + pad_y))
        cv2.rectangle(shape, *corners, 255, -1)
    soft = cv2.GaussianBlur(np.roll(shape, 8, axis=0), (0, 0), 12).astype(np.uint8)
    _paint(canvas, soft, (0, 0, 0), share=0.5)
    _paint(canvas, shape, colour)


def measure_contrast(canvas: "Canvas", letters: "Mask", everything: "Mask | None" = None) -> float:
    """The WCAG ratio of letters to the ring of pixels around them, where it is worst but for a few of them."""
    x, y, width, height = cv2.boundingRect(letters)
    left, top = max(0, x - 2 * RING_PIXELS), max(0, y - 2 * RING_PIXELS)
    part = slice(top, y + height + 2 * RING_PIXELS), slice(left, x + width + 2 * RING_PIXELS)
    everything = letters[part] if everything is None else everything[part]
    letters, canvas = letters[part], canvas[part]
    inside = letters > 250
    near = cv2.dilate(letters, np.ones((2 * RING_PIXELS + 1, 2 * RING_PIXELS + 1), np.uint8)) > 128
    # The pixels in which letter and ground mix belong to neither.
    ring = near & (cv2.dilate(everything, np.ones((3, 3), np.uint8)) < 8)
    if not inside.any() or not ring.any():
        return 1.0
    ink = float(np.median(luminance(np.clip(canvas[inside], 0, 255))))
    around = luminance(np.clip(canvas[ring], 0, 255))
    worst = float(np.percentile(around, 100 - WORST_SHARE if ink > np.median(around) else WORST_SHARE))
    low, high = sorted((ink, worst))
    return (high + 0.05) / (low + 0.05)
