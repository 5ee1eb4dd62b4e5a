"""Conformance suite of face landmarkers; each adapter's test class inherits it and provides the landmarker."""

from concurrent.futures import ThreadPoolExecutor
from math import dist
from typing import TYPE_CHECKING

import cv2
import numpy as np
import pytest

from cutroom.engines.errors import EngineError
from cutroom.engines.types import Box
from cutroom.engines.vision.expressions import measure_expression, mouth_openness
from cutroom.engines.vision.port import Aperture, FaceLandmarker
from dev.fixtures.expressions import PORTRAIT, portrait_with_closed_eyes, portrait_with_mouth
from dev.fixtures.photographs import FACE, photograph
from tests.engines.recognition.recognizer_suite import model_folder

if TYPE_CHECKING:
    from cutroom.engines.types import Image

PORTRAIT_FACE = Box(*FACE)
MAX_EYE_DISTANCE = 0.06  # of the face height, between two models' centers of an eye


def detect_with_eyes(image: "Image") -> tuple[Box, list[tuple[float, float]]]:
    """The best face by YuNet, and its eyes in pixels from left to right."""
    height, width = image.shape[:2]
    model = str(model_folder("yunet") / "face_detection_yunet_2023mar.onnx")
    _, rows = cv2.FaceDetectorYN.create(model, "", (width, height)).detect(cv2.cvtColor(image, cv2.COLOR_RGB2BGR))
    x, y, across, down, *points = (float(each) for each in rows[0])
    eyes = sorted([(points[0], points[1]), (points[2], points[3])])
    return Box(x / width, y / height, across / width, down / height), eyes


def face_box(image: "Image") -> Box:
    return detect_with_eyes(image)[0]


def scaled(image: "Image", factor: float) -> "Image":
    return cv2.resize(image, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA).astype(np.uint8)


def center(eye: Aperture) -> tuple[float, float]:
    (x, y), (other_x, other_y) = eye.corners
    return (x + other_x) / 2, (y + other_y) / 2


class FaceLandmarkerSuite:
    """Landmarks lie on the face, and show closed eyes and open mouths."""

    @pytest.fixture(scope="class")
    @classmethod
    def landmarker(cls) -> FaceLandmarker:
        raise NotImplementedError

    @pytest.mark.parametrize("degrees", [0, 30, -30])
    @pytest.mark.parametrize("name", [PORTRAIT, "grace_hopper.jpg"])
    def test_eyes_are_where_another_model_sees_them(
        self, landmarker: FaceLandmarker, name: str, degrees: float
    ) -> None:
        upright = photograph(name)
        box, eyes = detect_with_eyes(upright)
        height = box.height * upright.shape[0]
        turn = cv2.getRotationMatrix2D((eyes[0][0], eyes[0][1] + height / 4), degrees, 1)
        image = cv2.warpAffine(upright, turn, upright.shape[1::-1]).astype(np.uint8)
        landmarks = landmarker.locate(image, face_box(image))
        assert landmarks is not None
        for eye, (x, y) in zip(landmarks.eyes, eyes, strict=True):
            assert dist(center(eye), turn @ (x, y, 1)) < MAX_EYE_DISTANCE * height
        assert 0.7 * height < dist(landmarks.top, landmarks.chin) < 1.3 * height

    @pytest.mark.parametrize("factor", [1, 0.5])
    def test_closed_eyes_are_recognized(self, landmarker: FaceLandmarker, factor: float) -> None:
        for image, is_closed in (
            (portrait_with_closed_eyes(), True),
            (photograph(PORTRAIT), False),
            (photograph("grace_hopper.jpg"), False),
        ):
            small = scaled(image, factor)
            assert measure_expression(landmarker.locate(small, face_box(small))).has_closed_eyes is is_closed

    def test_mouth_openness_follows_the_lips(self, landmarker: FaceLandmarker) -> None:
        box = face_box(photograph(PORTRAIT))
        found = [landmarker.locate(portrait_with_mouth(pixels), box) for pixels in (0, 5, 10, 15)]
        openness = [mouth_openness(each) for each in found if each is not None]
        assert openness == sorted(openness)
        assert len(openness) == 4
        assert openness[-1] > 2 * openness[0]

    def test_smile_is_not_mid_word(self, landmarker: FaceLandmarker) -> None:
        assert not measure_expression(landmarker.locate(photograph(PORTRAIT), PORTRAIT_FACE)).is_mid_word
        assert measure_expression(landmarker.locate(portrait_with_mouth(20), PORTRAIT_FACE)).is_mid_word

    def test_objects_and_small_faces_have_no_landmarks(self, landmarker: FaceLandmarker) -> None:
        assert landmarker.locate(photograph("coffee.png"), Box(0.3, 0.3, 0.3, 0.4)) is None
        assert landmarker.locate(scaled(photograph(PORTRAIT), 0.1), PORTRAIT_FACE) is None

    def test_landmarker_is_thread_safe(self, landmarker: FaceLandmarker) -> None:
        images = [photograph(PORTRAIT), portrait_with_closed_eyes(), portrait_with_mouth(12)]
        alone = [landmarker.locate(image, PORTRAIT_FACE) for image in images]
        with ThreadPoolExecutor(3) as pool:
            assert list(pool.map(lambda image: landmarker.locate(image, PORTRAIT_FACE), images * 3)) == alone * 3

    @pytest.mark.parametrize("image", [np.zeros((9, 9), np.uint8), np.zeros((9, 9, 3), np.float32)])
    def test_other_array_types_are_rejected(self, landmarker: FaceLandmarker, image: "Image") -> None:
        with pytest.raises(EngineError, match="8-bit RGB"):
            landmarker.locate(image, PORTRAIT_FACE)
