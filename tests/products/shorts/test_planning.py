"""Covers of a request's outputs show different views."""

import pytest

from cutroom.engines.types import Box
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
