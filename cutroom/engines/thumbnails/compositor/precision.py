"""Layouts of the precise pipeline: plates are shown whole, undistorted and in their own colours."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import cv2
import numpy as np

from cutroom.engines.thumbnails.compositor.colour import WHITE, mix
from cutroom.engines.thumbnails.compositor.creative import label_zones
from cutroom.engines.thumbnails.compositor.grounds import Window, blurred, glow, shown, slope, vignette
from cutroom.engines.thumbnails.compositor.material import Material, Shot
from cutroom.engines.thumbnails.compositor.palette import Palette
from cutroom.engines.thumbnails.compositor.sketch import MARGIN, Sketch
from cutroom.engines.thumbnails.compositor.writing import Zone
from cutroom.engines.thumbnails.port import THUMBNAIL_HEIGHT, THUMBNAIL_WIDTH
from cutroom.engines.types import Box
from cutroom.engines.vision.saliency import is_screen

if TYPE_CHECKING:
    from cutroom.engines.thumbnails.compositor.colour import Canvas, Plane

W, H = THUMBNAIL_WIDTH, THUMBNAIL_HEIGHT
BORDER, CORNER = 8, 18  # pixels of the frame around a plate
AIR = 30  # pixels around it
BAND = 196
WIDE = 0.06  # how far a plate's shape may be from the thumbnail's to fill it

Make = Callable[[], Sketch | None]


def layouts(material: Material) -> Iterator[Make]:
    headline, plates = bool(material.design.headline), material.plates
    if len(plates) == 1:
        if abs(_shape(plates[0]) / (W / H) - 1) <= WIDE and not (headline and is_screen(plates[0].picture)):
            yield lambda: _filled(material, palette=0)
        if headline:
            yield lambda: _column(material, side="right", palette=0, soft=False)
            yield lambda: _banded(material, palette=1, below=True, soft=True)
            yield lambda: _column(material, side="left", palette=2, soft=True)
            yield lambda: _banded(material, palette=0, below=False, soft=False)
    elif headline:
        yield lambda: _banded(material, palette=0, below=True, soft=True)
        yield lambda: _column(material, side="right", palette=1, soft=False)
        yield lambda: _banded(material, palette=2, below=False, soft=False)
        yield lambda: _column(material, side="left", palette=0, soft=True)
    if not headline:
        yield lambda: _alone(material, palette=0, soft=True)
        yield lambda: _alone(material, palette=1, soft=False)


def _shape(plate: Shot) -> float:
    return float(plate.picture.shape[1] / plate.picture.shape[0])


def _filled(material: Material, *, palette: int) -> Sketch:
    """A plate of the thumbnail's own shape from edge to edge, the headline on labels where it hides least."""
    plate = material.plates[0]
    rows, columns = plate.picture.shape[:2]
    width = min(columns, rows * W / H)
    window = Window((columns - width) / 2, (rows - width * H / W) / 2, width, width * H / W)
    canvas = shown(plate.picture, window, width=W, height=H)
    faces = [window.place(box, width=W, height=H) for box in plate.faces]
    hand = material.palette(palette).on_labels()
    return Sketch("filled", canvas, hand, label_zones(faces), tuple(faces), worth=0.6, max_lines=2)


def _ground(material: Material, colours: Palette, *, soft: bool) -> "Canvas":
    """The first plate out of focus, or a surface of colour."""
    if material.backdrop is not None:
        canvas = blurred(material.backdrop, sigma=5)
        canvas *= 0.8
        return canvas
    if not soft:
        canvas = slope(colours.panel, mix(colours.panel, (0, 0, 0), 0.18))
        glow(canvas, mix(colours.panel, WHITE, 0.4), x=0.7, y=0.4, radius=0.5, strength=0.25)
        return canvas
    source = material.design.style if material.design.style is not None else material.plates[0].picture
    canvas = blurred(source, sigma=30)
    canvas *= 0.6
    canvas += (np.array(colours.deep, np.float32) - canvas) * 0.5
    glow(canvas, colours.panel, x=0.75, y=0.35, radius=0.5, strength=0.35)
    vignette(canvas)
    return canvas


def _column(material: Material, *, side: str, palette: int, soft: bool) -> Sketch:
    """Plates at one side, above each other; the headline in the column that they leave."""
    colours = material.palette(palette)
    canvas = _ground(material, colours, soft=soft)
    plates = material.plates
    room = 0.60 * W - AIR
    tall = (H - AIR * (len(plates) + 1)) / len(plates)
    scales = [min(room / each.picture.shape[1], tall / each.picture.shape[0]) for each in plates]
    widest = max(scale * each.picture.shape[1] for scale, each in zip(scales, plates, strict=True))
    faces: list[Box] = []
    boxes = []
    for number, (plate, scale) in enumerate(zip(plates, scales, strict=True)):
        width, height = scale * plate.picture.shape[1], scale * plate.picture.shape[0]
        x = (W - AIR - widest if side == "right" else AIR) + (widest - width) / 2
        y = AIR + number * (tall + AIR) + (tall - height) / 2
        boxes.append(Box(x, y, width, height))
        faces += hang(canvas, plate, boxes[-1])
    start = MARGIN if side == "right" else AIR + widest + AIR + 14
    end = W - AIR - widest - AIR - 14 if side == "right" else W - MARGIN
    zone = Zone(start, MARGIN, end - start, H - 2 * MARGIN)
    hand = colours.on_picture() if soft or material.backdrop is not None else colours.on_panel()
    return Sketch(f"column-{side}", canvas, hand, (zone,), tuple(faces), worth=0.9, max_lines=5, kept_free=tuple(boxes))


def _banded(material: Material, *, palette: int, below: bool, soft: bool) -> Sketch:
    """Plates beside each other, and a band of colour below or above."""
    colours = material.palette(palette)
    canvas = _ground(material, colours, soft=soft)
    band = slope(colours.panel, mix(colours.panel, (0, 0, 0), 0.10))
    edge = H - BAND if below else BAND
    part = slice(edge, H) if below else slice(0, edge)
    if soft or material.backdrop is not None:
        canvas[part] = band[part]
        canvas[edge - 5 : edge + 5] = WHITE if colours.accent == colours.panel else colours.accent
    top = 0 if below else BAND
    boxes, faces = _beside(canvas, material, top=top, height=H - BAND)
    zone = Zone(MARGIN, edge + 24 if below else 24, W - 2 * MARGIN, BAND - 48, across=0.5)
    layout = ("split" if len(material.plates) > 1 else "framed") + ("-below" if below else "-above")
    return Sketch(layout, canvas, colours.on_panel(), (zone,), faces, worth=0.85, max_lines=2, kept_free=tuple(boxes))


def _alone(material: Material, *, palette: int, soft: bool) -> Sketch:
    """Nothing but the plates."""
    colours = material.palette(palette)
    canvas = _ground(material, colours, soft=soft)
    _, faces = _beside(canvas, material, top=0, height=H)
    return Sketch("plates" if soft else "plates-on-colour", canvas, colours.on_panel(), (), faces, worth=0.7)


def _beside(canvas: "Canvas", material: Material, *, top: float, height: float) -> tuple[list[Box], tuple[Box, ...]]:
    """Hang the plates in a row, all of one height where their shapes allow."""
    plates = material.plates
    tall = height - 2 * AIR
    shapes = [_shape(each) for each in plates]
    room = W - AIR * (len(plates) + 1)
    tall = min(tall, room / sum(shapes))
    x = (W - tall * sum(shapes) - AIR * (len(plates) - 1)) / 2
    boxes: list[Box] = []
    faces: list[Box] = []
    for plate, shape in zip(plates, shapes, strict=True):
        box = Box(x, top + (height - tall) / 2, tall * shape, tall)
        boxes.append(box)
        faces += hang(canvas, plate, box)
        x += tall * shape + AIR
    return boxes, tuple(faces)


def hang(canvas: "Canvas", plate: Shot, box: Box, *, window: Window | None = None) -> list[Box]:
    """Draw a picture, or a part of it, with a frame and a shadow; gives where its faces are."""
    left, top, width, height = round(box.x), round(box.y), round(box.width), round(box.height)
    rows, columns = plate.picture.shape[:2]
    window = window or Window(0, 0, columns, rows)
    outer = _rounded(left - BORDER, top - BORDER, width + 2 * BORDER, height + 2 * BORDER)
    shadow = cv2.GaussianBlur(np.roll(outer, 12, axis=0), (0, 0), 18)
    canvas *= 1 - 0.6 * shadow[..., None]
    canvas += (255 - canvas) * outer[..., None]
    inner = _rounded(left, top, width, height)[top : top + height, left : left + width, None]
    part = canvas[top : top + height, left : left + width]
    part += (shown(plate.picture, window, width=width, height=height) - part) * inner
    placed = [window.place(face, width=width, height=height) for face in plate.faces]
    return [Box(face.x + left, face.y + top, face.width, face.height) for face in placed]


def _rounded(x: int, y: int, width: int, height: int) -> "Plane":
    """A mask of a box with round corners."""
    mask = np.zeros((H, W), np.uint8)
    cv2.rectangle(mask, (x + CORNER, y), (x + width - CORNER - 1, y + height - 1), 255, -1)
    cv2.rectangle(mask, (x, y + CORNER), (x + width - 1, y + height - CORNER - 1), 255, -1)
    for across in (x + CORNER, x + width - CORNER - 1):
        for down in (y + CORNER, y + height - CORNER - 1):
            cv2.circle(mask, (across, down), CORNER, 255, -1, cv2.LINE_AA)
    return mask.astype(np.float32) / np.float32(255)
