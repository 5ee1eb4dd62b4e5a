"""Conformance suite of thumbnail renderers; each adapter's test class inherits it and provides the renderer."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING

import cv2
import numpy as np
import pytest

from cutroom.engines.errors import EngineError
from cutroom.engines.thumbnails.port import (
    CharacterSpec,
    Pipeline,
    RenderedThumbnail,
    ThumbnailRenderer,
    ThumbnailSpec,
)
from cutroom.engines.types import Box
from cutroom.engines.vision.frame_selection import perceptual_hash
from dev.fixtures.photographs import photograph, slide
from tests.engines.vision.face_detector_suite import scene

if TYPE_CHECKING:
    from cutroom.engines.types import Image

MIN_CONTRAST = 4.5
MIN_DISTANCE = 10  # of 64 bits
SIZE = (720, 1280, 3)

RenderSpec = Callable[[str], list[RenderedThumbnail]]


def portrait() -> "Image":
    return photograph("astronaut.png")


def talk() -> ThumbnailSpec:
    """A video of a speaker."""
    wide, _ = scene([(0.3, 0.1, 640)])
    return ThumbnailSpec(Pipeline.CREATIVE, "200 days in space", "en", frames=(portrait(), wide))


def cooking() -> ThumbnailSpec:
    """A video without faces."""
    frames = photograph("coffee.png"), photograph("rocket.jpg"), photograph("chelsea.png")
    return ThumbnailSpec(Pipeline.CREATIVE, "Better coffee at home", "en", frames=frames)


def lesson(*, plates: int = 1) -> ThumbnailSpec:
    """Plates that must be shown unchanged."""
    shown = (photograph("rocket.jpg"), photograph("coffee.png"))[:plates]
    return ThumbnailSpec(Pipeline.PRECISION, "How the quarter went", "en", plates=shown)


SPECS = {
    "talk": talk(),
    "cooking": cooking(),
    "arabic": replace(talk(), headline="٢٠٠ يوم في الفضاء", language="ar"),
    "japanese": replace(cooking(), headline="家で淹れる最高のコーヒー", language="ja"),
    "no headline": replace(talk(), headline=None),
    "one plate": lesson(),
    "two plates": lesson(plates=2),
    "a character": replace(cooking(), characters=(CharacterSpec(portrait(), "Eileen", "left", "smiles"),)),
}


def overlap(one: Box, two: Box) -> float:
    """Share of the second box that the first covers."""
    across = min(one.x + one.width, two.x + two.width) - max(one.x, two.x)
    down = min(one.y + one.height, two.y + two.height) - max(one.y, two.y)
    return max(0.0, across) * max(0.0, down) / (two.width * two.height)


def shows(image: "Image", plate: "Image") -> bool:
    """Whether the plate appears in the image, undistorted and in its own colors."""
    target = cv2.resize(image, (160, 90), interpolation=cv2.INTER_AREA)
    for width in range(32, 161):
        height = round(plate.shape[0] * width / plate.shape[1])
        if height > 90:
            break
        small = cv2.resize(plate, (width, height), interpolation=cv2.INTER_AREA)
        if float(cv2.matchTemplate(target, small, cv2.TM_CCOEFF_NORMED).max()) >= 0.9:
            return True
    return False


class ThumbnailRendererSuite:
    """Thumbnails have the right size, are readable, cover no faces, and are distinct."""

    @pytest.fixture(scope="class")
    @classmethod
    def renderer(cls) -> ThumbnailRenderer:
        raise NotImplementedError

    @pytest.fixture(scope="class")
    @classmethod
    def render_spec(cls, renderer: ThumbnailRenderer) -> RenderSpec:
        """Renders three thumbnails of a named spec, once."""
        return cache(lambda name: renderer.render(SPECS[name], count=3))

    @pytest.fixture(scope="class", params=SPECS)
    @classmethod
    def made(
        cls, request: pytest.FixtureRequest, render_spec: RenderSpec
    ) -> tuple[ThumbnailSpec, list[RenderedThumbnail]]:
        """A spec and its thumbnails; adapters that share code with another one choose the specs that differ."""
        return SPECS[str(request.param)], render_spec(str(request.param))

    def test_thumbnails_have_the_right_size_and_are_sorted_by_score(
        self, made: tuple[ThumbnailSpec, list[RenderedThumbnail]]
    ) -> None:
        _, thumbnails = made
        assert 1 <= len(thumbnails) <= 3
        for each in thumbnails:
            assert each.image.shape == SIZE
            assert each.image.dtype == np.uint8
            assert 0 <= each.score <= 1
            assert each.layout
        assert [each.score for each in thumbnails] == sorted((each.score for each in thumbnails), reverse=True)

    def test_thumbnails_are_distinct(self, made: tuple[ThumbnailSpec, list[RenderedThumbnail]]) -> None:
        codes = [perceptual_hash(each.image) for each in made[1]]
        assert all((one ^ two).bit_count() >= MIN_DISTANCE for one, two in combinations(codes, 2))

    def test_headline_is_readable(self, made: tuple[ThumbnailSpec, list[RenderedThumbnail]]) -> None:
        spec, thumbnails = made
        for each in thumbnails:
            if spec.headline is None:
                assert (each.headline, each.headline_box, each.contrast) == (None, None, None)
                continue
            assert each.headline
            assert each.contrast is not None
            assert each.contrast >= MIN_CONTRAST
            assert each.headline_box is not None
            box = each.headline_box
            assert min(box.x, box.y) >= 0
            assert max(box.x + box.width, box.y + box.height) <= 1 + 1e-9
            assert box.height >= 0.08

    def test_faces_are_not_cropped_or_covered(self, made: tuple[ThumbnailSpec, list[RenderedThumbnail]]) -> None:
        for each in made[1]:
            for face in each.faces:
                assert min(face.x, face.y) > 0
                assert max(face.x + face.width, face.y + face.height) < 1
                if each.headline_box is not None:
                    assert overlap(each.headline_box, face) < 0.2

    def test_speaker_is_visible(self, render_spec: RenderSpec) -> None:
        best, *_ = render_spec("talk")
        assert len(best.faces) == 1
        assert best.faces[0].height >= 0.2

    def test_headline_without_letters_is_dropped(self, renderer: ThumbnailRenderer) -> None:
        [thumbnail] = renderer.render(replace(cooking(), headline="\U0001f680 !?"), count=1)
        assert thumbnail.headline is None

    def test_plates_are_shown_whole_and_undistorted(self, made: tuple[ThumbnailSpec, list[RenderedThumbnail]]) -> None:
        spec, thumbnails = made
        for each in thumbnails:
            assert all(shows(each.image, plate) for plate in spec.plates), each.layout

    @pytest.mark.parametrize(
        ("spec", "message"),
        [
            pytest.param(ThumbnailSpec(Pipeline.CREATIVE, "x"), "At least one", id="nothing"),
            pytest.param(ThumbnailSpec(Pipeline.PRECISION, "x"), "1 to 2 plates", id="no plate"),
            pytest.param(replace(lesson(), plates=(slide(),) * 3), "1 to 2 plates", id="three plates"),
            pytest.param(replace(lesson(), characters=(CharacterSpec(portrait()),)), "no characters", id="characters"),
            pytest.param(replace(talk(), plates=(slide(),)), "no plates", id="plates"),
            pytest.param(
                replace(talk(), characters=(CharacterSpec(portrait()),) * 4), "At most 3", id="four characters"
            ),
            pytest.param(replace(talk(), brand_influence=1.5), "influence", id="influence"),
            pytest.param(replace(talk(), style=np.zeros((90, 90), np.uint8)), "8-bit RGB", id="gray"),
            pytest.param(replace(talk(), frames=(np.zeros((3, 9, 3), np.uint8),)), "8-bit RGB", id="tiny"),
        ],
    )
    def test_invalid_spec_is_rejected(self, renderer: ThumbnailRenderer, spec: ThumbnailSpec, message: str) -> None:
        with pytest.raises(EngineError, match=message):
            renderer.render(spec, count=1)

    @pytest.mark.parametrize("count", [0, 9])
    def test_count_is_bounded(self, renderer: ThumbnailRenderer, count: int) -> None:
        with pytest.raises(EngineError, match="Between 1 and"):
            renderer.render(talk(), count=count)
