"""Tests for mapping faces to output coordinates."""

import pytest

from cutroom.engines.types import Box
from cutroom.engines.vision.port import Face
from cutroom.media.crop_plan import CropPane, CropPlan, CropScene, Keyframe, SceneFit
from cutroom.products.shorts.face_boxes import visible_faces
from cutroom.products.shorts.framing.tracks import FrameAnalysis

FRAMES = [FrameAnalysis(1.0, (Face(Box(0.5, 0.2, 0.1, 0.2), 0.9),), 0.5, is_screen=False)]


def plan(fit: SceneFit, *panes: CropPane) -> CropPlan:
    return CropPlan(1600, 900, 25.0, (CropScene(0.0, 2.0, fit, panes),))


def window(x: float, width: int = 506, height: int = 900, y: float = 0.0) -> CropPane:
    return CropPane(width, height, (Keyframe(0.0, x, y),))


def boxes(crop_plan: CropPlan, width: int = 1080, height: int = 1920) -> list[tuple[float, ...]]:
    faces = visible_faces(crop_plan, FRAMES, width=width, height=height)
    return [tuple(round(side, 3) for side in (box.left, box.top, box.right - box.left, box.height)) for _, box in faces]


def test_crop_enlarges_a_face() -> None:
    assert boxes(plan(SceneFit.CROP, window(600))) == [(round(200 / 506, 3), 0.2, round(160 / 506, 3), 0.2)]


def test_faces_are_clipped_to_the_window() -> None:
    assert boxes(plan(SceneFit.CROP, window(0))) == []
    assert boxes(plan(SceneFit.CROP, window(880))) == [(0.0, 0.2, round(80 / 506, 3), 0.2)]


def test_portrait_panes_are_stacked() -> None:
    crop_plan = plan(SceneFit.SPLIT, window(0, 1000, 890), window(600, 1000, 890))
    assert boxes(crop_plan) == [
        (0.8, round(180 / 890 / 2, 3), 0.16, round(180 / 890 / 2, 3)),
        pytest.approx((0.2, round((180 / 890 + 1) / 2, 3), 0.16, round(180 / 890 / 2, 3)), abs=0.002),
    ]


def test_contained_frame_is_centered() -> None:
    (box,) = boxes(plan(SceneFit.CONTAIN, window(0, 1600, 900)))
    height_share = (1080 / 1920) / (1600 / 900)
    assert box == pytest.approx((0.5, (1 - height_share) / 2 + 0.2 * height_share, 0.1, 0.2 * height_share), abs=0.002)


def test_face_is_held_briefly_around_its_sample() -> None:
    ((span, _),) = visible_faces(plan(SceneFit.CROP, window(600)), FRAMES, width=1080, height=1920)
    assert (span.start_seconds, span.end_seconds) == (0.7, 1.3)
