"""Compares rendered caption styles with their reference images; `tests.recording.caption_images` renders them."""

from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING

import pytest

from cutroom.products.shorts.captions.safe_zones import CaptionPosition
from cutroom.products.shorts.captions.styles import CaptionStyle
from tests.products.shorts.captions.scenes import (
    DOWNSCALE,
    MAX_DISTANCE,
    REFERENCE_DIR,
    SCENES,
    CaptionScene,
    background,
    distance,
    downscale,
    load,
    render_scenes,
)

if TYPE_CHECKING:
    from tests.products.shorts.captions.scenes import Image

MAX_BYTES = 40_000


@pytest.fixture(scope="module")
async def drawn() -> "dict[str, Image]":
    return {name: downscale(image) for name, image in (await render_scenes(SCENES)).items()}


@cache
def stored(name: str, *, width: int = 360, height: int = 640) -> "Image":
    return load(REFERENCE_DIR / f"{name}.png", width=width, height=height)


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
async def test_scene_matches_its_reference_image(scene: CaptionScene, drawn: "dict[str, Image]") -> None:
    below = downscale(background(scene.width, scene.height))
    reference = stored(scene.name, width=scene.width // DOWNSCALE, height=scene.height // DOWNSCALE)
    assert distance(reference, below, below) > 5 * MAX_DISTANCE
    assert distance(drawn[scene.name], reference, below) < MAX_DISTANCE


@pytest.mark.parametrize("position", CaptionPosition)
def test_styles_are_distinguishable(position: CaptionPosition) -> None:
    """Otherwise the comparison above could not fail."""
    below = downscale(background(1080, 1920))
    images = {caption_style: stored(f"{caption_style}-{position}") for caption_style in CaptionStyle}
    nearest = min(distance(images[one], images[two], below) for one, two in combinations(CaptionStyle, 2))
    assert nearest > 2 * MAX_DISTANCE


@pytest.mark.parametrize("caption_style", CaptionStyle)
def test_positions_are_distinguishable(caption_style: CaptionStyle) -> None:
    below = downscale(background(1080, 1920))
    images = [stored(f"{caption_style}-{position}") for position in CaptionPosition]
    assert min(distance(one, two, below) for one, two in combinations(images, 2)) > 5 * MAX_DISTANCE


def test_reference_images_are_small_and_complete() -> None:
    files = list(REFERENCE_DIR.glob("*.png"))
    assert {file.stem for file in files} == {scene.name for scene in SCENES}
    assert max(file.stat().st_size for file in files) < MAX_BYTES
