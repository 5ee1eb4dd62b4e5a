"""Tests upright pictures in wide frames: cropped to the picture, and other images left alone."""

from typing import TYPE_CHECKING

import cv2
import numpy as np
import pytest

from cutroom.engines.vision.pillarbox import upright_picture

if TYPE_CHECKING:
    from cutroom.engines.types import Image

WIDTH, HEIGHT = 1280, 720
PICTURE = 400  # pixels wide


def noisy(width: int, height: int = HEIGHT) -> "Image":
    pixels = np.random.default_rng(3).integers(0, 256, (height // 4, width // 4, 3), np.uint8)
    return cv2.resize(pixels, (width, height), interpolation=cv2.INTER_NEAREST).astype(np.uint8)


def blurred_fill() -> "Image":
    return cv2.GaussianBlur(noisy(WIDTH), (0, 0), 40).astype(np.uint8)


def black_fill() -> "Image":
    return np.zeros((HEIGHT, WIDTH, 3), np.uint8)


@pytest.mark.parametrize("left", [0, 100, (WIDTH - PICTURE) // 2, WIDTH - PICTURE])
@pytest.mark.parametrize("fill", [blurred_fill(), black_fill()], ids=["blurred", "black"])
def test_fill_beside_an_upright_picture_is_removed(fill: "Image", left: int) -> None:
    frame = fill.copy()
    frame[:, left : left + PICTURE] = noisy(PICTURE)
    found = upright_picture(frame)
    assert found.shape[0] == HEIGHT
    assert PICTURE - 20 <= found.shape[1] <= PICTURE


def test_wide_pictures_and_plain_frames_stay_whole() -> None:
    wide = blurred_fill()
    wide[:, 100 : WIDTH - 100] = noisy(WIDTH - 200)
    for image in (noisy(WIDTH), blurred_fill(), black_fill(), wide):
        assert upright_picture(image) is image


def test_soft_background_without_a_seam_stays() -> None:
    """A sharp subject before a background out of focus has no straight edge."""
    share = np.clip((PICTURE / 2 - np.abs(np.arange(WIDTH) - WIDTH / 2)) / 200, 0, 1)[None, :, None]
    image = (noisy(WIDTH) * share + blurred_fill() * (1 - share)).astype(np.uint8)
    assert upright_picture(image) is image
