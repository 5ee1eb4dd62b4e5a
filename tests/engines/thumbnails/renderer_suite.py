"""What every maker of thumbnails must do: each adapter's test class inherits this one and says what its maker is."""

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import cv2
import numpy as np
import pytest

from cutroom.engines.errors import EngineError
from cutroom.engines.thumbnails.port import Figure, Pipeline, RenderedThumbnail, ThumbnailRenderer, ThumbnailSpec
from cutroom.engines.types import Box
from cutroom.engines.vision.frame_selection import view_hash
from dev.fixtures.photographs import photograph, slide
from tests.engines.vision.face_detector_suite import scene

if TYPE_CHECKING:
    from cutroom.engines.types import Image

MIN_CONTRAST = 4.5
MIN_DISTANCE = 10  # of 64 bits
SIZE = (720, 1280, 3)


def portrait() -> "Image":
    return photograph("astronaut.png")


def talk() -> ThumbnailSpec:
    """A film of somebody who speaks."""
    wide, _ = scene([(0.3, 0.1, 640)])
    return ThumbnailSpec(Pipeline.CREATIVE, "200 days in space", "en", frames=(portrait(), wide))


def cooking() -> ThumbnailSpec:
    """A film without a face."""
    frames = photograph("coffee.png"), photograph("rocket.jpg"), photograph("chelsea.png")
    return ThumbnailSpec(Pipeline.CREATIVE, "Better coffee at home", "en", frames=frames)


def lesson(*, plates: int = 1) -> ThumbnailSpec:
    """Plates that must be seen as they are."""
    shown = (photograph("rocket.jpg"), photograph("coffee.png"))[:plates]
    return ThumbnailSpec(Pipeline.PRECISION, "How the quarter went", "en", plates=shown)


DESIGNS = {
    "talk": talk(),
    "cooking": cooking(),
    "arabic": replace(talk(), headline="٢٠٠ يوم في الفضاء", language="ar"),
    "japanese": replace(cooking(), headline="家で淹れる最高のコーヒー", language="ja"),
    "without words": replace(talk(), headline=None),
    "one plate": lesson(),
    "two plates": lesson(plates=2),
    "a figure": replace(cooking(), figures=(Figure(portrait(), "Eileen", "left", "smiles"),)),
}


def overlap(one: Box, two: Box) -> float:
    """The part of the second that the first covers."""
    across = min(one.x + one.width, two.x + two.width) - max(one.x, two.x)
    down = min(one.y + one.height, two.y + two.height) - max(one.y, two.y)
    return max(0.0, across) * max(0.0, down) / (two.width * two.height)


def shows(picture: "Image", plate: "Image") -> bool:
    """Whether the plate is in there somewhere, at one size, in its own shape and colours."""
    best = -1.0
    ground = cv2.resize(picture, (160, 90), interpolation=cv2.INTER_AREA)
    for width in range(32, 161):
        height = round(plate.shape[0] * width / plate.shape[1])
        if height > 90:
            break
        small = cv2.resize(plate, (width, height), interpolation=cv2.INTER_AREA)
        best = max(best, float(cv2.matchTemplate(ground, small, cv2.TM_CCOEFF_NORMED).max()))
    return best >= 0.9


class ThumbnailSuite:
    """Thumbnails are of one size, can be read, hide no face, and differ."""

    @pytest.fixture(scope="class")
    @classmethod
    def maker(cls) -> ThumbnailRenderer:
        raise NotImplementedError

    @pytest.fixture(scope="class", params=DESIGNS)
    @classmethod
    def made(
        cls, request: pytest.FixtureRequest, maker: ThumbnailRenderer
    ) -> tuple[ThumbnailSpec, list[RenderedThumbnail]]:
        design = DESIGNS[str(request.param)]
        return design, maker.draw(design, count=3)

    def test_they_are_of_the_size_of_thumbnails_and_the_best_comes_first(
        self, made: tuple[ThumbnailSpec, list[RenderedThumbnail]]
    ) -> None:
        _, drawn = made
        assert 1 <= len(drawn) <= 3
        for each in drawn:
            assert each.picture.shape == SIZE
            assert each.picture.dtype == np.uint8
            assert 0 <= each.score <= 1
            assert each.layout
        assert [each.score for each in drawn] == sorted((each.score for each in drawn), reverse=True)

    def test_no_two_look_alike(self, made: tuple[ThumbnailSpec, list[RenderedThumbnail]]) -> None:
        codes = [view_hash(each.picture) for each in made[1]]
        assert all((one ^ two).bit_count() >= MIN_DISTANCE for one, two in combinations(codes, 2))

    def test_a_headline_stands_off_from_what_is_around_it(
        self, made: tuple[ThumbnailSpec, list[RenderedThumbnail]]
    ) -> None:
        design, drawn = made
        for each in drawn:
            if design.headline is None:
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

    def test_no_face_is_cut_or_written_over(self, made: tuple[ThumbnailSpec, list[RenderedThumbnail]]) -> None:
        for each in made[1]:
            for face in each.faces:
                assert min(face.x, face.y) > 0
                assert max(face.x + face.width, face.y + face.height) < 1
                if each.headline_box is not None:
                    assert overlap(each.headline_box, face) < 0.2

    def test_who_is_in_the_film_is_seen(self, maker: ThumbnailRenderer) -> None:
        [best] = maker.draw(talk(), count=1)
        assert len(best.faces) == 1
        assert best.faces[0].height >= 0.2

    def test_a_headline_without_letters_is_none(self, maker: ThumbnailRenderer) -> None:
        [drawn] = maker.draw(replace(cooking(), headline="\U0001f680 !?"), count=1)
        assert drawn.headline is None

    @pytest.mark.parametrize("plates", [1, 2])
    def test_plates_are_shown_whole_and_undistorted(self, maker: ThumbnailRenderer, plates: int) -> None:
        design = lesson(plates=plates)
        for each in maker.draw(design, count=3):
            assert all(shows(each.picture, plate) for plate in design.plates), each.layout

    @pytest.mark.parametrize(
        ("design", "told"),
        [
            pytest.param(ThumbnailSpec(Pipeline.CREATIVE, "x"), "no picture", id="nothing"),
            pytest.param(ThumbnailSpec(Pipeline.PRECISION, "x"), "1 to 2 plates", id="no plate"),
            pytest.param(replace(lesson(), plates=(slide(),) * 3), "1 to 2 plates", id="three plates"),
            pytest.param(replace(lesson(), figures=(Figure(portrait()),)), "no figures", id="figures"),
            pytest.param(replace(talk(), plates=(slide(),)), "no plates", id="plates"),
            pytest.param(replace(talk(), figures=(Figure(portrait()),) * 4), "at most 3", id="four figures"),
            pytest.param(replace(talk(), brand_influence=1.5), "influence", id="influence"),
            pytest.param(replace(talk(), style=np.zeros((90, 90), np.uint8)), "three bytes", id="grey"),
            pytest.param(replace(talk(), frames=(np.zeros((3, 9, 3), np.uint8),)), "three bytes", id="tiny"),
        ],
    )
    def test_what_cannot_be_made_is_refused(self, maker: ThumbnailRenderer, design: ThumbnailSpec, told: str) -> None:
        with pytest.raises(EngineError, match=told):
            maker.draw(design, count=1)

    @pytest.mark.parametrize("count", [0, 9])
    def test_their_number_is_bounded(self, maker: ThumbnailRenderer, count: int) -> None:
        with pytest.raises(EngineError, match="Between 1 and"):
            maker.draw(talk(), count=count)
