"""Conformance suite of face detectors; each adapter's test class inherits it and provides the detector."""

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import cv2
import numpy as np
import pytest

from cutroom.engines.errors import EngineError
from cutroom.engines.types import Box
from cutroom.engines.vision.port import FaceDetector
from dev.fixtures.photographs import FACE, photograph, slide

if TYPE_CHECKING:
    from cutroom.engines.types import Image

MIN_OVERLAP = 0.5


def scene(places: list[tuple[float, float, int]], *, width: int = 1280, height: int = 720) -> "tuple[Image, list[Box]]":
    """People in front of a gray wall: left and top of each as shares, and the width of the photograph in pixels."""
    image = np.full((height, width, 3), (120, 124, 130), np.uint8)
    boxes = []
    for x, y, size in places:
        person = cv2.resize(photograph("astronaut.png"), (size, size), interpolation=cv2.INTER_AREA)
        left, top = round(x * width), round(y * height)
        visible = person[: height - top, : width - left]
        image[top : top + visible.shape[0], left : left + visible.shape[1]] = visible
        boxes.append(
            Box(
                (left + FACE[0] * size) / width,
                (top + FACE[1] * size) / height,
                FACE[2] * size / width,
                FACE[3] * size / height,
            )
        )
    return image, boxes


def overlap(one: Box, two: Box) -> float:
    across = min(one.x + one.width, two.x + two.width) - max(one.x, two.x)
    down = min(one.y + one.height, two.y + two.height) - max(one.y, two.y)
    shared = max(0.0, across) * max(0.0, down)
    return shared / (one.width * one.height + two.width * two.height - shared)


class FaceDetectorSuite:
    """Faces are detected where they are, and nowhere else."""

    @pytest.fixture(scope="class")
    @classmethod
    def detector(cls) -> FaceDetector:
        raise NotImplementedError

    @pytest.mark.parametrize(
        "places",
        [
            pytest.param([(0.3, 0.1, 600)], id="one"),
            pytest.param([(0.0, 0.2, 400), (0.65, 0.15, 440)], id="two"),
            pytest.param([(0.05, 0.1, 300), (0.4, 0.4, 260), (0.75, 0.2, 280)], id="three"),
            pytest.param([(0.5, 0.4, 160)], id="small"),
        ],
    )
    def test_faces_are_detected_where_they_are(
        self, detector: FaceDetector, places: list[tuple[float, float, int]]
    ) -> None:
        image, boxes = scene(places)
        found = [face for face in detector.detect(image) if face.score >= 0.6]
        assert len(found) == len(boxes)
        for box in boxes:
            assert max(overlap(box, face.box) for face in found) >= MIN_OVERLAP

    def test_faces_are_sorted_by_score_and_clipped_to_the_image(self, detector: FaceDetector) -> None:
        # The second face is cropped by the edge.
        image, _ = scene([(0.1, 0.1, 500), (0.82, 0.2, 480)])
        found = detector.detect(image)
        assert [face.score for face in found] == sorted((face.score for face in found), reverse=True)
        for face in found:
            assert 0 < face.score <= 1
            assert min(face.box.x, face.box.y) >= 0
            assert max(face.box.x + face.box.width, face.box.y + face.box.height) <= 1 + 1e-9

    @pytest.mark.parametrize("name", ["coffee.png", "rocket.jpg", "chelsea.png"])
    def test_cups_cats_and_rockets_have_no_faces(self, detector: FaceDetector, name: str) -> None:
        assert [face for face in detector.detect(photograph(name)) if face.score >= 0.6] == []

    def test_slide_has_no_faces(self, detector: FaceDetector) -> None:
        assert detector.detect(slide()) == []

    @pytest.mark.parametrize("shape", [(1, 1), (2, 900), (900, 2), (37, 53)])
    def test_degenerate_images_have_no_faces(self, detector: FaceDetector, shape: tuple[int, int]) -> None:
        assert detector.detect(np.zeros((*shape, 3), np.uint8)) == []

    def test_detections_do_not_leak_into_the_next_image(self, detector: FaceDetector) -> None:
        face, _ = scene([(0.3, 0.1, 600)])
        for round_ in range(24):
            width = (320, 640, 1280)[round_ % 3]
            detector.detect(cv2.resize(face, (width, width * 9 // 16)).astype(np.uint8))
            for shape in ((1, 640), (640, 1), (31, 640), (900, 2)):
                assert detector.detect(np.zeros((*shape, 3), np.uint8)) == []

    def test_detections_do_not_depend_on_image_size(self, detector: FaceDetector) -> None:
        image, [box] = scene([(0.3, 0.1, 600)])
        for width in (320, 854, 1920):
            resized = cv2.resize(image, (width, width * 9 // 16), interpolation=cv2.INTER_AREA).astype(np.uint8)
            [face] = [face for face in detector.detect(resized) if face.score >= 0.6]
            assert overlap(face.box, box) >= MIN_OVERLAP

    def test_detector_is_thread_safe(self, detector: FaceDetector) -> None:
        images = [scene([(0.3, 0.1, size)])[0][:, : 1280 - 40 * at] for at, size in enumerate((300, 400, 500, 600))]
        alone = [detector.detect(image) for image in images]
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(detector.detect, images * 4)) == alone * 4

    @pytest.mark.parametrize(
        "image", [np.zeros((9, 9), np.uint8), np.zeros((9, 9, 4), np.uint8), np.zeros((9, 9, 3), np.float32)]
    )
    def test_other_array_types_are_rejected(self, detector: FaceDetector, image: "Image") -> None:
        with pytest.raises(EngineError, match="8-bit RGB"):
            detector.detect(image)
