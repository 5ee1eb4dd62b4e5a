"""Checks of thumbnails and shorts find what a viewer would object to."""

from collections.abc import Sequence

import cv2
import numpy as np
import pytest

from cutroom.engines.types import Box
from cutroom.media.crop_plan import CropPane, CropPlan, CropScene, Keyframe, SceneFit
from eval.publishable import picture_checks, short_checks
from eval.publishable.short_checks import SpokenLine
from eval.publishable.talk_video import CAMERA, TELEPHONE, draw_still, face_in

GRAY = np.full((720, 1280, 3), 90, np.uint8)
FACE = (500, 100, 200, 250)


def test_outline_below_a_face_is_a_floating_cutout() -> None:
    floating = GRAY.copy()
    cv2.rectangle(floating, (420, 60), (780, 600), (250, 250, 250), 7)
    standing = GRAY.copy()
    cv2.rectangle(standing, (420, 60), (780, 900), (250, 250, 250), 7)
    assert picture_checks.floating_cutouts(floating, [FACE]) == [FACE]
    assert picture_checks.floating_cutouts(standing, [FACE]) == []


def test_band_and_headline_below_a_face_are_no_cutout() -> None:
    image = GRAY.copy()
    image[540:552] = 255
    for left in range(420, 780, 60):
        image[600:680, left : left + 40] = 255
    assert picture_checks.floating_cutouts(image, [FACE]) == []


def test_face_at_an_edge_is_cut() -> None:
    assert picture_checks.cut_faces(GRAY, [(0, 100, 200, 200), FACE]) == [(0, 100, 200, 200)]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["He ran it for 31", "years"], 1),
        (["He ran it for", "31 years"], 0),
        (["Rule number", "2: no hotels"], 1),
        (["since 1998", "and still"], 0),
        (["In 1876,", "student days"], 0),
    ],
)
def test_number_is_not_parted_from_its_noun(lines: Sequence[str], expected: int) -> None:
    assert len(picture_checks.orphan_numbers(lines)) == expected


def test_similar_covers_are_found() -> None:
    one = draw_still(f"{CAMERA} 1")
    brighter = np.clip(one.astype(np.int16) + 12, 0, 255).astype(np.uint8)
    assert picture_checks.same_covers([one, draw_still(f"{TELEPHONE} 2"), brighter]) == [(0, 2)]


@pytest.mark.parametrize("name", [f"{CAMERA} {at}" for at in (1, 2, 3)] + [f"{TELEPHONE} 2", f"{TELEPHONE} 3 mirrored"])
def test_known_face_is_where_a_detector_finds_it(name: str) -> None:
    known = face_in(name)
    assert known is not None
    center_x, center_y = (known.x + known.width / 2) * 1280, (known.y + known.height / 2) * 720
    found = picture_checks.find_faces(draw_still(name))
    assert any(x < center_x < x + w and y < center_y < y + h for x, y, w, h in found)


@pytest.mark.parametrize(
    ("before", "first", "fault"),
    [
        ("Is it far?", "It is a mile from here.", "an answer"),
        ("We met in May.", "She was a nurse.", "a pronoun"),
        ("We met in May.", "But the train was late.", "a reply"),
        ("Open the tap.", "Next, turn off the water.", "a later item of a list"),
        ("It hurts.", "You missed one yourself in the final.", "a stand-in for a noun"),
        ("We met in May.", "That's how it began.", "a pronoun"),
        ("We met in May.", "This lovely couple let me join them.", None),
        ("We met in May.", "A slow drip can waste 5 gallons a day.", None),
    ],
)
def test_start_of_a_short(before: str, first: str, fault: str | None) -> None:
    assert short_checks.starts_on_reply(SpokenLine("ann", before), SpokenLine("bob", first)) == fault


@pytest.mark.parametrize(
    ("last", "after", "speaker", "fault"),
    [
        ("Did they see it coming?", "They say so.", "bob", "a question without its answer"),
        ("I had a plan:", "Run.", "ann", "unfinished"),
        ("He left that day.", "Because of a radio.", "ann", "a clause that continues"),
        ('"You read it," she said.', '"I lost my glasses."', "ann", "a quoted exchange that continues"),
        ("He left that day.", "The house was quiet.", "ann", None),
        ("He left that day.", "But why?", "bob", None),
    ],
)
def test_end_of_a_short(last: str, after: str, speaker: str, fault: str | None) -> None:
    assert short_checks.ends_before_point(SpokenLine("ann", last), SpokenLine(speaker, after)) == fault


def test_face_outside_of_the_window_is_cropped() -> None:
    pane = CropPane(404, 720, (Keyframe(0.0, 400.0, 0.0),))
    plan = CropPlan(1280, 720, 5.0, (CropScene(0.0, 4.0, SceneFit.CROP, (pane,)),))
    inside, outside = Box(0.4, 0.2, 0.15, 0.4), Box(0.55, 0.2, 0.15, 0.4)
    assert short_checks.subject_cropped([(1.0, inside), (2.0, outside), (3.0, None)], plan) == [2.0]
