"""Screens are told from footage, and the eye goes to what stands out."""

from typing import TYPE_CHECKING

import cv2
import numpy as np
import pytest

from cutroom.engines.errors import EngineError
from cutroom.engines.vision.saliency import interest_x, is_screen
from dev.fixtures.photographs import PHOTOGRAPHS, photograph, slide, terminal, wide

if TYPE_CHECKING:
    from cutroom.engines.types import Image


def squeezed(picture: "Image", *, width: int, quality: int = 60) -> "Image":
    """As a small proxy has it."""
    size = width, picture.shape[0] * width // picture.shape[1]
    small = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    _, data = cv2.imencode(".jpg", small, [cv2.IMWRITE_JPEG_QUALITY, quality])
    read = cv2.imdecode(data, cv2.IMREAD_COLOR)
    assert read is not None
    return read.astype(np.uint8)


@pytest.mark.parametrize("width", [320, 480, 854])
@pytest.mark.parametrize(
    "picture",
    [pytest.param(slide(), id="slide"), pytest.param(slide(dark=True), id="dark"), pytest.param(terminal(), id="code")],
)
def test_a_screen_is_one_also_when_small_and_squeezed(picture: "Image", width: int) -> None:
    assert is_screen(picture)
    assert is_screen(squeezed(picture, width=width))


@pytest.mark.parametrize("name", PHOTOGRAPHS)
@pytest.mark.parametrize("light", [1.0, 0.5, 0.25])
def test_a_photograph_is_none(name: str, light: float) -> None:
    assert not is_screen((photograph(name) * light).astype(np.uint8))
    assert not is_screen(squeezed((wide(name) * light).astype(np.uint8), width=320))


def test_plain_ground_and_lights_in_the_night_are_none() -> None:
    random = np.random.default_rng(0)
    night = np.full((180, 320, 3), 12, np.uint8)
    assert not is_screen(night)
    for _ in range(120):
        x, y, radius = (int(each) for each in random.integers((0, 0, 1), (320, 180, 4)))
        cv2.circle(night, (x, y), radius, [int(each) for each in random.integers(120, 255, 3)], -1, cv2.LINE_AA)
    assert not is_screen(night)


@pytest.mark.parametrize("place", [0.25, 0.5, 0.75])
def test_the_eye_goes_to_what_stands_out(place: float) -> None:
    random = np.random.default_rng(0)
    picture = random.integers(90, 110, (180, 320, 3)).astype(np.uint8)
    x = round(place * 320)
    picture[60:120, x - 25 : x + 25] = wide("astronaut.png")[60:120, 130:180]
    assert interest_x(picture) == pytest.approx(place, abs=0.08)


@pytest.mark.parametrize("name", PHOTOGRAPHS)
def test_the_eye_stays_in_the_picture(name: str) -> None:
    assert 0.2 <= interest_x(photograph(name)) <= 0.8


def test_in_a_plain_picture_it_rests_in_the_middle() -> None:
    assert interest_x(np.full((90, 160, 3), 80, np.uint8)) == 0.5


@pytest.mark.parametrize("picture", [np.zeros((9, 9), np.uint8), np.zeros((9, 9, 3), np.float32)])
def test_pictures_of_another_kind_are_refused(picture: "Image") -> None:
    with pytest.raises(EngineError, match="three bytes"):
        is_screen(picture)
    with pytest.raises(EngineError, match="three bytes"):
        interest_x(picture)
