"""The maker of thumbnails that needs no other machine."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cutroom.engines.errors import EngineError
from cutroom.engines.thumbnails.compositor import creative, figures, precision
from cutroom.engines.thumbnails.compositor.headline import MIN_LETTER, shorter
from cutroom.engines.thumbnails.compositor.material import Material, gather
from cutroom.engines.thumbnails.compositor.sketch import Sketch, finish, is_cut
from cutroom.engines.thumbnails.port import (
    MAX_FIGURES,
    MAX_PLATES,
    MAX_THUMBNAILS,
    Pipeline,
    RenderedThumbnail,
    ThumbnailSpec,
)
from cutroom.engines.vision.frame_selection import view_hash
from cutroom.engines.vision.port import BackgroundRemover, FaceDetector

if TYPE_CHECKING:
    from cutroom.engines.types import Image

MIN_DISTANCE = 10  # bits of 64 between thumbnails of one call
MIN_SIDE = 16  # pixels of a picture
# Sizes of letters to try, one after the other: a word that is longer than any room is better small than missing.
LEASTS = (MIN_LETTER, 0.6 * MIN_LETTER, 0.0)
MORE_THAN_ASKED = 3  # layouts that are tried beyond those asked for, so that there is a choice

Make = Callable[[], Sketch | None]


class Compositor:
    """Cuts out, places and writes. Without a cutter, pictures are shown as they are."""

    name = "compositor"

    def __init__(self, finder: FaceDetector, cutter: BackgroundRemover | None) -> None:
        self._finder = finder
        self._cutter = cutter

    def draw(self, design: ThumbnailSpec, *, count: int) -> list[RenderedThumbnail]:
        check(design, count)
        design = with_words(design)
        material = gather(design, self._finder, self._cutter)
        return choose(ways(material), design, self._finder, count=count)


def with_words(design: ThumbnailSpec) -> ThumbnailSpec:
    """A headline in which there is nothing to read, such as one of emoji, is none."""
    if design.headline is None or any(shorter(design.headline, language=design.language)):
        return design
    return replace(design, headline=None)


def ways(material: Material) -> Iterator[Make]:
    """Every layout that fits what is given."""
    if material.design.pipeline is Pipeline.PRECISION:
        return precision.layouts(material)
    return figures.layouts(material) if material.figures else creative.layouts(material)


def choose(
    makes: Iterable[Make], design: ThumbnailSpec, finder: FaceDetector, *, count: int
) -> list[RenderedThumbnail]:
    """The best of several layouts, no two alike, with the largest letters that any of them allows."""
    makes = list(makes)
    for least in LEASTS:
        made: list[RenderedThumbnail] = []
        for make in makes:
            sketch = make()
            drawn = finish(sketch, design, finder, least=least) if sketch is not None else None
            if drawn is not None:
                made.append(drawn)
            if len(_distinct(made)) >= count + MORE_THAN_ASKED:
                break
        if made:
            # A face that is cut is worse than a thumbnail less.
            whole = [drawn for drawn in made if not any(is_cut(face) for face in drawn.faces)]
            return _distinct(whole or made)[:count]
    raise EngineError("There is no room for the headline in any layout.")


def _distinct(made: list[RenderedThumbnail]) -> list[RenderedThumbnail]:
    """The best first; what looks like a better one is left out."""
    kept: list[tuple[int, RenderedThumbnail]] = []
    for drawn in sorted(made, key=lambda each: -each.score):
        code = view_hash(drawn.picture)
        if all((code ^ other).bit_count() >= MIN_DISTANCE for other, _ in kept):
            kept.append((code, drawn))
    return [drawn for _, drawn in kept]


def check(design: ThumbnailSpec, count: int) -> None:
    """What no maker can work with is refused in the same way by all."""
    if not 1 <= count <= MAX_THUMBNAILS:
        raise EngineError(f"Between 1 and {MAX_THUMBNAILS} thumbnails can be made at once.")
    _check_parts(design)
    if not 0 <= design.brand_influence <= 1:
        raise EngineError("The influence of the brand lies between 0 and 1.")
    for picture in _pictures(design):
        if picture.ndim != 3 or picture.shape[2] != 3 or picture.dtype != np.uint8 or min(picture.shape[:2]) < MIN_SIDE:
            raise EngineError("A picture is rows of pixels of three bytes.")


def _check_parts(design: ThumbnailSpec) -> None:
    if design.pipeline is Pipeline.PRECISION:
        if not 1 <= len(design.plates) <= MAX_PLATES:
            raise EngineError(f"The precise pipeline shows 1 to {MAX_PLATES} plates.")
        if design.figures:
            raise EngineError("The precise pipeline shows no figures.")
    elif design.plates:
        raise EngineError("The creative pipeline shows no plates.")
    elif not (design.frames or design.figures):
        raise EngineError("There is no picture to make a thumbnail of.")
    if len(design.figures) > MAX_FIGURES:
        raise EngineError(f"There are at most {MAX_FIGURES} figures.")


def _pictures(design: ThumbnailSpec) -> "list[Image]":
    references = [each for each in (design.style, design.brand, design.influence) if each is not None]
    return [*design.frames, *design.plates, *(figure.picture for figure in design.figures), *references]
