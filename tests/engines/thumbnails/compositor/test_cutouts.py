"""Cutouts never float: edges at which the source crops the subject lie outside of the thumbnail."""

from typing import TYPE_CHECKING

import cv2
import numpy as np
import pytest

from cutroom.engines.thumbnails.compositor.cutouts import (
    Cutout,
    PlacedCutout,
    cut_out_subject,
    draw_cutout,
    place_cutout,
)
from cutroom.engines.thumbnails.port import THUMBNAIL_HEIGHT, THUMBNAIL_WIDTH
from cutroom.engines.types import Box

if TYPE_CHECKING:
    from cutroom.engines.types import Image
    from cutroom.engines.vision.port import Mask

HEIGHT, WIDTH = 720, 1280
WHITE = (255, 255, 255)
COLUMNS = {"left": (0.0, 0.52 * WIDTH), "right": (0.48 * WIDTH, float(WIDTH))}


class FixedRemover:
    """Returns a given mask."""

    name = "fixed"

    def __init__(self, mask: "Mask") -> None:
        self._mask = mask

    def mask(self, image: "Image") -> "Mask":
        assert image.shape[:2] == self._mask.shape
        return self._mask


def person(x: int, *, head: int = 200, feet: int = HEIGHT, shoulders: int = 180) -> "tuple[Mask, Box]":
    """A head above shoulders, from the top of the hair down to `feet`, and the box of the face."""
    mask = np.zeros((HEIGHT, WIDTH), np.uint8)
    cv2.ellipse(mask, (x, head + 85), (65, 85), 0, 0, 360, 255, cv2.FILLED)
    cv2.rectangle(mask, (x - 40, head + 130), (x + 40, head + 200), 255, cv2.FILLED)
    cv2.ellipse(mask, (x, head + 280), (shoulders, 90), 0, 180, 360, 255, cv2.FILLED)
    wider = shoulders + (feet - head - 280) // 5
    body = [(x - shoulders, head + 280), (x + shoulders, head + 280), (x + wider, feet), (x - wider, feet)]
    cv2.fillPoly(mask, [np.array(body, np.int32)], 255)
    mask[feet:] = 0
    return mask, Box(x - 50, head + 40, 100, 120)


def cutout(mask: "Mask", *faces: Box) -> Cutout | None:
    image = np.full((*mask.shape, 3), 90, np.uint8)
    return cut_out_subject(image, FixedRemover(mask), faces=list(faces))


def place(found: Cutout | None, side: str) -> PlacedCutout | None:
    assert found is not None
    left, right = COLUMNS[side]
    return place_cutout(found, left=left, right=right)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize(
    ("head", "feet"),
    [
        pytest.param(200, HEIGHT, id="cropped by the frame"),
        pytest.param(60, 470, id="behind a desk"),
        pytest.param(330, 690, id="above a caption"),
    ],
)
def test_cropped_body_reaches_the_bottom(head: int, feet: int, side: str) -> None:
    placed = place(cutout(*person(640, head=head, feet=feet)), side)
    assert placed is not None
    assert placed.y > 0
    canvas = np.zeros((THUMBNAIL_HEIGHT, THUMBNAIL_WIDTH, 3), np.float32)
    mask = draw_cutout(canvas, placed, outline=WHITE)
    [face] = placed.faces()
    body = mask[-1, round(face.x) : round(face.x + face.width)]
    assert (body > 250).all()


def test_desk_that_hides_one_side_of_a_body_is_below_the_thumbnail() -> None:
    mask, face = person(640)
    mask[560:, :640] = 0
    placed = place(cutout(mask, face), "right")
    assert placed is not None
    drawn = draw_cutout(np.zeros((THUMBNAIL_HEIGHT, THUMBNAIL_WIDTH, 3), np.float32), placed, outline=WHITE)
    [box] = placed.faces()
    assert (drawn[-1, round(box.x) : round(box.x + box.width)] > 250).all()


def test_whole_person_stays_whole() -> None:
    mask, _ = person(640, head=40, feet=HEIGHT - 20, shoulders=90)
    placed = place(cutout(mask, Box(600, 60, 80, 90)), "right")
    assert placed is not None
    assert placed.cutout.bottom_crop is None


@pytest.mark.parametrize(("x", "side"), [(150, "left"), (WIDTH - 150, "right")])
def test_side_cropped_by_the_frame_meets_the_same_side(x: int, side: str) -> None:
    placed = place(cutout(*person(x)), side)
    assert placed is not None
    assert placed.x <= 0 if side == "left" else placed.right >= WIDTH


def test_side_crop_far_from_the_edge_is_moved_below_the_thumbnail_or_rejected() -> None:
    low, face = person(200, head=60)
    low[:640, :70] = 0  # only the lowest part of the arm leaves the frame
    placed = place(cutout(low, face), "right")
    assert placed is not None
    assert placed.cutout.left_crop is not None
    assert placed.y + placed.cutout.left_crop * placed.scale >= HEIGHT
    assert place(cutout(*person(70)), "right") is None


def test_side_cropped_by_a_picture_in_the_frame_is_not_visible() -> None:
    mask, face = person(640, head=300)
    mask[:, 815:] = 0  # bars on both sides of a portrait video
    found = cutout(mask, face)
    assert found is not None
    assert found.right_crop is not None
    assert found.left_crop is None
    placed = place(found, "left")
    assert placed is None or placed.y + found.right_crop * placed.scale >= HEIGHT


def test_object_with_a_straight_side_inside_the_image_is_not_cut_out() -> None:
    mask = np.zeros((HEIGHT, WIDTH), np.uint8)
    cv2.circle(mask, (640, 360), 300, 255, cv2.FILLED)
    assert cutout(mask) is not None
    mask[:, :480] = 0
    assert cutout(mask) is None


def test_head_cropped_at_the_top_meets_the_top() -> None:
    mask, face = person(640, head=-30)
    found = cutout(mask, face)
    placed = place(found, "right")
    assert found is not None
    assert placed is not None
    assert placed.y <= 0
    assert place_cutout(found, left=0, right=WIDTH, top=175) is not None  # headroom is not needed above a cropped head


def test_cropped_edge_has_no_outline_and_no_shadow_at_the_other_end() -> None:
    placed = place(cutout(*person(640)), "right")
    assert placed is not None
    canvas = np.full((THUMBNAIL_HEIGHT, THUMBNAIL_WIDTH, 3), 40, np.float32)
    mask = draw_cutout(canvas, placed, outline=WHITE)
    inside = cv2.erode(mask, np.ones((9, 9), np.uint8))[-1] > 250
    assert inside.sum() > 200
    assert canvas[-1][inside].max() < 120
    [face] = placed.faces()
    assert canvas[0, : round(face.x - face.width)].min() == pytest.approx(40, abs=1)  # above the shoulders


def test_hand_next_to_an_arm_is_kept_and_distant_speck_is_not() -> None:
    mask, face = person(640)
    mask[500:540, 470:520] = 0
    cv2.circle(mask, (440, 450), 24, 255, cv2.FILLED)  # ten pixels from the arm
    cv2.circle(mask, (100, 100), 24, 255, cv2.FILLED)
    found = cutout(mask, face)
    assert found is not None
    assert found.source_mask[450, 440] == 255
    assert found.source_mask[100, 100] == 0


def fragmented(mask: "Mask") -> None:
    for x in (100, 300, 1000, 1150):
        cv2.rectangle(mask, (x, 100), (x + 90, 500), 255, cv2.FILLED)


def with_hole(mask: "Mask") -> None:
    cv2.circle(mask, (640, 580), 100, 0, cv2.FILLED)


def without_hair(mask: "Mask") -> None:
    mask[:260] = 0


def with_half_a_face(mask: "Mask") -> None:
    mask[200:380, 655:] = 0


def uncertain(mask: "Mask") -> None:
    mask[450:] = mask[450:] // 2


def small(mask: "Mask") -> None:
    mask[400:] = 0


def picture_in_picture(mask: "Mask") -> None:
    cv2.rectangle(mask, (500, 210), (900, HEIGHT - 40), 255, cv2.FILLED)


@pytest.mark.parametrize(
    "damage", [fragmented, with_hole, without_hair, with_half_a_face, uncertain, small, picture_in_picture]
)
def test_poor_mask_yields_no_cutout(damage: "object") -> None:
    assert callable(damage)
    mask, face = person(640)
    assert cutout(mask.copy(), face) is not None
    damage(mask)
    assert cutout(mask, face) is None
