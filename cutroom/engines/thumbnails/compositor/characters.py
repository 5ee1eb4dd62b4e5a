"""Layouts with given characters: one next to the headline, or up to three in a row."""

from collections.abc import Iterator
from typing import TypeVar

from cutroom.engines.thumbnails.compositor.backgrounds import choose_crop, head_box
from cutroom.engines.thumbnails.compositor.color import WHITE
from cutroom.engines.thumbnails.compositor.creative import (
    BAND,
    H,
    W,
    cutout_background,
    full_bleed,
    place_beside,
    slanted_panel,
    zone_beside,
)
from cutroom.engines.thumbnails.compositor.cutouts import draw_cutout, place_cutout
from cutroom.engines.thumbnails.compositor.draft import MARGIN, DraftBuilder, LayoutDraft
from cutroom.engines.thumbnails.compositor.headline_rendering import TextZone
from cutroom.engines.thumbnails.compositor.inputs import AnalyzedImage, CompositorInputs
from cutroom.engines.thumbnails.compositor.precision import PADDING, draw_framed
from cutroom.engines.types import Box

Item = TypeVar("Item")


def layouts(inputs: CompositorInputs) -> Iterator[DraftBuilder]:
    if len(inputs.characters) == 1:
        requested = _side(inputs.characters[0][0].position)
        first = requested if requested in {"left", "right"} else "right"
        other = "left" if first == "right" else "right"
        source = inputs.characters[0][1]
        for number, (side, burst) in enumerate(((first, False), (first, True), (other, False))):
            if side != first and requested in {"left", "right"}:
                continue
            yield lambda side=side, burst=burst, number=number: _single(inputs, side, number, burst=burst)  # type: ignore[misc] # defaults bind now
        yield lambda: slanted_panel(inputs, source, side=first, palette=1)
        yield lambda: _row(inputs, palette=0, burst=False, low=True)
        yield lambda: full_bleed(inputs, source, at=0.66 if first == "right" else 0.34, layout=f"full-bleed-{first}")
        return
    yield lambda: _row(inputs, palette=0, burst=False, low=True)
    yield lambda: _row(inputs, palette=1, burst=True, low=False)
    yield lambda: _cards(inputs, palette=2, burst=False, low=True)
    yield lambda: _cards(inputs, palette=0, burst=True, low=False)
    yield lambda: _row(inputs, palette=2, burst=True, low=True)
    yield lambda: _row(inputs, palette=2, burst=False, low=False)


def _cards(inputs: CompositorInputs, *, palette: int, burst: bool, low: bool) -> LayoutDraft:
    """Characters in frames side by side, with the headline above or below."""
    colors = inputs.palette(palette)
    canvas = cutout_background(inputs, _background_frame(inputs, palette), colors, burst=burst, x=0.5)
    ordered = _ordered([(_side(character.position), image) for character, image in inputs.characters])
    band = BAND if inputs.spec.headline else 0
    tall = H - band - 2 * PADDING
    width = min(0.9 * tall, (W - PADDING * (len(ordered) + 1)) / len(ordered))
    x = (W - width * len(ordered) - PADDING * (len(ordered) - 1)) / 2
    y = PADDING if low else PADDING + band
    faces: list[Box] = []
    boxes: list[Box] = []
    for each in ordered:
        crop = choose_crop(each.pixels, each.faces, at=0.5, width=round(width), height=round(tall))
        boxes.append(Box(x, y, width, tall))
        faces += draw_framed(canvas, each, boxes[-1], crop=crop)
        x += width + PADDING
    zone = TextZone(MARGIN, H - band if low else 26, W - 2 * MARGIN, max(0, band - 26), align_x=0.5)
    layout = f"{'burst-' if burst else ''}cards-{'below' if low else 'above'}"
    text_style = colors.over_image()
    return LayoutDraft(
        layout, canvas, text_style, (zone,), tuple(faces), base_score=0.7, max_lines=2, protected=tuple(boxes)
    )


def _single(inputs: CompositorInputs, side: str, palette: int, *, burst: bool) -> LayoutDraft | None:
    """One character over a background from the video."""
    colors = inputs.palette(palette)
    cutout = inputs.characters[0][1].cutout
    placed = place_beside(cutout, side=side) if cutout else None
    if placed is None:
        return None
    x = min(0.9, max(0.1, (placed.x + placed.right) / 2 / W))
    canvas = cutout_background(inputs, _background_frame(inputs, palette), colors, burst=burst, x=x)
    mask = draw_cutout(canvas, placed, outline=WHITE)
    layout = f"{'burst-' if burst else ''}character-{side}"
    zone = zone_beside(placed, mask, side=side)
    return LayoutDraft(layout, canvas, colors.over_image(), (zone,), tuple(placed.faces()), base_score=1.0)


def _row(inputs: CompositorInputs, *, palette: int, burst: bool, low: bool) -> LayoutDraft | None:
    """Characters side by side in the requested order, with the headline above or below."""
    cutouts = [(_side(character.position), source.cutout) for character, source in inputs.characters]
    found = [(side, cutout) for side, cutout in cutouts if cutout is not None]
    if len(found) < len(cutouts):
        return None
    colors = inputs.palette(palette)
    ordered = _ordered(found)
    canvas = cutout_background(inputs, _background_frame(inputs, palette), colors, burst=burst, x=0.5)
    width, faces = W / len(ordered), []
    top = 0.0 if low or not inputs.spec.headline else 175.0
    size = (0.33 if low else 0.30) if inputs.spec.headline else 0.38
    for number, cutout in enumerate(ordered):
        placed = place_cutout(cutout, left=number * width, right=(number + 1) * width, face_height=size, top=top)
        if placed is None:
            return None
        draw_cutout(canvas, placed, outline=WHITE)
        faces += placed.faces()
    heads = [head_box(face) for face in faces]
    bottom = max([0.66 * H, *(box.y + box.height for box in heads)])
    zone = TextZone(MARGIN, bottom, W - 2 * MARGIN, H - 24 - bottom, align_x=0.5, align_y=1.0)
    if not low:
        zone = TextZone(
            MARGIN,
            24,
            W - 2 * MARGIN,
            max(90.0, min([200.0, *(box.y - 10 for box in heads)]) - 24),
            align_x=0.5,
            align_y=0.0,
        )
    layout = f"{'burst-' if burst else ''}row-{'below' if low else 'above'}"
    return LayoutDraft(
        layout,
        canvas,
        colors.over_image(),
        (zone,),
        tuple(faces),
        base_score=0.9,
        max_lines=2,
        darken_zone=low and not burst,
    )


def _background_frame(inputs: CompositorInputs, number: int) -> AnalyzedImage | None:
    """A different frame of the video for each draft."""
    return inputs.frames[number % len(inputs.frames)] if inputs.frames else None


def _side(position: str | None) -> str:
    words = (position or "").lower()
    found = [side for side in ("left", "right", "center", "centre", "middle") if side in words]
    return ("middle" if found[0] in {"center", "centre"} else found[0]) if len(found) == 1 else ""


def _ordered(requested: list[tuple[str, Item]]) -> list[Item]:
    """Left to right by requested side; items without one fill the remaining slots in order."""
    count = len(requested)
    slots: list[Item | None] = [None] * count
    positions = {"left": 0, "middle": count // 2, "right": count - 1}
    rest = []
    for side, item in requested:
        at = positions.get(side, -1)
        if at >= 0 and slots[at] is None:
            slots[at] = item
        else:
            rest.append(item)
    return [slot if slot is not None else rest.pop(0) for slot in slots]
