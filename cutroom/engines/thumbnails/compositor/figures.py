"""Layouts for figures: one beside the headline, or up to three in a row."""

from collections.abc import Iterator
from typing import TypeVar

from cutroom.engines.thumbnails.compositor.colour import WHITE
from cutroom.engines.thumbnails.compositor.creative import BAND, H, Make, W, beside, bleed, ground_of, slant
from cutroom.engines.thumbnails.compositor.grounds import choose_window, head_of
from cutroom.engines.thumbnails.compositor.material import Material
from cutroom.engines.thumbnails.compositor.precision import AIR, hang
from cutroom.engines.thumbnails.compositor.sketch import MARGIN, Sketch
from cutroom.engines.thumbnails.compositor.subjects import paste, stand
from cutroom.engines.thumbnails.compositor.writing import Zone
from cutroom.engines.types import Box

Shown = TypeVar("Shown")


def layouts(material: Material) -> Iterator[Make]:
    one = len(material.figures) == 1
    if one:
        asked = _side(material.figures[0][0].position)
        first = asked if asked in {"left", "right"} else "right"
        other = "left" if first == "right" else "right"
        shot = material.figures[0][1]
        for number, (side, burst) in enumerate(((first, False), (first, True), (other, False))):
            if side != first and asked in {"left", "right"}:
                continue
            yield lambda side=side, burst=burst, number=number: _figure(material, side, number, burst=burst)  # type: ignore[misc] # defaults bind now
        yield lambda: slant(material, shot, side=first, palette=1)
        yield lambda: _row(material, palette=0, burst=False, low=True)
        yield lambda: bleed(material, shot, at=0.66 if first == "right" else 0.34, layout=f"bleed-{first}")
        return
    if any(shot.subject is None for _, shot in material.figures):
        yield lambda: _cards(material, palette=0, burst=True)
        yield lambda: _cards(material, palette=2, burst=False)
        yield lambda: _cards(material, palette=3, burst=True)
        return
    yield lambda: _row(material, palette=0, burst=False, low=True)
    yield lambda: _row(material, palette=1, burst=True, low=True)
    yield lambda: _row(material, palette=0, burst=False, low=False)
    yield lambda: _row(material, palette=2, burst=True, low=False)


def _cards(material: Material, *, palette: int, burst: bool) -> Sketch:
    """Figures that cannot be cut out, each in a frame of its own, over a band."""
    colours = material.palette(palette)
    shot = material.shots[0] if material.shots else None
    canvas = ground_of(material, shot, colours, burst=burst, x=0.5)
    ordered = _ordered([(_side(figure.position), shot) for figure, shot in material.figures])
    band = BAND if material.design.headline else 0
    tall = H - band - 2 * AIR
    width = min(0.9 * tall, (W - AIR * (len(ordered) + 1)) / len(ordered))
    x = (W - width * len(ordered) - AIR * (len(ordered) - 1)) / 2
    faces: list[Box] = []
    boxes: list[Box] = []
    for each in ordered:
        window = choose_window(each.picture, each.faces, at=0.5, width=round(width), height=round(tall))
        boxes.append(Box(x, AIR, width, tall))
        faces += hang(canvas, each, boxes[-1], window=window)
        x += width + AIR
    zone = Zone(MARGIN, H - band, W - 2 * MARGIN, band - 26, across=0.5)
    layout = "burst-cards" if burst else "cards"
    hand = colours.on_picture()
    return Sketch(layout, canvas, hand, (zone,), tuple(faces), worth=0.7, max_lines=2, kept_free=tuple(boxes))


def _figure(material: Material, side: str, palette: int, *, burst: bool) -> Sketch | None:
    """A lone figure before the film's picture."""
    colours = material.palette(palette)
    subject = material.figures[0][1].subject
    if subject is None:
        return None
    room = {"left": (0.0, 0.52 * W), "right": (0.48 * W, float(W))}[side]
    placed = stand(subject, left=room[0], right=room[1])
    shot = material.shots[0] if material.shots else None
    x = min(0.9, max(0.1, (placed.x + placed.right) / 2 / W))
    canvas = ground_of(material, shot, colours, burst=burst, x=x)
    mask = paste(canvas, placed, outline=WHITE)
    layout = f"{'burst' if burst else 'figure'}-{side}"
    zone = beside(placed, mask, side=side)
    return Sketch(layout, canvas, colours.on_picture(), (zone,), tuple(placed.faces()), worth=1.0)


def _row(material: Material, *, palette: int, burst: bool, low: bool) -> Sketch | None:
    """Figures side by side, in the order that they were asked for; the headline over them or at their feet."""
    subjects = [(_side(figure.position), shot.subject) for figure, shot in material.figures]
    found = [(side, subject) for side, subject in subjects if subject is not None]
    if len(found) < len(subjects):
        return None
    colours = material.palette(palette)
    ordered = _ordered(found)
    shot = material.shots[0] if material.shots else None
    canvas = ground_of(material, shot, colours, burst=burst, x=0.5)
    width, faces = W / len(ordered), []
    top = 0.0 if low or not material.design.headline else 175.0
    size = (0.33 if low else 0.30) if material.design.headline else 0.38
    for number, subject in enumerate(ordered):
        placed = stand(subject, left=number * width, right=(number + 1) * width, face_height=size, top=top)
        paste(canvas, placed, outline=WHITE)
        faces += placed.faces()
    heads = [head_of(face) for face in faces]
    bottom = max([0.66 * H, *(box.y + box.height for box in heads)])
    zone = Zone(MARGIN, bottom, W - 2 * MARGIN, H - 24 - bottom, across=0.5, down=1.0)
    if not low:
        zone = Zone(
            MARGIN,
            24,
            W - 2 * MARGIN,
            max(90.0, min([200.0, *(box.y - 10 for box in heads)]) - 24),
            across=0.5,
            down=0.0,
        )
    layout = f"{'burst-' if burst else ''}row-{'below' if low else 'above'}"
    return Sketch(
        layout, canvas, colours.on_picture(), (zone,), tuple(faces), worth=0.9, max_lines=2, shaded=low and not burst
    )


def _side(position: str | None) -> str:
    words = (position or "").lower()
    found = [side for side in ("left", "right", "center", "centre", "middle") if side in words]
    return ("middle" if found[0] in {"center", "centre"} else found[0]) if len(found) == 1 else ""


def _ordered(placed: list[tuple[str, Shown]]) -> list[Shown]:
    """Left, middle, right as asked; who asked for nothing takes what is free, in the order given."""
    count = len(placed)
    slots: list[Shown | None] = [None] * count
    wanted = {"left": 0, "middle": count // 2, "right": count - 1}
    waiting = []
    for side, subject in placed:
        at = wanted.get(side, -1)
        if at >= 0 and slots[at] is None:
            slots[at] = subject
        else:
            waiting.append(subject)
    return [subject if subject is not None else waiting.pop(0) for subject in slots]
