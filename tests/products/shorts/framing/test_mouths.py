"""The active speaker is the face whose mouth moves while the voice is heard."""

from collections.abc import Callable, Sequence
from math import sin
from typing import TYPE_CHECKING

import cv2
import numpy as np
import pytest

from cutroom.engines.types import Box, TimeSpan
from cutroom.engines.vision.expressions import FaceExpression, measure_expression
from cutroom.engines.vision.mediapipe import MediaPipeFaceLandmarker
from cutroom.engines.vision.port import Face
from cutroom.engines.vision.yunet import YuNetFaceDetector
from cutroom.media.crop_plan import SceneFit
from cutroom.products.shorts.framing.mouths import assign_by_mouths
from cutroom.products.shorts.framing.planner import CropSource, plan_crops
from cutroom.products.shorts.framing.tracks import FaceTrack, FrameAnalysis
from dev.fixtures.expressions import portrait_with_mouth
from tests.engines.recognition.recognizer_suite import model_folder

if TYPE_CHECKING:
    from cutroom.engines.types import Image

RATE = 5  # samples per second
LEFT, MIDDLE, RIGHT = (Box(x, 0.2, 0.15, 0.35) for x in (0.1, 0.45, 0.75))
A = [(TimeSpan(0, 4), "a")]
SOURCE = CropSource(1920, 1080, 25.0, (9, 16))


def still(_: float) -> float:
    return 0.01


def speaking(seconds: float) -> float:
    return 0.04 + 0.03 * sin(9 * seconds)


def track(box: Box, mouth: Callable[[float], float | None], *, start: float = 0, seconds: float = 4) -> FaceTrack:
    times = [start + index / RATE for index in range(int(seconds * RATE))]
    return FaceTrack(times, [box] * len(times), [mouth(each) for each in times])


def assigned(
    *shots: Sequence[FaceTrack], turns: Sequence[tuple[TimeSpan, str]], labels: Sequence[str | None] = ()
) -> list[list[str | None]]:
    return assign_by_mouths(shots, turns, [labels or [None] * len(tracks) for tracks in shots])


def test_moving_mouth_is_the_speaker() -> None:
    tracks = [track(LEFT, still), track(MIDDLE, speaking), track(RIGHT, still)]
    assert assigned(tracks, turns=A) == [[None, "a", None]]


def test_each_turn_has_its_own_mouth() -> None:
    turns = [(TimeSpan(0, 2), "a"), (TimeSpan(2.1, 4), "b")]
    tracks = [
        track(LEFT, lambda time: speaking(time) if time <= 2 else 0.01),
        track(RIGHT, lambda time: speaking(time) if time > 2 else 0.01),
    ]
    assert assigned(tracks, turns=turns) == [["a", "b"]]
    assert assigned(tracks, turns=turns, labels=["b", "a"]) == [["a", "b"]]


@pytest.mark.parametrize(
    "tracks",
    [
        pytest.param([track(LEFT, still), track(RIGHT, still)], id="nobody moves"),
        pytest.param([track(LEFT, speaking), track(RIGHT, speaking)], id="both move"),
        pytest.param([track(LEFT, speaking), track(RIGHT, lambda _: None)], id="one was not measured"),
        pytest.param([track(LEFT, speaking)], id="one face"),
        pytest.param([], id="no face"),
    ],
)
def test_undecided_shots_keep_their_labels(tracks: list[FaceTrack]) -> None:
    labels = ["b", None][: len(tracks)]
    assert assign_by_mouths([tracks], A, [labels]) == [labels]


@pytest.mark.parametrize(("other", "expected"), [(2.0, ["a", None]), (3.0, [None, "a"])])
def test_speaker_keeps_their_face_unless_another_moves_far_more(other: float, expected: list[str | None]) -> None:
    def slightly(time: float, times: float = 1.0) -> float:
        return 0.04 + 0.012 * times * sin(9 * time)

    first = [track(LEFT, speaking), track(RIGHT, still)]
    second = [track(LEFT, slightly, start=4), track(RIGHT, lambda time: slightly(time, other), start=4)]
    turns = [(TimeSpan(0, 8), "a")]
    assert assigned(first, second, turns=turns) == [["a", None], expected]


def frames(mouths: Sequence[Callable[[float], float]], *, measured: bool = True) -> list[FrameAnalysis]:
    """Two people in a wide shot; the one on the right is larger."""
    faces = (Face(LEFT, 0.9), Face(Box(0.75, 0.2, 0.17, 0.4), 0.9))
    times = [index / RATE for index in range(4 * RATE)]
    return [
        FrameAnalysis(
            time,
            faces,
            0.5,
            is_screen=False,
            expressions=tuple(FaceExpression(None, mouth(time)) for mouth in mouths) if measured else (),
        )
        for time in times
    ]


@pytest.mark.parametrize(
    ("mouths", "measured", "expected"),
    [
        pytest.param((speaking, still), True, LEFT, id="the smaller face speaks"),
        pytest.param((still, speaking), True, RIGHT, id="the larger face speaks"),
        pytest.param((speaking, still), False, RIGHT, id="not measured"),
    ],
)
def test_window_shows_the_speaking_face(
    mouths: Sequence[Callable[[float], float]],
    measured: bool,  # noqa: FBT001 (a parameter of the test)
    expected: Box,
) -> None:
    planned = plan_crops(frames(mouths, measured=measured), SOURCE, cuts=[], clip_seconds=4, turns=A)
    [scene] = planned.scenes
    assert scene.fit is SceneFit.CROP
    center = (scene.panes[0].at(2)[0] + scene.panes[0].width / 2) / SOURCE.width
    assert center == pytest.approx(expected.x + expected.width / 2, abs=0.06)


def test_speaker_is_found_in_pictures() -> None:
    """Two portraits, at the size that shorts are analyzed at: one moves her lips, both move and flicker a little."""
    detector = YuNetFaceDetector(model_folder("yunet"))
    landmarker = MediaPipeFaceLandmarker(model_folder("mediapipe-face"))
    random = np.random.default_rng(3)

    def frame(lip_distance: float) -> "Image":
        image = np.full((270, 480, 3), 120, np.uint8)
        for left, pixels in ((5, lip_distance), (245, 4)):
            x, y = left + int(random.integers(0, 4)), 15 + int(random.integers(0, 4))
            image[y : y + 230, x : x + 230] = cv2.resize(
                portrait_with_mouth(pixels), (230, 230), interpolation=cv2.INTER_AREA
            )
        return np.clip(image + random.normal(0, 3, image.shape), 0, 255).astype(np.uint8)

    analyzed = []
    for index, lip_distance in enumerate([0, 6, 12, 3, 9, 14, 1, 7, 12, 4] * 2):
        image = frame(lip_distance)
        faces = tuple(detector.detect(image))
        expressions = tuple(
            measure_expression(landmarker.locate(image, face.box, with_lids=False), with_lids=False) for face in faces
        )
        analyzed.append(FrameAnalysis(index / RATE, faces, 0.5, is_screen=False, expressions=expressions))
    planned = plan_crops(analyzed, CropSource(480, 270, RATE, (9, 16)), cuts=[], clip_seconds=4, turns=A)
    [scene] = planned.scenes
    assert scene.fit is SceneFit.CROP
    assert scene.panes[0].at(2)[0] + scene.panes[0].width / 2 == pytest.approx(5 + 0.44 * 230, abs=20)
