"""Rules about open eyes and moving mouths, on drawn landmarks."""

from dataclasses import replace
from math import sin

import pytest

from cutroom.engines.vision.expressions import (
    CLOSED_EYES,
    MIN_MOVEMENT,
    OPEN_MOUTH,
    eye_openness,
    measure_expression,
    mouth_movement,
    mouth_openness,
)
from cutroom.engines.vision.port import Aperture, FaceLandmarks


def aperture(left: float, y: float, width: float, gap: float) -> Aperture:
    columns = [left + share * width for share in (0.4, 0.5, 0.6)]
    return Aperture(
        ((left, y), (left + width, y)),
        tuple((x, y - gap / 2) for x in columns),
        tuple((x, y + gap / 2) for x in columns),
    )


def face(*, lids: float = 6, lips: float = 0, scale: float = 1) -> FaceLandmarks:
    """A face 100 pixels tall with eyes 20 and a mouth 30 pixels wide, times the scale."""
    eyes = (aperture(20 * scale, 40 * scale, 20 * scale, lids * scale),) * 2
    mouth = aperture(35 * scale, 75 * scale, 30 * scale, lips * scale)
    return FaceLandmarks((50 * scale, 0), (50 * scale, 100 * scale), (eyes[0], eyes[1]), mouth)


@pytest.mark.parametrize("scale", [0.5, 1, 7])
def test_measures_do_not_depend_on_size(scale: float) -> None:
    assert eye_openness(face(lids=6, scale=scale)) == pytest.approx(0.3)
    assert mouth_openness(face(lips=8, scale=scale)) == pytest.approx(0.08)


def test_eyes_are_closed_below_the_threshold() -> None:
    assert measure_expression(face(lids=20 * CLOSED_EYES - 0.1)).has_closed_eyes
    assert not measure_expression(face(lids=20 * CLOSED_EYES + 0.1)).has_closed_eyes


def test_nearer_eye_of_a_turned_head_counts_more() -> None:
    turned = replace(face(), eyes=(aperture(20, 40, 20, 2), aperture(60, 40, 5, 2)))
    assert measure_expression(turned).has_closed_eyes


def test_wide_open_mouth_is_mid_word() -> None:
    assert measure_expression(face(lips=30 * OPEN_MOUTH + 0.1)).is_mid_word
    assert not measure_expression(face(lips=30 * OPEN_MOUTH - 0.1)).is_mid_word


def test_unmeasured_faces_have_no_flaws() -> None:
    unknown = measure_expression(None)
    assert not unknown.has_closed_eyes
    assert not unknown.is_mid_word
    assert measure_expression(face(lids=0), with_lids=False).eye_openness is None


def test_movement_is_change_not_openness() -> None:
    assert mouth_movement([0.1] * 10) == pytest.approx(0)
    speaking = mouth_movement([0.04 + 0.04 * sin(2 * index) for index in range(20)])
    assert speaking is not None
    assert speaking > MIN_MOVEMENT
    assert mouth_movement([0.0, 0.1]) is None  # too few samples
