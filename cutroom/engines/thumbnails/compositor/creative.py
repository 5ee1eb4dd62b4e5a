"""Layouts of the creative pipeline: cutouts on new backgrounds, and uncut frames."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import cv2
import numpy as np

from cutroom.engines.thumbnails.compositor.backgrounds import (
    blurred_background,
    choose_crop,
    glow,
    gradient,
    head_box,
    rays,
    render_crop,
    vignette,
)
from cutroom.engines.thumbnails.compositor.color import WHITE, mix
from cutroom.engines.thumbnails.compositor.cutouts import Cutout, PlacedCutout, draw_cutout, place_cutout
from cutroom.engines.thumbnails.compositor.draft import MARGIN, DraftBuilder, LayoutDraft
from cutroom.engines.thumbnails.compositor.headline_rendering import TextZone
from cutroom.engines.thumbnails.compositor.inputs import AnalyzedImage, CompositorInputs
from cutroom.engines.thumbnails.compositor.palette import Palette
from cutroom.engines.thumbnails.port import THUMBNAIL_HEIGHT, THUMBNAIL_WIDTH
from cutroom.engines.types import Box

if TYPE_CHECKING:
    from cutroom.engines.thumbnails.compositor.color import Canvas, Plane
    from cutroom.engines.vision.port import Mask

W, H = THUMBNAIL_WIDTH, THUMBNAIL_HEIGHT
BAND = 190  # pixels; fits one or two lines
GAP = 28  # pixels between text and protected areas
MIN_COLUMN = 400  # minimum width of a text column, in pixels
SLANT_TOP, SLANT_BOTTOM = 0.55, 0.43  # edge of a slanted panel, as shares of the width
STRIPE = 12  # pixels
POSITIONS = {"left": 0.34, "right": 0.66, "middle": 0.5}  # of the subject in a full-bleed crop, as shares of the width


def layouts(inputs: CompositorInputs) -> Iterator[DraftBuilder]:
    """All layouts, most promising first; each is drawn only when its builder is called."""
    headline = bool(inputs.spec.headline)
    frames = inputs.frames
    prompt = (inputs.spec.prompt or "").lower()
    first = "left" if "left" in prompt and "right" not in prompt else "right"
    other = "left" if first == "right" else "right"
    second = frames[1] if len(frames) > 1 else frames[0]
    third = frames[2] if len(frames) > 2 else second
    if not headline:
        yield lambda: _cutout_layout(inputs, frames[0], side="middle", palette=0, burst=False)
        yield lambda: full_bleed(inputs, frames[0], at=0.5, layout="full-bleed")
        yield lambda: _cutout_layout(inputs, second, side=first, palette=3, burst=True)
        yield lambda: full_bleed(inputs, second, at=0.36, layout="full-bleed-left")
        yield lambda: _duo(inputs, palette=0)
        yield lambda: full_bleed(inputs, third, at=0.64, layout="full-bleed-right")
        return
    yield lambda: _cutout_layout(inputs, frames[0], side=first, palette=0, burst=False)
    yield lambda: slanted_panel(inputs, second, side=other, palette=0)
    yield lambda: full_bleed(inputs, third, at=POSITIONS["right"], layout="full-bleed-right")
    yield lambda: _cutout_layout(inputs, second, side=other, palette=3, burst=True)
    yield lambda: slanted_panel(inputs, frames[0], side=first, palette=1)
    yield lambda: full_bleed(inputs, frames[0], at=POSITIONS["left"], layout="full-bleed-left")
    yield lambda: bottom_band(inputs, third, palette=1)
    yield lambda: _duo(inputs, palette=2)
    yield lambda: label_lines(inputs, third, palette=2)
    yield lambda: bottom_band(inputs, frames[0], palette=0)
    yield lambda: label_lines(inputs, frames[0], palette=1)


def cutout_background(
    inputs: CompositorInputs, source: AnalyzedImage | None, palette: Palette, *, burst: bool, x: float
) -> "Canvas":
    """A blurred frame or style reference; or, for `burst` and where there is neither, a gradient with rays."""
    style = inputs.spec.style
    if burst or (source is None and style is None):
        canvas = gradient(mix(palette.panel, WHITE, 0.06), palette.dark)
        rays(canvas, x=x, y=0.55)
        glow(canvas, mix(palette.panel, WHITE, 0.55), x=x, y=0.45, radius=0.42, strength=0.55)
        vignette(canvas, strength=0.3)
        return canvas
    if style is not None and (source is None or inputs.characters):
        canvas = blurred_background(style)
    else:
        assert source is not None
        cutout = source.cutout
        canvas = blurred_background(source.pixels, cutout.source_mask if cutout else None)
    canvas *= 0.78
    canvas += (np.array(palette.dark, np.float32) - canvas) * 0.22
    glow(canvas, mix(palette.panel, WHITE, 0.45), x=x, y=0.45, radius=0.34, strength=0.45)
    vignette(canvas)
    return canvas


def _cutout_layout(
    inputs: CompositorInputs, source: AnalyzedImage, *, side: str, palette: int, burst: bool
) -> LayoutDraft | None:
    """One large cutout on one side, the headline on the other; the whole frame if there is no good cutout."""
    sides = ("middle",) if side == "middle" else (side, "left" if side == "right" else "right")
    placements = ((each, place_beside(source.cutout, side=each)) for each in sides if source.cutout)
    side, placed = next(((each, placed) for each, placed in placements if placed), (side, None))
    if placed is None:
        return full_bleed(inputs, source, at=POSITIONS[side], layout=f"full-bleed-{side}")
    colors = inputs.palette(palette)
    x = (placed.x + placed.right) / 2 / W
    canvas = cutout_background(inputs, source, colors, burst=burst, x=min(0.9, max(0.1, x)))
    mask = draw_cutout(canvas, placed, outline=WHITE)
    zones = () if side == "middle" else (zone_beside(placed, mask, side=side),)
    return LayoutDraft(
        f"{'burst-' if burst else ''}cutout-{side}",
        canvas,
        colors.over_image(),
        zones,
        tuple(placed.faces()),
        base_score=1.0 if source.faces else 0.75,
        subject=source.pixels,
    )


def place_beside(cutout: Cutout, *, side: str) -> PlacedCutout | None:
    """Places a cutout on one side or in the middle; None if an edge cropped by its source would be visible."""
    left, right = {"left": (0.0, 0.52 * W), "right": (0.48 * W, float(W)), "middle": (0.15 * W, 0.85 * W)}[side]
    return place_cutout(cutout, left=left, right=right)


def zone_beside(placed: PlacedCutout, mask: "Mask", *, side: str) -> TextZone:
    """The column next to a cutout. If it is narrow, text may overlap the body, but never the head."""
    columns = np.flatnonzero((mask[MARGIN : H - MARGIN] > 127).mean(axis=0) > 0.12)
    heads = [head_box(face) for face in placed.faces()]
    if side == "right":
        free = float(columns[0]) if columns.size else placed.x
        head = min((box.x for box in heads), default=float(W))
        end = min(max(free - GAP / 2, MARGIN + 1.25 * MIN_COLUMN), head - GAP)
        return TextZone(MARGIN, MARGIN, max(60.0, end - MARGIN), H - 2 * MARGIN)
    free = float(columns[-1]) if columns.size else placed.right
    head = max((box.x + box.width for box in heads), default=0.0)
    start = max(min(free + GAP / 2, W - MARGIN - 1.25 * MIN_COLUMN), head + GAP)
    return TextZone(start, MARGIN, max(60.0, W - MARGIN - start), H - 2 * MARGIN)


def full_bleed(inputs: CompositorInputs, source: AnalyzedImage, *, at: float, layout: str) -> LayoutDraft:
    """An uncut frame across the thumbnail, with the headline over its least salient area."""
    crop = choose_crop(source.pixels, source.faces, object_box=source.object_box, at=at)
    canvas = render_crop(source.pixels, crop, width=W, height=H)
    vignette(canvas, strength=0.25)
    faces = [crop.map_box(box, width=W, height=H) for box in source.faces]
    text_style = inputs.palette(0).over_image()
    zones = tuple(free_zones([head_box(face) for face in faces]))
    object_box = crop.map_box(source.object_box, width=W, height=H) if source.object_box else None
    return LayoutDraft(
        layout,
        canvas,
        text_style,
        zones,
        tuple(faces),
        base_score=0.72,
        darken_zone=True,
        object_box=object_box,
        subject=source.pixels,
    )


def free_zones(heads: list[Box]) -> Iterator[TextZone]:
    """Columns on both sides and strips above and below, as far as heads leave space."""
    inside = [box for box in heads if box.x < W and box.y < H and box.x + box.width > 0 and box.y + box.height > 0]
    left = min([0.56 * W, *(box.x - GAP for box in inside)])
    right = max([0.44 * W, *(box.x + box.width + GAP for box in inside)])
    top = min([0.36 * H, *(box.y - GAP for box in inside)])
    bottom = max([0.60 * H, *(box.y + box.height + GAP for box in inside)])
    if left - MARGIN >= MIN_COLUMN:
        yield TextZone(MARGIN, MARGIN, left - MARGIN, H - 2 * MARGIN)
    if W - MARGIN - right >= MIN_COLUMN:
        yield TextZone(right, MARGIN, W - MARGIN - right, H - 2 * MARGIN)
    if H - MARGIN - bottom >= 90:
        yield TextZone(MARGIN, bottom, W - 2 * MARGIN, H - MARGIN - bottom, align_x=0.5, align_y=1.0)
    if top - MARGIN >= 90:
        yield TextZone(MARGIN, MARGIN, W - 2 * MARGIN, top - MARGIN, align_x=0.5, align_y=0.0)


def label_zones(faces: list[Box]) -> tuple[TextZone, ...]:
    """Free zones inset for label padding."""
    return tuple(
        TextZone(zone.x + 34, zone.y, zone.width - 68, zone.height, zone.align_x, 1.0 if zone.align_y else 0.0)
        for zone in free_zones([head_box(face) for face in faces])
    )


def slanted_panel(inputs: CompositorInputs, source: AnalyzedImage, *, side: str, palette: int) -> LayoutDraft:
    """A panel with a slanted edge for the headline, next to the image; `side` is the side of the image."""
    colors = inputs.palette(palette)
    start = round((SLANT_BOTTOM - 0.015) * W)
    width = W - start
    crop = choose_crop(
        source.pixels,
        source.faces,
        object_box=source.object_box,
        at=0.54 if side == "right" else 0.46,
        width=width,
        height=H,
    )
    part = render_crop(source.pixels, crop, width=width, height=H)
    canvas = gradient(colors.panel, mix(colors.panel, (0, 0, 0), 0.12))
    x = start if side == "right" else 0
    edge = np.array([[0, 0], [SLANT_TOP * W, 0], [SLANT_BOTTOM * W, H], [0, H]], np.float32)
    stripe = edge + np.array([[0, 0], [STRIPE, 0], [STRIPE, 0], [0, 0]], np.float32)
    if side == "left":
        edge[:, 0], stripe[:, 0] = W - edge[:, 0], W - stripe[:, 0]
    surface, striped = _polygon(edge), _polygon(stripe)
    photo = canvas.copy()
    photo[:, x : x + width] = part
    line = np.array(WHITE if colors.accent == colors.panel else colors.accent, np.float32)
    photo += (line - photo) * striped
    canvas = photo + (canvas - photo) * surface
    faces = tuple(
        Box(box.x + x, box.y, box.width, box.height)
        for box in (crop.map_box(face, width=width, height=H) for face in source.faces)
    )
    column = SLANT_BOTTOM * W + 24 - MARGIN
    zone = TextZone(MARGIN if side == "right" else W - MARGIN - column, MARGIN, column, H - 2 * MARGIN)
    layout = f"slanted-panel-{side}"
    return LayoutDraft(layout, canvas, colors.on_panel(), (zone,), faces, base_score=0.85, subject=source.pixels)


def _polygon(points: "Plane") -> "Plane":
    mask = np.zeros((H, W), np.uint8)
    cv2.fillPoly(mask, [np.rint(points * 16).astype(np.int32)], 255, cv2.LINE_AA, 4)
    return (mask.astype(np.float32) / np.float32(255))[..., None]


def bottom_band(inputs: CompositorInputs, source: AnalyzedImage, *, palette: int) -> LayoutDraft:
    """The image above a colored band with the headline."""
    colors = inputs.palette(palette)
    canvas, faces = _image_over_band(source, colors)
    zone = TextZone(MARGIN, H - BAND + 22, W - 2 * MARGIN, BAND - 44, align_x=0.5)
    return LayoutDraft(
        "band", canvas, colors.on_panel(), (zone,), faces, base_score=0.6, max_lines=2, subject=source.pixels
    )


def _image_over_band(source: AnalyzedImage, colors: Palette) -> tuple["Canvas", tuple[Box, ...]]:
    tall = H - BAND
    crop = choose_crop(source.pixels, source.faces, object_box=source.object_box, at=0.5, width=W, height=tall)
    canvas = gradient(colors.panel, mix(colors.panel, (0, 0, 0), 0.10))
    canvas[:tall] = render_crop(source.pixels, crop, width=W, height=tall)
    canvas[tall - STRIPE : tall] = WHITE if colors.accent == colors.panel else colors.accent
    return canvas, tuple(crop.map_box(face, width=W, height=tall) for face in source.faces)


def label_lines(inputs: CompositorInputs, source: AnalyzedImage, *, palette: int) -> LayoutDraft:
    """An uncut frame, each line of the headline on a label."""
    crop = choose_crop(source.pixels, source.faces, object_box=source.object_box, at=0.62)
    canvas = render_crop(source.pixels, crop, width=W, height=H)
    vignette(canvas, strength=0.3)
    faces = [crop.map_box(box, width=W, height=H) for box in source.faces]
    text_style = inputs.palette(palette).on_labels()
    zones = label_zones(faces)
    return LayoutDraft("labels", canvas, text_style, zones, tuple(faces), base_score=0.62, subject=source.pixels)


def _duo(inputs: CompositorInputs, *, palette: int) -> LayoutDraft | None:
    """Two frames side by side, divided by a slanted line, over a band."""
    if len(inputs.frames) < 2:
        return None
    colors = inputs.palette(palette)
    tall = H - BAND if inputs.spec.headline else H
    canvas = gradient(colors.panel, mix(colors.panel, (0, 0, 0), 0.10))
    width = round(0.56 * W)
    faces: list[Box] = []
    halves = []
    for source, at, x in ((inputs.frames[0], 0.46, 0), (inputs.frames[1], 0.54, W - width)):
        crop = choose_crop(source.pixels, source.faces, object_box=source.object_box, at=at, width=width, height=tall)
        half = canvas.copy()
        half[:tall, x : x + width] = render_crop(source.pixels, crop, width=width, height=tall)
        halves.append(half)
        for face in source.faces:
            box = crop.map_box(face, width=width, height=tall)
            faces.append(Box(box.x + x, box.y, box.width, box.height))
    edge = np.array([[0, 0], [0.54 * W, 0], [0.46 * W, tall], [0, tall]], np.float32)
    line = edge + np.array([[0, 0], [STRIPE, 0], [STRIPE, 0], [0, 0]], np.float32)
    joined = halves[1].copy()
    joined[:tall] += (255 - joined[:tall]) * _polygon(line)[:tall]
    joined[:tall] += (halves[0][:tall] - joined[:tall]) * _polygon(edge)[:tall]
    if not inputs.spec.headline:
        return LayoutDraft("duo", joined, colors.on_panel(), (), tuple(faces), base_score=0.6)
    joined[tall - STRIPE : tall] = 255
    zone = TextZone(MARGIN, tall + 22, W - 2 * MARGIN, BAND - 44, align_x=0.5)
    return LayoutDraft("duo", joined, colors.on_panel(), (zone,), tuple(faces), base_score=0.62, max_lines=2)
