"""Layouts of the creative pipeline: subjects cut out and placed anew, and pictures of the film as they are."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import cv2
import numpy as np

from cutroom.engines.thumbnails.compositor.colour import WHITE, mix
from cutroom.engines.thumbnails.compositor.grounds import (
    blurred,
    choose_window,
    glow,
    head_of,
    rays,
    shown,
    slope,
    vignette,
)
from cutroom.engines.thumbnails.compositor.material import Material, Shot
from cutroom.engines.thumbnails.compositor.palette import Palette
from cutroom.engines.thumbnails.compositor.sketch import MARGIN, Sketch
from cutroom.engines.thumbnails.compositor.subjects import Placed, paste, stand
from cutroom.engines.thumbnails.compositor.writing import Zone
from cutroom.engines.thumbnails.port import THUMBNAIL_HEIGHT, THUMBNAIL_WIDTH
from cutroom.engines.types import Box

if TYPE_CHECKING:
    from cutroom.engines.thumbnails.compositor.colour import Canvas, Plane
    from cutroom.engines.vision.port import Mask

W, H = THUMBNAIL_WIDTH, THUMBNAIL_HEIGHT
BAND = 190  # pixels of a band for one or two lines
GAP = 28  # pixels between letters and what they must not touch
MIN_COLUMN = 400  # pixels that a column of letters needs
SLANT_TOP, SLANT_BOTTOM = 0.55, 0.43  # of the width: where the edge of a slanted panel is
STRIPE = 12

Make = Callable[[], Sketch | None]


def layouts(material: Material) -> Iterator[Make]:
    """Every way there is, the likeliest first; each is made only when it is asked for."""
    headline = bool(material.design.headline)
    shots = material.shots
    wish = (material.design.prompt or "").lower()
    first = "left" if "left" in wish and "right" not in wish else "right"
    other = "left" if first == "right" else "right"
    second = shots[1] if len(shots) > 1 else shots[0]
    third = shots[2] if len(shots) > 2 else second
    if not headline:
        yield lambda: _cut_out(material, shots[0], side="middle", palette=0, burst=False)
        yield lambda: bleed(material, shots[0], at=0.5, layout="bleed")
        yield lambda: _cut_out(material, second, side=first, palette=3, burst=True)
        yield lambda: bleed(material, second, at=0.36, layout="bleed-left")
        yield lambda: _duo(material, palette=0)
        yield lambda: bleed(material, third, at=0.64, layout="bleed-right")
        return
    yield lambda: _cut_out(material, shots[0], side=first, palette=0, burst=False)
    yield lambda: slant(material, shots[0], side=other, palette=0)
    yield lambda: bleed(material, second, at=0.66, layout="bleed-right")
    yield lambda: _cut_out(material, second, side=other, palette=3, burst=True)
    yield lambda: band(material, shots[0], palette=1)
    yield lambda: bleed(material, shots[0], at=0.34, layout="bleed-left")
    yield lambda: _duo(material, palette=2)
    yield lambda: labels(material, third, palette=2)
    yield lambda: slant(material, second, side=first, palette=1)


def ground_of(material: Material, shot: Shot | None, palette: Palette, *, burst: bool, x: float) -> "Canvas":
    """Behind cut-outs: the shot, or the style reference, out of focus; or a surface of colour with light in it."""
    style = material.design.style
    if burst or (shot is None and style is None):
        canvas = slope(mix(palette.panel, WHITE, 0.06), palette.deep)
        rays(canvas, x=x, y=0.55)
        glow(canvas, mix(palette.panel, WHITE, 0.55), x=x, y=0.45, radius=0.42, strength=0.55)
        vignette(canvas, strength=0.3)
        return canvas
    if style is not None and (shot is None or material.figures):
        canvas = blurred(style)
    else:
        assert shot is not None
        subject = shot.subject
        canvas = blurred(shot.picture, subject.whole if subject else None)
    canvas *= 0.78
    canvas += (np.array(palette.deep, np.float32) - canvas) * 0.22
    glow(canvas, mix(palette.panel, WHITE, 0.45), x=x, y=0.45, radius=0.34, strength=0.45)
    vignette(canvas)
    return canvas


def _cut_out(material: Material, shot: Shot, *, side: str, palette: int, burst: bool) -> Sketch | None:
    """One subject at one side, large, and the headline at the other."""
    subject = shot.subject
    if subject is None or (subject.cut_left and subject.cut_right):
        return None
    # A subject that its picture's edge cuts can only stand at that edge.
    if side != "middle" and (subject.cut_left or subject.cut_right):
        side = "left" if subject.cut_left else "right"
    colours = material.palette(palette)
    room = {"left": (0.0, 0.52 * W), "right": (0.48 * W, float(W)), "middle": (0.15 * W, 0.85 * W)}[side]
    placed = stand(subject, left=room[0], right=room[1])
    x = (placed.x + placed.right) / 2 / W
    canvas = ground_of(material, shot, colours, burst=burst, x=min(0.9, max(0.1, x)))
    mask = paste(canvas, placed, outline=WHITE)
    zones = () if side == "middle" else (beside(placed, mask, side=side),)
    layout = f"{'burst' if burst else 'cut-out'}-{side}"
    return Sketch(layout, canvas, colours.on_picture(), zones, tuple(placed.faces()), worth=1.0 if shot.faces else 0.75)


def beside(placed: Placed, mask: "Mask", *, side: str) -> Zone:
    """The column that a subject leaves free. Where that is little, letters may stand on its body, never its head."""
    columns = np.flatnonzero((mask[MARGIN : H - MARGIN] > 127).mean(axis=0) > 0.12)
    heads = [head_of(face) for face in placed.faces()]
    if side == "right":
        free = float(columns[0]) if columns.size else placed.x
        head = min((box.x for box in heads), default=float(W))
        end = min(max(free - GAP / 2, MARGIN + 1.25 * MIN_COLUMN), head - GAP)
        return Zone(MARGIN, MARGIN, max(60.0, end - MARGIN), H - 2 * MARGIN)
    free = float(columns[-1]) if columns.size else placed.right
    head = max((box.x + box.width for box in heads), default=0.0)
    start = max(min(free + GAP / 2, W - MARGIN - 1.25 * MIN_COLUMN), head + GAP)
    return Zone(start, MARGIN, max(60.0, W - MARGIN - start), H - 2 * MARGIN)


def bleed(material: Material, shot: Shot, *, at: float, layout: str) -> Sketch:
    """The film's own picture from edge to edge, and the headline where it hides nothing."""
    window = choose_window(shot.picture, shot.faces, thing=shot.thing, at=at)
    canvas = shown(shot.picture, window, width=W, height=H)
    vignette(canvas, strength=0.25)
    faces = [window.place(box, width=W, height=H) for box in shot.faces]
    hand = material.palette(0).on_picture()
    zones = tuple(free_zones([head_of(face) for face in faces]))
    thing = window.place(shot.thing, width=W, height=H) if shot.thing else None
    return Sketch(layout, canvas, hand, zones, tuple(faces), worth=0.72, shaded=True, thing=thing)


def free_zones(heads: list[Box]) -> Iterator[Zone]:
    """Columns at both sides and strips above and below, as far as heads leave room."""
    inside = [box for box in heads if box.x < W and box.y < H and box.x + box.width > 0 and box.y + box.height > 0]
    left = min([0.56 * W, *(box.x - GAP for box in inside)])
    right = max([0.44 * W, *(box.x + box.width + GAP for box in inside)])
    top = min([0.36 * H, *(box.y - GAP for box in inside)])
    bottom = max([0.60 * H, *(box.y + box.height + GAP for box in inside)])
    if left - MARGIN >= MIN_COLUMN:
        yield Zone(MARGIN, MARGIN, left - MARGIN, H - 2 * MARGIN)
    if W - MARGIN - right >= MIN_COLUMN:
        yield Zone(right, MARGIN, W - MARGIN - right, H - 2 * MARGIN)
    if H - MARGIN - bottom >= 90:
        yield Zone(MARGIN, bottom, W - 2 * MARGIN, H - MARGIN - bottom, across=0.5, down=1.0)
    if top - MARGIN >= 90:
        yield Zone(MARGIN, MARGIN, W - 2 * MARGIN, top - MARGIN, across=0.5, down=0.0)


def label_zones(faces: list[Box]) -> tuple[Zone, ...]:
    """The same, with room for the boxes around lines."""
    return tuple(
        Zone(zone.x + 34, zone.y, zone.width - 68, zone.height, zone.across, 1.0 if zone.down else 0.0)
        for zone in free_zones([head_of(face) for face in faces])
    )


def slant(material: Material, shot: Shot, *, side: str, palette: int) -> Sketch:
    """A panel of colour with a slanted edge for the headline, and the picture beside it; `side` is the picture's."""
    colours = material.palette(palette)
    start = round((SLANT_BOTTOM - 0.015) * W)
    width = W - start
    window = choose_window(
        shot.picture, shot.faces, thing=shot.thing, at=0.54 if side == "right" else 0.46, width=width, height=H
    )
    part = shown(shot.picture, window, width=width, height=H)
    canvas = slope(colours.panel, mix(colours.panel, (0, 0, 0), 0.12))
    x = start if side == "right" else 0
    edge = np.array([[0, 0], [SLANT_TOP * W, 0], [SLANT_BOTTOM * W, H], [0, H]], np.float32)
    stripe = edge + np.array([[0, 0], [STRIPE, 0], [STRIPE, 0], [0, 0]], np.float32)
    if side == "left":
        edge[:, 0], stripe[:, 0] = W - edge[:, 0], W - stripe[:, 0]
    surface, striped = _polygon(edge), _polygon(stripe)
    photo = canvas.copy()
    photo[:, x : x + width] = part
    line = np.array(WHITE if colours.accent == colours.panel else colours.accent, np.float32)
    photo += (line - photo) * striped
    canvas = photo + (canvas - photo) * surface
    faces = tuple(
        Box(box.x + x, box.y, box.width, box.height)
        for box in (window.place(face, width=width, height=H) for face in shot.faces)
    )
    room = SLANT_BOTTOM * W + 24 - MARGIN
    zone = Zone(MARGIN if side == "right" else W - MARGIN - room, MARGIN, room, H - 2 * MARGIN)
    return Sketch(f"slant-{side}", canvas, colours.on_panel(), (zone,), faces, worth=0.85)


def _polygon(points: "Plane") -> "Plane":
    mask = np.zeros((H, W), np.uint8)
    cv2.fillPoly(mask, [np.rint(points * 16).astype(np.int32)], 255, cv2.LINE_AA, 4)
    return (mask.astype(np.float32) / np.float32(255))[..., None]


def band(material: Material, shot: Shot, *, palette: int) -> Sketch:
    """The picture above, a band of colour below."""
    colours = material.palette(palette)
    canvas, faces = _over_band(shot, colours)
    zone = Zone(MARGIN, H - BAND + 22, W - 2 * MARGIN, BAND - 44, across=0.5)
    return Sketch("band", canvas, colours.on_panel(), (zone,), faces, worth=0.6, max_lines=2)


def _over_band(shot: Shot, colours: Palette) -> tuple["Canvas", tuple[Box, ...]]:
    tall = H - BAND
    window = choose_window(shot.picture, shot.faces, thing=shot.thing, at=0.5, width=W, height=tall)
    canvas = slope(colours.panel, mix(colours.panel, (0, 0, 0), 0.10))
    canvas[:tall] = shown(shot.picture, window, width=W, height=tall)
    canvas[tall - STRIPE : tall] = WHITE if colours.accent == colours.panel else colours.accent
    return canvas, tuple(window.place(face, width=W, height=tall) for face in shot.faces)


def labels(material: Material, shot: Shot, *, palette: int) -> Sketch:
    """The picture from edge to edge, each line on a box of its own."""
    window = choose_window(shot.picture, shot.faces, thing=shot.thing, at=0.62)
    canvas = shown(shot.picture, window, width=W, height=H)
    vignette(canvas, strength=0.3)
    faces = [window.place(box, width=W, height=H) for box in shot.faces]
    zones = []
    for zone in free_zones([head_of(face) for face in faces]):
        inset = 34
        zones.append(
            Zone(zone.x + inset, zone.y, zone.width - 2 * inset, zone.height, zone.across, 1.0 if zone.down else 0.0)
        )
    return Sketch("labels", canvas, material.palette(palette).on_labels(), tuple(zones), tuple(faces), worth=0.62)


def _duo(material: Material, *, palette: int) -> Sketch | None:
    """Two moments of the film side by side, parted by a slanted line, over a band."""
    if len(material.shots) < 2:
        return None
    colours = material.palette(palette)
    tall = H - BAND if material.design.headline else H
    canvas = slope(colours.panel, mix(colours.panel, (0, 0, 0), 0.10))
    width = round(0.56 * W)
    faces: list[Box] = []
    halves = []
    for shot, at, x in ((material.shots[0], 0.46, 0), (material.shots[1], 0.54, W - width)):
        window = choose_window(shot.picture, shot.faces, thing=shot.thing, at=at, width=width, height=tall)
        half = canvas.copy()
        half[:tall, x : x + width] = shown(shot.picture, window, width=width, height=tall)
        halves.append(half)
        for face in shot.faces:
            box = window.place(face, width=width, height=tall)
            faces.append(Box(box.x + x, box.y, box.width, box.height))
    edge = np.array([[0, 0], [0.54 * W, 0], [0.46 * W, tall], [0, tall]], np.float32)
    line = edge + np.array([[0, 0], [STRIPE, 0], [STRIPE, 0], [0, 0]], np.float32)
    joined = halves[1].copy()
    joined[:tall] += (255 - joined[:tall]) * _polygon(line)[:tall]
    joined[:tall] += (halves[0][:tall] - joined[:tall]) * _polygon(edge)[:tall]
    if not material.design.headline:
        return Sketch("duo", joined, colours.on_panel(), (), tuple(faces), worth=0.6)
    joined[tall - STRIPE : tall] = 255
    zone = Zone(MARGIN, tall + 22, W - 2 * MARGIN, BAND - 44, across=0.5)
    return Sketch("duo", joined, colours.on_panel(), (zone,), tuple(faces), worth=0.62, max_lines=2)
