"""Covers of a request's outputs show different views, with open eyes."""

import pytest

from cutroom.engines.types import Box
from cutroom.engines.vision.expressions import FaceExpression
from cutroom.engines.vision.port import Face
from cutroom.products.shorts.framing.tracks import FrameAnalysis
from cutroom.products.shorts.planning import cover_time

LEFT, RIGHT, SMALL = Box(0.1, 0.2, 0.2, 0.4), Box(0.6, 0.2, 0.15, 0.35), Box(0.8, 0.1, 0.05, 0.1)


def frame(seconds: float, *boxes: Box) -> FrameAnalysis:
    return FrameAnalysis(seconds, tuple(Face(box, 0.9) for box in boxes), saliency_center_x=0.5, is_screen=False)


FRAMES = [frame(1.0, LEFT), frame(3.0, LEFT), frame(5.0, RIGHT), frame(7.0, SMALL)]


@pytest.mark.parametrize(("number", "expected"), [(0, 3.0), (1, 5.0), (2, 3.0)])
def test_each_output_shows_another_prominent_view(number: int, expected: float) -> None:
    assert cover_time(FRAMES, 10.0, number=number) == expected


def test_single_view_is_shared() -> None:
    assert cover_time(FRAMES[:2], 10.0, number=1) == 3.0


def test_output_without_faces_shows_a_frame_after_its_start() -> None:
    assert cover_time([frame(4.0)], 9.0, number=1) == 3.0


OPEN, CLOSED = FaceExpression(0.3, 0.01, 0.05), FaceExpression(0.1, 0.01, 0.05)
MID_WORD = FaceExpression(0.3, 0.12, 0.5)
NEARER = Box(0.1, 0.2, 0.21, 0.42)


def shown(seconds: float, box: Box, expression: FaceExpression) -> FrameAnalysis:
    return FrameAnalysis(seconds, (Face(box, 0.9),), 0.5, is_screen=False, expressions=(expression,))


@pytest.mark.parametrize("flawed", [CLOSED, MID_WORD])
def test_cover_shows_a_good_expression_of_the_same_view(flawed: FaceExpression) -> None:
    frames = [shown(3.0, NEARER, flawed), shown(3.2, LEFT, OPEN), shown(5.0, RIGHT, OPEN)]
    assert cover_time(frames, 10.0, number=0) == 3.2
    assert cover_time(frames, 10.0, number=1) == 5.0
    assert cover_time([shown(3.0, NEARER, OPEN), *frames[1:]], 10.0, number=0) == 3.0


def test_view_with_closed_eyes_is_shown_only_if_there_is_no_other() -> None:
    blink, other = shown(3.0, LEFT, CLOSED), shown(5.0, RIGHT, OPEN)
    assert cover_time([blink, other], 10.0, number=0) == cover_time([blink, other], 10.0, number=1) == 5.0
    assert cover_time([blink], 10.0, number=0) == 3.0
