"""Faces of the film where the output shows them."""

import pytest

from cutroom.engines.types import Box
from cutroom.engines.vision.port import Face
from cutroom.media.crop_plan import CropPlan, Fit, Key, Pane, Scene
from cutroom.products.shorts.face_boxes import shown_faces
from cutroom.products.shorts.framing.tracks import FrameAnalysis

SEEN = [FrameAnalysis(1.0, (Face(Box(0.5, 0.2, 0.1, 0.2), 0.9),), 0.5, is_screen=False)]


def plan(fit: Fit, *panes: Pane) -> CropPlan:
    return CropPlan(1600, 900, 25.0, (Scene(0.0, 2.0, fit, panes),))


def window(x: float, width: int = 506, height: int = 900, y: float = 0.0) -> Pane:
    return Pane(width, height, (Key(0.0, x, y),))


def boxes(framed: CropPlan, width: int = 1080, height: int = 1920) -> list[tuple[float, ...]]:
    found = shown_faces(framed, SEEN, width=width, height=height)
    return [tuple(round(side, 3) for side in (box.left, box.top, box.right - box.left, box.height)) for _, box in found]


def test_a_window_shows_a_face_larger() -> None:
    assert boxes(plan(Fit.CROP, window(600))) == [(round(200 / 506, 3), 0.2, round(160 / 506, 3), 0.2)]


def test_a_face_beside_the_window_is_not_shown_and_one_at_its_edge_in_part() -> None:
    assert boxes(plan(Fit.CROP, window(0))) == []
    assert boxes(plan(Fit.CROP, window(880))) == [(0.0, 0.2, round(80 / 506, 3), 0.2)]


def test_two_panes_are_above_each_other_in_an_upright_picture() -> None:
    framed = plan(Fit.SPLIT, window(0, 1000, 890), window(600, 1000, 890))
    assert boxes(framed) == [
        (0.8, round(180 / 890 / 2, 3), 0.16, round(180 / 890 / 2, 3)),
        pytest.approx((0.2, round((180 / 890 + 1) / 2, 3), 0.16, round(180 / 890 / 2, 3)), abs=0.002),
    ]


def test_the_whole_picture_lies_in_the_middle() -> None:
    (box,) = boxes(plan(Fit.WHOLE, window(0, 1600, 900)))
    high = (1080 / 1920) / (1600 / 900)
    assert box == pytest.approx((0.5, (1 - high) / 2 + 0.2 * high, 0.1, 0.2 * high), abs=0.002)


def test_a_face_is_where_it_was_seen_for_a_moment_only() -> None:
    ((span, _),) = shown_faces(plan(Fit.CROP, window(600)), SEEN, width=1080, height=1920)
    assert (span.start_seconds, span.end_seconds) == (0.7, 1.3)
