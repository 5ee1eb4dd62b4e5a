"""Pictures that would not be shown to anybody come last, and no two of one view are chosen."""

from typing import TYPE_CHECKING

import cv2
import numpy as np
import pytest

from cutroom.engines.errors import EngineError
from cutroom.engines.vision.frame_selection import MAX_PICTURES, SAME, choose_frames, judge, view_hash
from cutroom.engines.vision.yunet import YuNetFaceDetector
from dev.fixtures.photographs import photograph, slide
from tests.engines.recognition.recognizer_suite import model_folder
from tests.engines.vision.face_detector_suite import scene

if TYPE_CHECKING:
    from cutroom.engines.types import Image


@pytest.fixture(scope="module")
def finder() -> YuNetFaceDetector:
    return YuNetFaceDetector(model_folder("yunet"))


def person() -> "Image":
    return scene([(0.3, 0.1, 640)])[0]


def without_eyes(picture: "Image") -> "Image":
    """The portrait with its eyes painted over."""
    closed = picture.copy()
    closed[96:122, 190:258] = closed[78:80, 190:258].mean(axis=0)
    return closed


@pytest.mark.parametrize(
    "worse",
    [
        pytest.param(lambda p: cv2.GaussianBlur(p, (0, 0), 4), id="out of focus"),
        pytest.param(lambda p: cv2.blur(p, (31, 1)), id="moved"),
        pytest.param(lambda p: (p * 0.15).astype(np.uint8), id="fade to black"),
        pytest.param(lambda p: (255 - (255 - p) * 0.15).astype(np.uint8), id="fade to white"),
        pytest.param(np.zeros_like, id="black"),
        pytest.param(lambda p: cv2.addWeighted(p, 0.3, np.full_like(p, 128), 0.7, 0), id="mist"),
    ],
)
def test_a_picture_that_went_wrong_is_worth_less(finder: YuNetFaceDetector, worse: "object") -> None:
    assert callable(worse)
    good, bad = judge(person(), finder), judge(worse(person()).astype(np.uint8), finder)
    assert bad.score < 0.8 * good.score


def test_a_face_is_worth_more_than_none_and_a_screen_least(finder: YuNetFaceDetector) -> None:
    face, cup, screen = (judge(p, finder).score for p in (person(), photograph("coffee.png"), slide()))
    assert face > cup > screen > 0


def test_a_face_that_the_edge_cuts_is_worth_less(finder: YuNetFaceDetector) -> None:
    whole, cut = scene([(0.4, 0.1, 600)])[0], scene([(0.78, 0.1, 600)])[0]
    assert judge(cut, finder).face < judge(whole, finder).face


def test_open_eyes_are_worth_more_than_none(finder: YuNetFaceDetector) -> None:
    portrait = photograph("astronaut.png")
    assert judge(without_eyes(portrait), finder).expression < judge(portrait, finder).expression


def test_the_best_come_first_and_each_view_once(finder: YuNetFaceDetector) -> None:
    rocket, coffee = photograph("rocket.jpg"), photograph("coffee.png")
    brighter = np.clip(person().astype(int) + 6, 0, 255).astype(np.uint8)
    given = [np.zeros_like(rocket), rocket, person(), brighter, coffee, cv2.GaussianBlur(rocket, (0, 0), 3)]
    chosen = choose_frames([each.astype(np.uint8) for each in given], finder, count=3)
    assert {2, 3} & {chosen[0].number}
    assert {each.number for each in chosen[1:]} == {1, 4}
    assert [each.score for each in chosen] == sorted((each.score for each in chosen), reverse=True)


def test_one_view_gives_one_picture(finder: YuNetFaceDetector) -> None:
    assert len(choose_frames([person()] * 5, finder, count=4)) == 1


def test_pictures_are_bounded(finder: YuNetFaceDetector) -> None:
    with pytest.raises(EngineError, match="At most"):
        choose_frames([np.zeros((9, 9, 3), np.uint8)] * (MAX_PICTURES + 1), finder, count=1)


def test_views_are_told_apart_and_sizes_are_not() -> None:
    codes = [view_hash(photograph(name)) for name in ("coffee.png", "rocket.jpg", "chelsea.png", "astronaut.png")]
    assert min((a ^ b).bit_count() for at, a in enumerate(codes) for b in codes[:at]) >= SAME
    small = cv2.resize(photograph("coffee.png"), (320, 213), interpolation=cv2.INTER_AREA).astype(np.uint8)
    assert (view_hash(small) ^ codes[0]).bit_count() <= 4
