"""Captions stand in the safe zone, off faces, and do not jump."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutroom.products.shorts.captions.zones import PORTRAIT, SQUARE, WIDE, Area, Position, Zone, place, zone_for

ZONES = [PORTRAIT, SQUARE, WIDE]


@pytest.mark.parametrize(
    ("width", "height", "zone"),
    [(1080, 1920, PORTRAIT), (360, 640, PORTRAIT), (1080, 1350, SQUARE), (1080, 1080, SQUARE), (1920, 1080, WIDE)],
)
def test_each_shape_has_its_zone(width: int, height: int, zone: Zone) -> None:
    assert zone_for(width, height) == zone


@pytest.mark.parametrize("zone", ZONES)
def test_the_widest_line_is_inside_the_safe_zone_and_centred(zone: Zone) -> None:
    for position in Position:
        box = place(position, zone, width=zone.text_width, height=0.1)
        assert box.is_inside(zone.safe)
        assert (box.left + box.right) / 2 == pytest.approx(0.5)


@pytest.mark.parametrize(("position", "top"), [(Position.TOP, 0.12), (Position.MIDDLE, 0.45), (Position.BOTTOM, 0.68)])
def test_without_faces_captions_stand_where_they_were_asked_for(position: Position, top: float) -> None:
    assert place(position, PORTRAIT, width=0.7, height=0.1).top == pytest.approx(top)


@pytest.mark.parametrize(
    ("position", "face", "above"),
    [
        (Position.BOTTOM, Area(0.3, 0.5, 0.7, 0.75), True),
        (Position.TOP, Area(0.3, 0.1, 0.7, 0.4), False),
        (Position.MIDDLE, Area(0.3, 0.3, 0.7, 0.52), False),
        (Position.MIDDLE, Area(0.3, 0.48, 0.7, 0.7), True),
    ],
)
def test_a_face_moves_them_to_the_nearest_free_place(position: Position, face: Area, *, above: bool) -> None:
    box = place(position, PORTRAIT, width=0.7, height=0.1, faces=[face])
    assert box.common_area(face) == 0
    assert box.is_inside(PORTRAIT.safe)
    assert (box.bottom < face.top) is above


def test_a_face_beside_the_text_does_not_matter() -> None:
    face = Area(0.9, 0.6, 1.0, 0.8)
    asked = place(Position.BOTTOM, PORTRAIT, width=0.7, height=0.1)
    assert place(Position.BOTTOM, PORTRAIT, width=0.7, height=0.1, faces=[face]) == asked


def test_the_next_screen_stays_where_the_last_was_while_that_is_free() -> None:
    face = Area(0.3, 0.5, 0.7, 0.75)
    moved = place(Position.BOTTOM, PORTRAIT, width=0.7, height=0.1, faces=[face])
    two_lines = place(Position.BOTTOM, PORTRAIT, width=0.6, height=0.15, previous=moved)
    assert two_lines.bottom == pytest.approx(moved.bottom)
    elsewhere = Area(0.3, moved.top, 0.7, moved.bottom)
    back = place(Position.BOTTOM, PORTRAIT, width=0.6, height=0.1, faces=[elsewhere], previous=moved)
    assert back.bottom == pytest.approx(PORTRAIT.safe.bottom)


def test_when_all_is_face_the_least_of_it_is_covered() -> None:
    faces = [Area(0.0, 0.0, 1.0, 0.7), Area(0.45, 0.7, 0.55, 1.0)]
    box = place(Position.TOP, PORTRAIT, width=0.7, height=0.05, faces=faces)
    assert box.top > 0.7


shares = st.floats(0.0, 1.0)


@given(
    st.sampled_from(Position),
    st.sampled_from(ZONES),
    st.floats(0.02, 0.4),
    st.lists(st.tuples(shares, shares, shares, shares), max_size=4),
)
def test_whatever_the_faces_captions_stay_in_the_zone(
    position: Position, zone: Zone, height: float, drawn: list[tuple[float, float, float, float]]
) -> None:
    faces = [Area(min(a, b), min(c, d), max(a, b), max(c, d)) for a, b, c, d in drawn]
    box = place(position, zone, width=zone.text_width, height=height, faces=faces)
    assert box.is_inside(zone.safe)
    asked = place(position, zone, width=zone.text_width, height=height)
    assert sum(box.common_area(face) for face in faces) <= sum(asked.common_area(face) for face in faces) + 0.05
