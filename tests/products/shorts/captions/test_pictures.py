"""Compares rendered caption styles with their reference images; `tests.recording.caption_images` renders them."""

from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING

import pytest

from cutroom.products.shorts.captions.looks import Look
from cutroom.products.shorts.captions.zones import Position
from tests.products.shorts.captions.scenes import (
    CLOSE,
    FOLDER,
    SCENES,
    SHRINK,
    Scene,
    background,
    distance,
    load,
    see,
    shrunk,
)

if TYPE_CHECKING:
    from tests.products.shorts.captions.scenes import Picture

MOST_BYTES = 40_000


@pytest.fixture(scope="module")
async def drawn() -> "dict[str, Picture]":
    return {name: shrunk(picture) for name, picture in (await see(SCENES)).items()}


@cache
def stored(name: str, *, width: int = 360, height: int = 640) -> "Picture":
    return load(FOLDER / f"{name}.png", width=width, height=height)


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
async def test_a_scene_looks_as_it_is_stored(scene: Scene, drawn: "dict[str, Picture]") -> None:
    below = shrunk(background(scene.width, scene.height))
    reference = stored(scene.name, width=scene.width // SHRINK, height=scene.height // SHRINK)
    assert distance(reference, below, below) > 5 * CLOSE
    assert distance(drawn[scene.name], reference, below) < CLOSE


@pytest.mark.parametrize("position", Position)
def test_two_looks_are_told_apart(position: Position) -> None:
    """Or else the test above could not fail."""
    below = shrunk(background(1080, 1920))
    pictures = {look: stored(f"{look}-{position}") for look in Look}
    nearest = min(distance(pictures[one], pictures[two], below) for one, two in combinations(Look, 2))
    assert nearest > 2 * CLOSE


@pytest.mark.parametrize("look", Look)
def test_two_positions_are_told_apart(look: Look) -> None:
    below = shrunk(background(1080, 1920))
    pictures = [stored(f"{look}-{position}") for position in Position]
    assert min(distance(one, two, below) for one, two in combinations(pictures, 2)) > 5 * CLOSE


def test_pictures_are_small_and_none_is_left_over() -> None:
    files = list(FOLDER.glob("*.png"))
    assert {file.stem for file in files} == {scene.name for scene in SCENES}
    assert max(file.stat().st_size for file in files) < MOST_BYTES
