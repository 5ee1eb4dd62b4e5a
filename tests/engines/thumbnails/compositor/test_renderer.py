"""The compositor passes the conformance suite and follows brand, style and characters."""

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import cv2
import numpy as np
import pytest

from cutroom.engines.thumbnails.compositor import renderer as renderer_module
from cutroom.engines.thumbnails.compositor.renderer import Compositor
from cutroom.engines.thumbnails.port import CharacterSpec, RenderedThumbnail, ThumbnailSpec
from cutroom.engines.vision.isnet import IsnetBackgroundRemover
from cutroom.engines.vision.yunet import YuNetFaceDetector
from dev.fixtures.photographs import photograph
from tests.engines.recognition.recognizer_suite import model_folder
from tests.engines.thumbnails.renderer_suite import (
    SPECS,
    RenderSpec,
    ThumbnailRendererSuite,
    cooking,
    lesson,
    portrait,
    talk,
)

if TYPE_CHECKING:
    from cutroom.engines.types import Image
    from cutroom.engines.vision.port import Mask


class CachedRemover:
    """ISNet with a cache, because a mask takes seconds."""

    name = "isnet-small"

    def __init__(self) -> None:
        self._remover = IsnetBackgroundRemover(model_folder(self.name), name=self.name, cpu_threads=2)
        self._cache: dict[bytes, Mask] = {}

    def mask(self, image: "Image") -> "Mask":
        key = image.tobytes()
        if key not in self._cache:
            self._cache[key] = self._remover.mask(image)
        return self._cache[key]


@lru_cache(maxsize=1)
def compositor() -> Compositor:
    return Compositor(YuNetFaceDetector(model_folder("yunet")), CachedRemover())


@pytest.fixture(scope="module")
def renderer() -> Compositor:
    return compositor()


@pytest.fixture(scope="module")
def quick() -> Compositor:
    """For tests that need no background removal, which takes seconds per image."""
    return Compositor(YuNetFaceDetector(model_folder("yunet")), None)


@pytest.fixture
def _no_extra_layouts(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that do not depend on the choice between layouts."""
    monkeypatch.setattr(renderer_module, "EXTRA_LAYOUTS", 0)


class TestCompositor(ThumbnailRendererSuite):
    """The conformance suite."""

    @pytest.fixture(scope="class")
    @classmethod
    def renderer(cls) -> Compositor:
        return compositor()


class TestWithoutRemover(ThumbnailRendererSuite):
    """The conformance suite without a background removal model."""

    @pytest.fixture(scope="class")
    @classmethod
    def renderer(cls) -> Compositor:
        return Compositor(YuNetFaceDetector(model_folder("yunet")), None)

    @pytest.fixture(scope="class", params=["talk", "cooking", "a character"])
    @classmethod
    def made(
        cls, request: pytest.FixtureRequest, render_spec: RenderSpec
    ) -> tuple[ThumbnailSpec, list[RenderedThumbnail]]:
        """Plates are never cut out, and the script of a headline changes no cutout."""
        return SPECS[str(request.param)], render_spec(str(request.param))


def mean_color(thumbnail: RenderedThumbnail) -> "np.typing.NDArray[np.float64]":
    return np.asarray(thumbnail.image.reshape(-1, 3).mean(axis=0), np.float64)


@pytest.mark.usefixtures("_no_extra_layouts")
def test_brand_influence_scales_the_color_transfer(quick: Compositor) -> None:
    spec = replace(cooking(), headline=None, brand=np.full((90, 160, 3), (20, 40, 230), np.uint8))
    blue = []
    for influence in (0.0, 0.5, 1.0):
        [thumbnail] = quick.render(replace(spec, brand_influence=influence), count=1)
        red, _, most = mean_color(thumbnail)
        blue.append(most - red)
    assert blue[0] < blue[1] < blue[2]


@pytest.mark.usefixtures("_no_extra_layouts")
def test_style_reference_transfers_its_colors(quick: Compositor) -> None:
    cold = cv2.resize(photograph("rocket.jpg"), (320, 180)).astype(np.uint8)
    [plain] = quick.render(replace(cooking(), headline=None), count=1)
    [styled] = quick.render(replace(cooking(), headline=None, style=cold), count=1)
    assert mean_color(styled)[2] - mean_color(styled)[0] > mean_color(plain)[2] - mean_color(plain)[0] + 10


def test_brand_voice_colors_are_used(renderer: Compositor) -> None:
    magenta = np.array((200, 0, 160))
    thumbnails = renderer.render(replace(talk(), colors=("#C800A0",)), count=4)
    shares = [(np.abs(each.image.astype(int) - magenta).max(axis=2) < 40).mean() for each in thumbnails]
    assert max(shares) > 0.1


@pytest.mark.parametrize(("position", "at"), [("on the left", 0.3), ("RIGHT side", 0.7)])
def test_character_is_placed_at_the_requested_side(renderer: Compositor, position: str, at: float) -> None:
    spec = replace(cooking(), characters=(CharacterSpec(portrait(), position=position),))
    for each in renderer.render(spec, count=2):
        [face] = each.faces
        assert face.x + face.width / 2 == pytest.approx(at, abs=0.2)


def test_three_characters_are_placed_side_by_side(renderer: Compositor) -> None:
    people = (CharacterSpec(portrait(), position="left"), CharacterSpec(portrait()), CharacterSpec(portrait()))
    for each in renderer.render(replace(cooking(), characters=people), count=2):
        assert len(each.faces) == 3


@pytest.mark.usefixtures("_no_extra_layouts")
def test_long_headline_is_shortened_at_a_word(quick: Compositor) -> None:
    headline = (
        "Everything that nobody ever told you about the long and winding road from the bean to the cup in your hand"
    )
    for each in quick.render(replace(cooking(), headline=headline), count=2):
        assert each.headline is not None
        words = each.headline.rstrip("\u2026").split()
        assert words == headline.upper().split()[: len(words)]


@pytest.mark.usefixtures("_no_extra_layouts")
def test_overlong_word_is_rendered_small(quick: Compositor) -> None:
    [thumbnail] = quick.render(
        replace(lesson(), headline="Rindfleischetikettierungsüberwachungsaufgabengesetz"), count=1
    )
    assert thumbnail.headline == "RINDFLEISCHETIKETTIERUNGSÜBERWACHUNGSAUFGABENGESETZ"
    assert thumbnail.contrast is not None
    assert thumbnail.contrast >= 4.5


@pytest.mark.usefixtures("_no_extra_layouts")
def test_rendering_is_deterministic(renderer: Compositor) -> None:
    [one], [two] = (renderer.render(cooking(), count=1) for _ in range(2))
    assert np.array_equal(one.image, two.image)


def test_images_of_any_aspect_ratio_are_accepted(quick: Compositor) -> None:
    for shape in ((40, 900), (900, 40), (16, 16)):
        gray = np.full((*shape, 3), 127, np.uint8)
        [thumbnail] = quick.render(replace(lesson(), plates=(gray,)), count=1)
        assert thumbnail.headline
    [thumbnail] = quick.render(replace(cooking(), frames=(np.full((40, 900, 3), 127, np.uint8),)), count=1)
    assert thumbnail.headline
