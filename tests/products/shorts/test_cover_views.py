"""Covers of a request's outputs show different views, with open eyes, or the same one at another size."""

import pytest

from cutroom.engines.types import Box
from cutroom.engines.vision.expressions import FaceExpression
from cutroom.engines.vision.port import Face
from cutroom.media.crop_plan import CropPane, CropPlan, CropScene, Keyframe, SceneFit
from cutroom.products.shorts.cover_views import ZOOMS, choose_covers, find_views
from cutroom.products.shorts.edit import CoverView, Edit
from cutroom.products.shorts.framing.tracks import FrameAnalysis

LEFT, RIGHT, SMALL = Box(0.1, 0.2, 0.2, 0.4), Box(0.6, 0.2, 0.15, 0.35), Box(0.8, 0.1, 0.05, 0.1)


def frame(seconds: float, *boxes: Box) -> FrameAnalysis:
    return FrameAnalysis(seconds, tuple(Face(box, 0.9) for box in boxes), saliency_center_x=0.5, is_screen=False)


FRAMES = [frame(1.0, LEFT), frame(3.0, LEFT), frame(5.0, RIGHT), frame(7.0, SMALL)]


def times(frames: list[FrameAnalysis]) -> list[float]:
    return [view.seconds for view in find_views(frames, 10.0)]


def test_views_are_prominent_faces_after_the_start() -> None:
    assert times(FRAMES) == [3.0, 5.0]
    assert times(FRAMES[:2]) == [3.0]
    assert times([frame(4.0)]) == []


OPEN, CLOSED = FaceExpression(0.3, 0.01, 0.05), FaceExpression(0.1, 0.01, 0.05)
MID_WORD = FaceExpression(0.3, 0.12, 0.5)
NEARER = Box(0.1, 0.2, 0.21, 0.42)


def shown(seconds: float, box: Box, expression: FaceExpression) -> FrameAnalysis:
    return FrameAnalysis(seconds, (Face(box, 0.9),), 0.5, is_screen=False, expressions=(expression,))


@pytest.mark.parametrize("flawed", [CLOSED, MID_WORD])
def test_cover_shows_a_good_expression_of_the_same_view(flawed: FaceExpression) -> None:
    frames = [shown(3.0, NEARER, flawed), shown(3.2, LEFT, OPEN), shown(5.0, RIGHT, OPEN)]
    assert times(frames) == [3.2, 5.0]
    assert times([shown(3.0, NEARER, OPEN), *frames[1:]]) == [3.0, 5.0]


def test_view_with_closed_eyes_is_shown_only_if_there_is_no_other() -> None:
    blink, other = shown(3.0, LEFT, CLOSED), shown(5.0, RIGHT, OPEN)
    assert times([blink, other]) == [5.0]
    assert times([blink]) == [3.0]


CROP = CropPlan(
    1920, 1080, 25.0, (CropScene(0.0, 9.0, SceneFit.CROP, (CropPane(606, 1080, (Keyframe(0.0, 0.0, 0.0),)),)),)
)


def edit(*boxes: Box) -> Edit:
    views = tuple(CoverView(float(at), box) for at, box in enumerate(boxes, start=1))
    return Edit(CROP, "", (), (), thumbnail_seconds=4.0, cover_views=views)


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ([edit(LEFT, RIGHT), edit(LEFT, RIGHT)], [(1.0, 1.0), (2.0, 1.0)]),
        ([edit(LEFT, RIGHT), edit(LEFT)], [(2.0, 1.0), (1.0, 1.0)]),  # the second has no choice
        ([edit(LEFT), edit(LEFT), edit(LEFT)], [(1.0, zoom) for zoom in ZOOMS]),
        ([edit(LEFT, RIGHT)] * 3, [(1.0, 1.0), (2.0, 1.0), (1.0, ZOOMS[1])]),
        ([edit(), edit(LEFT)], [(4.0, 1.0), (1.0, 1.0)]),
    ],
)
def test_covers_of_one_request_differ(edits: list[Edit], expected: list[tuple[float, float]]) -> None:
    assert [(each.thumbnail_seconds, each.cover_zoom) for each in choose_covers(edits)] == expected
