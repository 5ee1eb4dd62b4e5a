"""The compositor makes thumbnails of what it is given, and of nothing else."""

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import cv2
import numpy as np
import pytest

from cutroom.engines.thumbnails.compositor.maker import Compositor
from cutroom.engines.thumbnails.port import Figure, RenderedThumbnail
from cutroom.engines.vision.isnet import IsnetBackgroundRemover
from cutroom.engines.vision.yunet import YuNetFaceDetector
from dev.fixtures.photographs import photograph
from tests.engines.recognition.recognizer_suite import model_folder
from tests.engines.thumbnails.renderer_suite import ThumbnailSuite, cooking, lesson, portrait, talk

if TYPE_CHECKING:
    from cutroom.engines.types import Image
    from cutroom.engines.vision.port import Mask


class KeptCutter:
    """ISNet, asked once for each picture: it takes seconds."""

    name = "isnet-small"

    def __init__(self) -> None:
        self._cutter = IsnetBackgroundRemover(model_folder(self.name), name=self.name, cpu_threads=2)
        self._kept: dict[bytes, Mask] = {}

    def cut(self, picture: "Image") -> "Mask":
        key = picture.tobytes()
        if key not in self._kept:
            self._kept[key] = self._cutter.cut(picture)
        return self._kept[key]


@lru_cache(maxsize=1)
def compositor() -> Compositor:
    return Compositor(YuNetFaceDetector(model_folder("yunet")), KeptCutter())


@pytest.fixture(scope="module")
def maker() -> Compositor:
    return compositor()


@pytest.fixture(scope="module")
def quick() -> Compositor:
    """For what has nothing to do with cutting out, which takes seconds for each picture."""
    return Compositor(YuNetFaceDetector(model_folder("yunet")), None)


class TestCompositor(ThumbnailSuite):
    """The conformance suite."""

    @pytest.fixture(scope="class")
    @classmethod
    def maker(cls) -> Compositor:
        return compositor()


class TestWithoutCutter(ThumbnailSuite):
    """The same where no model for cutting out is there."""

    @pytest.fixture(scope="class")
    @classmethod
    def maker(cls) -> Compositor:
        return Compositor(YuNetFaceDetector(model_folder("yunet")), None)


def mean_colour(drawn: RenderedThumbnail) -> "np.typing.NDArray[np.float64]":
    return np.asarray(drawn.picture.reshape(-1, 3).mean(axis=0), np.float64)


def test_a_brand_counts_as_much_as_it_is_said_to(quick: Compositor) -> None:
    design = replace(cooking(), headline=None, brand=np.full((90, 160, 3), (20, 40, 230), np.uint8))
    blue = []
    for influence in (0.0, 0.5, 1.0):
        [drawn] = quick.draw(replace(design, brand_influence=influence), count=1)
        red, _, most = mean_colour(drawn)
        blue.append(most - red)
    assert blue[0] < blue[1] < blue[2]


def test_a_style_carries_its_tone_over(quick: Compositor) -> None:
    cold = cv2.resize(photograph("rocket.jpg"), (320, 180)).astype(np.uint8)
    [plain] = quick.draw(replace(cooking(), headline=None), count=1)
    [styled] = quick.draw(replace(cooking(), headline=None, style=cold), count=1)
    assert mean_colour(styled)[2] - mean_colour(styled)[0] > mean_colour(plain)[2] - mean_colour(plain)[0] + 10


def test_colours_of_a_brand_voice_are_used(maker: Compositor) -> None:
    magenta = np.array((200, 0, 160))
    drawn = maker.draw(replace(talk(), colors=("#C800A0",)), count=4)
    shares = [(np.abs(each.picture.astype(int) - magenta).max(axis=2) < 40).mean() for each in drawn]
    assert max(shares) > 0.1


@pytest.mark.parametrize(("position", "at"), [("on the left", 0.3), ("RIGHT side", 0.7)])
def test_a_figure_stands_where_it_was_asked_to(maker: Compositor, position: str, at: float) -> None:
    design = replace(cooking(), figures=(Figure(portrait(), position=position),))
    for each in maker.draw(design, count=2):
        [face] = each.faces
        assert face.x + face.width / 2 == pytest.approx(at, abs=0.2)


def test_three_figures_stand_side_by_side(maker: Compositor) -> None:
    people = (Figure(portrait(), position="left"), Figure(portrait()[:, ::-1].copy()), Figure(portrait()))
    for each in maker.draw(replace(cooking(), figures=people), count=2):
        assert len(each.faces) == 3


def test_a_headline_that_is_too_long_is_shortened_at_a_word(maker: Compositor) -> None:
    said = "Everything that nobody ever told you about the long and winding road from the bean to the cup in your hand"
    for each in maker.draw(replace(cooking(), headline=said), count=2):
        assert each.headline is not None
        words = each.headline.rstrip("\u2026").split()
        assert words == said.upper().split()[: len(words)]


def test_a_word_without_end_is_still_written(maker: Compositor) -> None:
    [drawn] = maker.draw(replace(lesson(), headline="Rindfleischetikettierungsüberwachungsaufgabengesetz"), count=1)
    assert drawn.headline == "RINDFLEISCHETIKETTIERUNGSÜBERWACHUNGSAUFGABENGESETZ"
    assert drawn.contrast is not None
    assert drawn.contrast >= 4.5


def test_the_same_design_gives_the_same_thumbnails(maker: Compositor) -> None:
    one, two = (maker.draw(cooking(), count=2) for _ in range(2))
    assert all(np.array_equal(a.picture, b.picture) for a, b in zip(one, two, strict=True))


def test_pictures_of_every_shape_and_of_nothing_are_taken(maker: Compositor) -> None:
    for shape in ((40, 900), (900, 40), (16, 16), (1080, 1920)):
        grey = np.full((*shape, 3), 127, np.uint8)
        for design in (replace(lesson(), plates=(grey,)), replace(cooking(), frames=(grey,))):
            [drawn] = maker.draw(design, count=1)
            assert drawn.headline
