"""Thumbnails of one call differ in layout and image, not only in color."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pytest

from cutroom.engines.thumbnails.compositor.draft import LayoutDraft
from cutroom.engines.thumbnails.compositor.headline_rendering import TextZone
from cutroom.engines.thumbnails.compositor.palette import candidate_palettes
from cutroom.engines.thumbnails.compositor.renderer import render_best
from cutroom.engines.thumbnails.port import Pipeline, ThumbnailSpec

if TYPE_CHECKING:
    from cutroom.engines.types import Image
    from cutroom.engines.vision.port import Face

SPEC = ThumbnailSpec(Pipeline.CREATIVE, frames=(np.zeros((90, 160, 3), np.uint8),))
ONE, TWO, THREE = (np.full((9, 16, 3), level, np.uint8) for level in (1, 2, 3))


class NoFaces:
    """Detects nothing."""

    name = "none"

    def detect(self, image: "Image") -> "list[Face]":
        assert image.size
        return []


def draft(layout: str, base_score: float, subject: "Image | None" = None, *, seed: int | None = None) -> LayoutDraft:
    """A draft whose coarse pattern depends on its name or seed, so that hashes differ."""
    rng = np.random.default_rng(
        seed or sum(map(ord, layout)) + 1000 * (0 if subject is None else int(subject[0, 0, 0]))
    )
    canvas = np.kron(rng.uniform(0, 255, (9, 16, 1)), np.ones((80, 80, 3))).astype(np.float32)
    style = candidate_palettes(SPEC)[0].over_image()
    return LayoutDraft(layout, canvas, style, base_score=base_score, subject=subject)


def chosen(*drafts: LayoutDraft, count: int) -> list[LayoutDraft]:
    builders = [partial(lambda each: each, each) for each in drafts]
    layouts = [each.layout for each in render_best(builders, SPEC, NoFaces(), count=count)]
    images = [each.image for each in render_best(builders, SPEC, NoFaces(), count=count)]
    found = [
        next(one for one in drafts if one.layout == layout and np.array_equal(np.rint(one.canvas), image))
        for layout, image in zip(layouts, images, strict=True)
    ]
    assert [each.base_score for each in found] == sorted((each.base_score for each in found), reverse=True)
    return found


@pytest.mark.parametrize(
    ("layout", "family"),
    [
        ("cutout-left", "cutout"),
        ("burst-cutout-right", "cutout"),
        ("full-bleed-middle", "full-bleed"),
        ("burst-row-below", "row-below"),
        ("band", "band"),
    ],
)
def test_sides_and_backgrounds_are_one_family(layout: str, family: str) -> None:
    assert draft(layout, 0.5).family == family


def test_another_layout_is_preferred_to_the_same_one_in_other_colors() -> None:
    same = draft("burst-cutout-left", 0.95, ONE), draft("cutout-right", 0.94, ONE)
    found = chosen(draft("cutout-left", 1.0, ONE), *same, draft("band", 0.5, ONE), count=2)
    assert [each.layout for each in found] == ["cutout-left", "band"]


def test_another_image_is_preferred_among_similar_scores() -> None:
    drafts = draft("cutout-left", 1.0, ONE), draft("band", 0.7, ONE), draft("band", 0.6, TWO), draft("labels", 0.5, ONE)
    found = chosen(*drafts, draft("labels", 0.45, THREE), count=3)
    assert [each.subject is image for each, image in zip(found, (ONE, TWO, THREE), strict=True)] == [True] * 3


def test_repeated_layouts_fill_up_the_count_but_near_duplicates_do_not() -> None:
    drafts = draft("cutout-left", 1.0, seed=1), draft("cutout-right", 0.9, seed=2), draft("band", 0.8, seed=1)
    assert [each.layout for each in chosen(*drafts, count=3)] == ["cutout-left", "cutout-right"]


def test_whole_headline_is_preferred_to_one_that_is_cut_off() -> None:
    spec = replace(SPEC, headline="An animal that kept its private life secret")
    narrow, wide = TextZone(40, 300, 400, 200), TextZone(40, 40, 1200, 640)
    drafts = [replace(draft("cutout-left", 1.0), zones=(narrow,)), replace(draft("band", 0.1), zones=(wide,))]
    builders = [partial(lambda each: each, each) for each in drafts]
    [cut_off] = render_best(builders[:1], spec, NoFaces(), count=2)
    [whole] = render_best(builders, spec, NoFaces(), count=2)
    assert cut_off.headline == "AN ANIMAL THAT KEPT\u2026"
    assert whole.headline == "AN ANIMAL THAT KEPT ITS PRIVATE LIFE SECRET"
