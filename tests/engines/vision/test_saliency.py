"""Screens are distinguished from footage, and saliency follows what stands out."""

from typing import TYPE_CHECKING

import cv2
import numpy as np
import pytest

from cutroom.engines.errors import EngineError
from cutroom.engines.vision.saliency import is_screen, saliency_center_x
from dev.fixtures.photographs import PHOTOGRAPHS, cropped_photograph, photograph, slide, terminal

if TYPE_CHECKING:
    from cutroom.engines.types import Image


def compressed(image: "Image", *, width: int, quality: int = 60) -> "Image":
    """Downscaled and JPEG-compressed, like a frame of the proxy."""
    size = width, image.shape[0] * width // image.shape[1]
    small = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
    _, data = cv2.imencode(".jpg", small, [cv2.IMWRITE_JPEG_QUALITY, quality])
    read = cv2.imdecode(data, cv2.IMREAD_COLOR)
    assert read is not None
    return read.astype(np.uint8)


@pytest.mark.parametrize("width", [320, 480, 854])
@pytest.mark.parametrize(
    "image",
    [pytest.param(slide(), id="slide"), pytest.param(slide(dark=True), id="dark"), pytest.param(terminal(), id="code")],
)
def test_screen_is_detected_when_small_and_compressed(image: "Image", width: int) -> None:
    assert is_screen(image)
    assert is_screen(compressed(image, width=width))


@pytest.mark.parametrize("name", PHOTOGRAPHS)
@pytest.mark.parametrize("light", [1.0, 0.5, 0.25])
def test_photograph_is_not_a_screen(name: str, light: float) -> None:
    assert not is_screen((photograph(name) * light).astype(np.uint8))
    assert not is_screen(compressed((cropped_photograph(name) * light).astype(np.uint8), width=320))


def test_flat_image_and_city_lights_are_not_screens() -> None:
    random = np.random.default_rng(0)
    night = np.full((180, 320, 3), 12, np.uint8)
    assert not is_screen(night)
    for _ in range(120):
        x, y, radius = (int(each) for each in random.integers((0, 0, 1), (320, 180, 4)))
        cv2.circle(night, (x, y), radius, [int(each) for each in random.integers(120, 255, 3)], -1, cv2.LINE_AA)
    assert not is_screen(night)


@pytest.mark.parametrize("place", [0.25, 0.5, 0.75])
def test_saliency_follows_what_stands_out(place: float) -> None:
    random = np.random.default_rng(0)
    image = random.integers(90, 110, (180, 320, 3)).astype(np.uint8)
    x = round(place * 320)
    image[60:120, x - 25 : x + 25] = cropped_photograph("astronaut.png")[60:120, 130:180]
    assert saliency_center_x(image) == pytest.approx(place, abs=0.08)


@pytest.mark.parametrize("name", PHOTOGRAPHS)
def test_saliency_stays_inside_the_image(name: str) -> None:
    assert 0.2 <= saliency_center_x(photograph(name)) <= 0.8


def test_saliency_of_a_flat_image_is_centered() -> None:
    assert saliency_center_x(np.full((90, 160, 3), 80, np.uint8)) == 0.5


@pytest.mark.parametrize("image", [np.zeros((9, 9), np.uint8), np.zeros((9, 9, 3), np.float32)])
def test_other_array_types_are_rejected(image: "Image") -> None:
    with pytest.raises(EngineError, match="8-bit RGB"):
        is_screen(image)
    with pytest.raises(EngineError, match="8-bit RGB"):
        saliency_center_x(image)
