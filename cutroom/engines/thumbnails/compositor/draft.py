"""Layout drafts: places and renders the headline in one, and scores the resulting thumbnail."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import cv2
import numpy as np

from cutroom.engines.thumbnails.compositor.backgrounds import head_box
from cutroom.engines.thumbnails.compositor.cutouts import POSSIBLE_FACE_SCORE, detect_faces
from cutroom.engines.thumbnails.compositor.headline_layout import (
    MAX_LINES,
    MIN_LETTER_HEIGHT,
    HeadlineLayout,
    lay_out_headline,
)
from cutroom.engines.thumbnails.compositor.headline_rendering import (
    RenderedHeadline,
    TextStyle,
    TextZone,
    available_size,
    render_headline,
    with_label_spacing,
)
from cutroom.engines.thumbnails.port import THUMBNAIL_HEIGHT, THUMBNAIL_WIDTH, RenderedThumbnail
from cutroom.engines.types import Box
from cutroom.engines.vision.port import FaceDetector
from cutroom.engines.vision.saliency import saliency_map

if TYPE_CHECKING:
    from cutroom.engines.thumbnails.compositor.color import Canvas
    from cutroom.engines.thumbnails.port import ThumbnailSpec
    from cutroom.engines.types import Image

MARGIN = 44  # pixels between text and the edges
DURATION = Box(1080, 640, 200, 80)  # where players overlay the duration
EDGE_SHARE = 0.01  # a face nearer to the edge counts as cropped: its box excludes chin and ears
GOOD_LETTER_HEIGHT = 120.0
GOOD_CONTRAST = 7.0
SALIENCY_WEIGHT = 0.8
HIDDEN_COST = 0.3  # score penalty for text over the main object
_VARIATIONS = frozenset({"burst", "left", "right", "middle"})  # words in names of layouts of one family


@dataclass(frozen=True, slots=True)
class LayoutDraft:
    """A canvas with one or more candidate zones for the headline; boxes are in pixels.

    `base_score` is the prior of this kind of layout.
    """

    layout: str
    canvas: "Canvas"
    text_style: TextStyle
    zones: tuple[TextZone, ...] = ()
    faces: tuple[Box, ...] = ()
    base_score: float = 0.5
    max_lines: int = MAX_LINES
    darken_zone: bool = False  # whether to darken the chosen zone first
    object_box: Box | None = None  # main object of an image without faces
    protected: tuple[Box, ...] = field(default=())  # besides faces, boxes that text must not cover
    subject: "Image | None" = None  # the image that the layout shows, if it is only one

    @property
    def family(self) -> str:
        """The name of the layout without its side and its kind of background."""
        return "-".join(word for word in self.layout.split("-") if word not in _VARIATIONS)


DraftBuilder: TypeAlias = Callable[[], LayoutDraft | None]


def render_draft(
    draft: LayoutDraft, spec: "ThumbnailSpec", detector: FaceDetector, *, min_letter_height: float = MIN_LETTER_HEIGHT
) -> RenderedThumbnail | None:
    """Renders the headline in the most readable zone; None if it does not fit without covering a face."""
    canvas = draft.canvas.copy()
    rendered, headline, hidden = None, None, 0.0
    if spec.headline:
        chosen = _choose_zone(draft, spec, min_letter_height=min_letter_height)
        if chosen is None:
            return None
        zone, headline, hidden = chosen
        if draft.darken_zone:
            _darken(canvas, zone, headline)
        rendered = render_headline(canvas, headline, zone, draft.text_style)
    image = np.clip(np.rint(canvas), 0, 255).astype(np.uint8)
    faces = detect_faces(image, detector, min_score=POSSIBLE_FACE_SCORE)
    if rendered is not None and _overlaps(rendered, [*faces, *draft.protected]):
        return None
    return RenderedThumbnail(
        image=image,
        score=max(0.0, _score(draft, rendered, headline, faces) - (HIDDEN_COST * hidden if draft.object_box else 0.0)),
        layout=draft.layout,
        headline=headline.text if headline else None,
        contrast=rendered.contrast if rendered else None,
        headline_box=_normalized(rendered.box) if rendered else None,
        faces=tuple(_normalized(box) for box in faces),
    )


def _choose_zone(
    draft: LayoutDraft, spec: "ThumbnailSpec", *, min_letter_height: float
) -> tuple[TextZone, HeadlineLayout, float] | None:
    """The zone with the largest headline over the least salient area, and the saliency it covers there."""
    saliency = saliency_map(np.clip(draft.canvas, 0, 255).astype(np.uint8))
    size = THUMBNAIL_WIDTH // 8, THUMBNAIL_HEIGHT // 8
    saliency = cv2.resize(saliency, size, interpolation=cv2.INTER_LINEAR).astype(np.float32)
    total = float(saliency.sum()) or 1.0
    best: tuple[float, TextZone, HeadlineLayout, float] | None = None
    for zone in draft.zones:
        width, height = available_size(zone, draft.text_style.backing)
        headline = lay_out_headline(
            spec.headline or "",
            language=spec.language,
            width=width,
            height=height / (1.3 if draft.text_style.backing.value == "label" else 1.0),
            max_lines=draft.max_lines,
            min_letter_height=min_letter_height,
        )
        if headline is None:
            continue
        headline = with_label_spacing(headline, draft.text_style.backing)
        left, top = zone.x / 8, (zone.y + (zone.height - headline.height) * zone.align_y) / 8
        part = saliency[
            max(0, int(top)) : int(top + headline.height / 8), max(0, int(left)) : int(left + zone.width / 8)
        ]
        hidden = float(part.sum()) / total
        if draft.object_box is not None:
            # Uses the actual text width: a short headline in a wide zone may leave the object uncovered.
            x = zone.x + (zone.width - headline.width) * zone.align_x
            y = zone.y + (zone.height - headline.height) * zone.align_y
            hidden = 0.3 * hidden + 0.9 * _covered(Box(x, y, headline.width, headline.height), draft.object_box)
        rank = min(1.0, headline.letter_height / GOOD_LETTER_HEIGHT) * (1.0 if headline.is_complete else 0.75)
        rank -= SALIENCY_WEIGHT * hidden
        if best is None or rank > best[0]:
            best = rank, zone, headline, hidden
    return best[1:] if best else None


def _covered(by: Box, box: Box) -> float:
    width = min(by.x + by.width, box.x + box.width) - max(by.x, box.x)
    height = min(by.y + by.height, box.y + box.height) - max(by.y, box.y)
    return max(0.0, width) * max(0.0, height) / max(1.0, box.width * box.height)


def _darken(canvas: "Canvas", zone: TextZone, headline: HeadlineLayout) -> None:
    """Darkens behind the headline with a smooth gradient from the nearest edge."""
    y, x = np.mgrid[0:THUMBNAIL_HEIGHT, 0:THUMBNAIL_WIDTH].astype(np.float32)
    middle_x = zone.x + zone.width / 2
    if zone.width > 0.7 * THUMBNAIL_WIDTH:
        top = zone.y + (zone.height - headline.height) * zone.align_y
        reach = headline.height + 160
        weight = (y - (top - 110)) / reach if zone.y > THUMBNAIL_HEIGHT / 3 else (top + reach - y) / reach
        weight = np.clip(weight * 1.5, 0, 1)
    else:
        reach = zone.width + 220
        weight = (zone.x + zone.width + 180 - x) / reach
        if middle_x > THUMBNAIL_WIDTH / 2:
            weight = (x - (zone.x - 180)) / reach
        weight = np.clip(weight * 1.35, 0, 1)
    smooth = weight * weight * (3 - 2 * weight)
    canvas *= (1 - 0.72 * smooth)[..., None]


def _overlaps(rendered: RenderedHeadline, boxes: Sequence[Box]) -> bool:
    return any(
        rendered.mask[max(0, int(box.y)) : int(box.y + box.height), max(0, int(box.x)) : int(box.x + box.width)].any()
        for box in boxes
    )


def is_face_cropped(face: Box) -> bool:
    """Whether an edge of the thumbnail crops the face; the box is normalized."""
    edges = face.x, face.y, 1 - face.x - face.width, 1 - face.y - face.height
    return min(edges) < EDGE_SHARE


def _score(
    draft: LayoutDraft, rendered: RenderedHeadline | None, headline: HeadlineLayout | None, faces: Sequence[Box]
) -> float:
    """From 0 to 1: readability, faces, colorfulness and the layout's prior."""
    score = 0.3 * draft.base_score
    if rendered is not None and headline is not None:
        score += 0.26 * min(1.0, headline.letter_height / GOOD_LETTER_HEIGHT) * (1.0 if headline.is_complete else 0.7)
        score += 0.08 * min(1.0, rendered.contrast / GOOD_CONTRAST)
        score -= 0.06 * bool(_covered(rendered.box, DURATION))
    else:
        score += 0.34
    if faces:
        tall = max(face.height for face in faces) / THUMBNAIL_HEIGHT
        score += 0.22 * min(1.0, tall / 0.3)
        score -= 0.5 * sum(is_face_cropped(_normalized(face)) for face in faces)
        score -= 0.1 if any(head_box(face).y < -8 for face in faces if face.height > 0.15 * THUMBNAIL_HEIGHT) else 0.0
    elif draft.faces:
        score -= 0.1  # a face of the source is no longer detected
    else:
        score += 0.12
    score += 0.14 * min(1.0, _colorfulness(draft.canvas) / 60)
    return float(min(1.0, max(0.0, score)))


def _colorfulness(canvas: "Canvas") -> float:
    """Colorfulness metric of Hasler and Suesstrunk."""
    small = cv2.resize(canvas, (128, 72), interpolation=cv2.INTER_AREA)
    one = small[..., 0] - small[..., 1]
    two = (small[..., 0] + small[..., 1]) / 2 - small[..., 2]
    return float(np.hypot(one.std(), two.std()) + 0.3 * np.hypot(one.mean(), two.mean()))


def _normalized(box: Box) -> Box:
    """From pixels to shares of the thumbnail, clipped to it."""
    left, top = max(0.0, box.x / THUMBNAIL_WIDTH), max(0.0, box.y / THUMBNAIL_HEIGHT)
    right = min(1.0, (box.x + box.width) / THUMBNAIL_WIDTH)
    bottom = min(1.0, (box.y + box.height) / THUMBNAIL_HEIGHT)
    return Box(left, top, max(0.0, right - left), max(0.0, bottom - top))
