"""Frame selection ranks flawed frames last and never selects two of the same view."""

from typing import TYPE_CHECKING

import cv2
import numpy as np
import pytest

from cutroom.engines.errors import EngineError
from cutroom.engines.vision.frame_selection import (
    MAX_FRAMES,
    MIN_HASH_DISTANCE,
    assess_frame,
    find_open_eyes,
    perceptual_hash,
    select_frames,
)
from cutroom.engines.vision.mediapipe import MediaPipeFaceLandmarker
from cutroom.engines.vision.yunet import YuNetFaceDetector
from dev.fixtures.expressions import portrait_with_closed_eyes
from dev.fixtures.photographs import photograph, slide
from tests.engines.recognition.recognizer_suite import model_folder
from tests.engines.vision.face_detector_suite import scene

if TYPE_CHECKING:
    from cutroom.engines.types import Image


@pytest.fixture(scope="module")
def detector() -> YuNetFaceDetector:
    return YuNetFaceDetector(model_folder("yunet"))


def person() -> "Image":
    return scene([(0.3, 0.1, 640)])[0]


def without_eyes(image: "Image") -> "Image":
    """The portrait with its eyes painted over."""
    closed = image.copy()
    closed[96:122, 190:258] = closed[78:80, 190:258].mean(axis=0)
    return closed


@pytest.mark.parametrize(
    "worse",
    [
        pytest.param(lambda p: cv2.GaussianBlur(p, (0, 0), 4), id="out of focus"),
        pytest.param(lambda p: cv2.blur(p, (31, 1)), id="motion blur"),
        pytest.param(lambda p: (p * 0.15).astype(np.uint8), id="fade to black"),
        pytest.param(lambda p: (255 - (255 - p) * 0.15).astype(np.uint8), id="fade to white"),
        pytest.param(np.zeros_like, id="black"),
        pytest.param(lambda p: cv2.addWeighted(p, 0.3, np.full_like(p, 128), 0.7, 0), id="low contrast"),
    ],
)
def test_flawed_frame_scores_lower(detector: YuNetFaceDetector, worse: "object") -> None:
    assert callable(worse)
    good, bad = assess_frame(person(), detector), assess_frame(worse(person()).astype(np.uint8), detector)
    assert bad.score < 0.8 * good.score


def test_face_scores_above_object_above_screen(detector: YuNetFaceDetector) -> None:
    face, cup, screen = (assess_frame(p, detector).score for p in (person(), photograph("coffee.png"), slide()))
    assert face > cup > screen > 0


def test_cropped_face_scores_lower(detector: YuNetFaceDetector) -> None:
    whole, cut = scene([(0.4, 0.1, 600)])[0], scene([(0.78, 0.1, 600)])[0]
    assert assess_frame(cut, detector).face < assess_frame(whole, detector).face


def test_open_eyes_score_higher(detector: YuNetFaceDetector) -> None:
    portrait = photograph("astronaut.png")
    assert assess_frame(without_eyes(portrait), detector).expression < assess_frame(portrait, detector).expression


@pytest.fixture(scope="module")
def landmarker() -> MediaPipeFaceLandmarker:
    return MediaPipeFaceLandmarker(model_folder("mediapipe-face"))


def test_blink_is_selected_last(detector: YuNetFaceDetector, landmarker: MediaPipeFaceLandmarker) -> None:
    """A sharper frame with closed eyes loses to one with open eyes, and to no other person."""
    blink, portrait, cup = portrait_with_closed_eyes(), photograph("astronaut.png"), photograph("coffee.png")
    softer = cv2.GaussianBlur(portrait, (0, 0), 0.6).astype(np.uint8)
    selected = select_frames([blink, softer, cup], detector, count=3, landmarker=landmarker)
    assert [each.index for each in selected] == [1, 2]  # the blink is a near duplicate
    [alone] = select_frames([blink], detector, count=1, landmarker=landmarker)
    assert alone.quality.main_face.has_closed_eyes
    assert alone.score == pytest.approx(alone.quality.picture_score / 2)


def test_expressions_change_no_score_of_open_eyes(
    detector: YuNetFaceDetector, landmarker: MediaPipeFaceLandmarker
) -> None:
    for name in ("astronaut.png", "grace_hopper.jpg", "coffee.png"):
        image = photograph(name)
        assert assess_frame(image, detector, landmarker).score == assess_frame(image, detector).score


def test_open_eyes_nearby_replace_a_blink(detector: YuNetFaceDetector, landmarker: MediaPipeFaceLandmarker) -> None:
    blink, portrait = portrait_with_closed_eyes(), photograph("astronaut.png")
    blurred = cv2.GaussianBlur(portrait, (0, 0), 5).astype(np.uint8)
    assert find_open_eyes(blink, [blink, blurred, portrait], detector, landmarker) == 2
    assert find_open_eyes(blink, [blink, blurred, photograph("grace_hopper.jpg")], detector, landmarker) is None


def test_best_frames_come_first_and_each_view_once(detector: YuNetFaceDetector) -> None:
    rocket, coffee = photograph("rocket.jpg"), photograph("coffee.png")
    brighter = np.clip(person().astype(int) + 6, 0, 255).astype(np.uint8)
    frames = [np.zeros_like(rocket), rocket, person(), brighter, coffee, cv2.GaussianBlur(rocket, (0, 0), 3)]
    selected = select_frames([each.astype(np.uint8) for each in frames], detector, count=3)
    assert {2, 3} & {selected[0].index}
    assert {each.index for each in selected[1:]} == {1, 4}
    assert [each.score for each in selected] == sorted((each.score for each in selected), reverse=True)


def test_one_view_yields_one_frame(detector: YuNetFaceDetector) -> None:
    assert len(select_frames([person()] * 5, detector, count=4)) == 1


def test_number_of_frames_is_bounded(detector: YuNetFaceDetector) -> None:
    with pytest.raises(EngineError, match="At most"):
        select_frames([np.zeros((9, 9, 3), np.uint8)] * (MAX_FRAMES + 1), detector, count=1)


def test_perceptual_hash_separates_views_and_ignores_size() -> None:
    codes = [perceptual_hash(photograph(name)) for name in ("coffee.png", "rocket.jpg", "chelsea.png", "astronaut.png")]
    assert min((a ^ b).bit_count() for at, a in enumerate(codes) for b in codes[:at]) >= MIN_HASH_DISTANCE
    small = cv2.resize(photograph("coffee.png"), (320, 213), interpolation=cv2.INTER_AREA).astype(np.uint8)
    assert (perceptual_hash(small) ^ codes[0]).bit_count() <= 4
