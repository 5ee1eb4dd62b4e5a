"""Local thumbnail renderer: builds several layouts, renders and scores them, and keeps the best distinct ones."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from cutroom.engines.errors import EngineError, UnsuitableInputError
from cutroom.engines.thumbnails.compositor import characters, creative, precision
from cutroom.engines.thumbnails.compositor.draft import DraftBuilder, is_face_cropped, render_draft
from cutroom.engines.thumbnails.compositor.headline_layout import ELLIPSIS, MIN_LETTER_HEIGHT, shortened_variants
from cutroom.engines.thumbnails.compositor.inputs import CompositorInputs, prepare_inputs
from cutroom.engines.thumbnails.port import (
    MAX_CHARACTERS,
    MAX_PLATES,
    MAX_THUMBNAILS,
    Pipeline,
    RenderedThumbnail,
    ThumbnailSpec,
)
from cutroom.engines.types import OnProgress
from cutroom.engines.vision.frame_selection import perceptual_hash
from cutroom.engines.vision.port import BackgroundRemover, FaceDetector

if TYPE_CHECKING:
    from cutroom.engines.types import Image

MIN_DISTANCE = 10  # Hamming distance of the 64-bit hashes of two thumbnails of one call
MIN_SIDE = 16  # pixels
# Tried in order: a word that is too wide for every zone is better small than missing.
MIN_LETTER_HEIGHTS = (MIN_LETTER_HEIGHT, 0.6 * MIN_LETTER_HEIGHT, 0.0)
EXTRA_LAYOUTS = 3  # rendered beyond the requested count, to have a choice
# Score penalties for thumbnails of one call that repeat the layout or the image of a better one.
SAME_FAMILY_COST, SAME_SUBJECT_COST = 0.3, 0.12


@dataclass(frozen=True, slots=True)
class RankedThumbnail:
    """A rendered thumbnail, with what makes it different from others."""

    thumbnail: RenderedThumbnail
    family: str
    subject: "Image | None"
    code: int  # perceptual hash

    def is_near(self, other: "RankedThumbnail") -> bool:
        return (self.code ^ other.code).bit_count() < MIN_DISTANCE

    def repetition(self, others: "Sequence[RankedThumbnail]") -> float:
        """The cost of what it has in common with thumbnails that are already chosen."""
        same_family = any(self.family == other.family for other in others)
        same_subject = self.subject is not None and any(self.subject is other.subject for other in others)
        return SAME_FAMILY_COST * same_family + SAME_SUBJECT_COST * same_subject


class Compositor:
    """Composes thumbnails from frames, cutouts and text; without a background remover, from frames and text only."""

    name = "compositor"

    def __init__(self, detector: FaceDetector, remover: BackgroundRemover | None) -> None:
        self._detector = detector
        self._remover = remover

    def render(
        self, spec: ThumbnailSpec, *, count: int, on_progress: OnProgress | None = None
    ) -> list[RenderedThumbnail]:
        validate_spec(spec, count)
        spec = without_unreadable_headline(spec)
        inputs = prepare_inputs(spec, self._detector, self._remover)
        return render_best(layouts_for(inputs), spec, self._detector, count=count, on_progress=on_progress)


def without_unreadable_headline(spec: ThumbnailSpec) -> ThumbnailSpec:
    """Drops a headline without any renderable text, such as one of emoji only."""
    if spec.headline is None or any(shortened_variants(spec.headline, language=spec.language)):
        return spec
    return replace(spec, headline=None)


def layouts_for(inputs: CompositorInputs) -> Iterator[DraftBuilder]:
    """Every layout of the pipeline that fits the inputs."""
    if inputs.spec.pipeline is Pipeline.PRECISION:
        return precision.layouts(inputs)
    return characters.layouts(inputs) if inputs.characters else creative.layouts(inputs)


def render_best(
    builders: Iterable[DraftBuilder],
    spec: ThumbnailSpec,
    detector: FaceDetector,
    *,
    count: int,
    on_progress: OnProgress | None = None,
) -> list[RenderedThumbnail]:
    """The best thumbnails that differ in layout and image, at the largest minimum letter height that any allows."""
    builders = list(builders)
    for min_letter_height in MIN_LETTER_HEIGHTS:
        rendered: list[RankedThumbnail] = []
        for number, build in enumerate(builders):
            if on_progress:
                on_progress(number / len(builders))
            draft = build()
            thumbnail = None
            if draft is not None:
                thumbnail = render_draft(draft, spec, detector, min_letter_height=min_letter_height)
            if draft is not None and thumbnail is not None:
                code = perceptual_hash(thumbnail.image)
                rendered.append(RankedThumbnail(thumbnail, draft.family, draft.subject, code))
            if len(_varied(rendered, count=count + EXTRA_LAYOUTS)) >= count + EXTRA_LAYOUTS:
                break
        if rendered:
            return _varied(rendered, count=count)
    raise UnsuitableInputError("headline_too_long", "The headline does not fit any layout.")


def _varied(rendered: Sequence[RankedThumbnail], *, count: int) -> list[RenderedThumbnail]:
    """Best first: the best one, then those that differ most from it, without near duplicates."""
    # Fewer thumbnails are better than cropped faces.
    uncropped = [each for each in rendered if not any(map(is_face_cropped, each.thumbnail.faces))] or rendered
    # ... and better than a headline that is cut off.
    suitable = [each for each in uncropped if not (each.thumbnail.headline or "").endswith(ELLIPSIS)] or uncropped
    chosen: list[RankedThumbnail] = []
    while len(chosen) < count:
        rest = [each for each in suitable if not any(each.is_near(other) for other in chosen)]
        if not rest:
            break
        chosen.append(max(rest, key=lambda each: each.thumbnail.score - each.repetition(chosen)))
    return sorted((each.thumbnail for each in chosen), key=lambda each: -each.score)


def validate_spec(spec: ThumbnailSpec, count: int) -> None:
    """Validation shared by all renderers."""
    if not 1 <= count <= MAX_THUMBNAILS:
        raise EngineError(f"Between 1 and {MAX_THUMBNAILS} thumbnails can be rendered per call.")
    _validate_images(spec)
    if not 0 <= spec.brand_influence <= 1:
        raise EngineError("The brand influence must be between 0 and 1.")
    for image in _images(spec):
        if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8 or min(image.shape[:2]) < MIN_SIDE:
            raise EngineError("Images must be 8-bit RGB arrays.")


def _validate_images(spec: ThumbnailSpec) -> None:
    if spec.pipeline is Pipeline.PRECISION:
        if not 1 <= len(spec.plates) <= MAX_PLATES:
            raise EngineError(f"The precision pipeline takes 1 to {MAX_PLATES} plates.")
        if spec.characters:
            raise EngineError("The precision pipeline takes no characters.")
    elif spec.plates:
        raise EngineError("The creative pipeline takes no plates.")
    elif not (spec.frames or spec.characters):
        raise UnsuitableInputError("no_picture", "At least one frame of the video or image of a character is required.")
    if len(spec.characters) > MAX_CHARACTERS:
        raise EngineError(f"At most {MAX_CHARACTERS} characters are supported.")


def _images(spec: ThumbnailSpec) -> "list[Image]":
    references = [each for each in (spec.style, spec.brand, spec.influence) if each is not None]
    return [*spec.frames, *spec.plates, *(each.image for each in spec.characters), *references]
