"""Tests for caption placement in safe zones and around faces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutroom.products.shorts.captions.safe_zones import (
    PORTRAIT,
    SQUARE,
    WIDE,
    CaptionPosition,
    FrameRegion,
    SafeZone,
    place_block,
    safe_zone_for,
)

ZONES = [PORTRAIT, SQUARE, WIDE]


@pytest.mark.parametrize(
    ("width", "height", "zone"),
    [(1080, 1920, PORTRAIT), (360, 640, PORTRAIT), (1080, 1350, SQUARE), (1080, 1080, SQUARE), (1920, 1080, WIDE)],
)
def test_zone_by_frame_size(width: int, height: int, zone: SafeZone) -> None:
    assert safe_zone_for(width, height) == zone


@pytest.mark.parametrize("zone", ZONES)
def test_widest_line_is_centered_in_the_safe_zone(zone: SafeZone) -> None:
    for position in CaptionPosition:
        box = place_block(position, zone, width=zone.text_width, height=0.1)
        assert box.is_inside(zone.safe)
        assert (box.left + box.right) / 2 == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("position", "top"), [(CaptionPosition.TOP, 0.12), (CaptionPosition.MIDDLE, 0.45), (CaptionPosition.BOTTOM, 0.68)]
)
def test_requested_position_is_used_without_faces(position: CaptionPosition, top: float) -> None:
    assert place_block(position, PORTRAIT, width=0.7, height=0.1).top == pytest.approx(top)


@pytest.mark.parametrize(
    ("position", "face", "above"),
    [
        (CaptionPosition.BOTTOM, FrameRegion(0.3, 0.5, 0.7, 0.75), True),
        (CaptionPosition.TOP, FrameRegion(0.3, 0.1, 0.7, 0.4), False),
        (CaptionPosition.MIDDLE, FrameRegion(0.3, 0.3, 0.7, 0.52), False),
        (CaptionPosition.MIDDLE, FrameRegion(0.3, 0.48, 0.7, 0.7), True),
    ],
)
def test_face_moves_captions_to_the_nearest_free_position(
    position: CaptionPosition, face: FrameRegion, *, above: bool
) -> None:
    box = place_block(position, PORTRAIT, width=0.7, height=0.1, faces=[face])
    assert box.common_area(face) == 0
    assert box.is_inside(PORTRAIT.safe)
    assert (box.bottom < face.top) is above


def test_face_beside_the_text_is_ignored() -> None:
    face = FrameRegion(0.9, 0.6, 1.0, 0.8)
    preferred = place_block(CaptionPosition.BOTTOM, PORTRAIT, width=0.7, height=0.1)
    assert place_block(CaptionPosition.BOTTOM, PORTRAIT, width=0.7, height=0.1, faces=[face]) == preferred


def test_position_is_kept_while_it_is_free() -> None:
    face = FrameRegion(0.3, 0.5, 0.7, 0.75)
    moved = place_block(CaptionPosition.BOTTOM, PORTRAIT, width=0.7, height=0.1, faces=[face])
    two_lines = place_block(CaptionPosition.BOTTOM, PORTRAIT, width=0.6, height=0.15, previous=moved)
    assert two_lines.bottom == pytest.approx(moved.bottom)
    elsewhere = FrameRegion(0.3, moved.top, 0.7, moved.bottom)
    back = place_block(CaptionPosition.BOTTOM, PORTRAIT, width=0.6, height=0.1, faces=[elsewhere], previous=moved)
    assert back.bottom == pytest.approx(PORTRAIT.safe.bottom)


def test_least_covering_position_is_used_as_last_resort() -> None:
    faces = [FrameRegion(0.0, 0.0, 1.0, 0.7), FrameRegion(0.45, 0.7, 0.55, 1.0)]
    box = place_block(CaptionPosition.TOP, PORTRAIT, width=0.7, height=0.05, faces=faces)
    assert box.top > 0.7


fractions = st.floats(0.0, 1.0)


@given(
    st.sampled_from(CaptionPosition),
    st.sampled_from(ZONES),
    st.floats(0.02, 0.4),
    st.lists(st.tuples(fractions, fractions, fractions, fractions), max_size=4),
)
def test_captions_always_stay_in_the_zone(
    position: CaptionPosition, zone: SafeZone, height: float, drawn: list[tuple[float, float, float, float]]
) -> None:
    faces = [FrameRegion(min(a, b), min(c, d), max(a, b), max(c, d)) for a, b, c, d in drawn]
    box = place_block(position, zone, width=zone.text_width, height=height, faces=faces)
    assert box.is_inside(zone.safe)
    preferred = place_block(position, zone, width=zone.text_width, height=height)
    assert sum(box.common_area(face) for face in faces) <= sum(preferred.common_area(face) for face in faces) + 0.05
