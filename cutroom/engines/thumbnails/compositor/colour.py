"""Colours: how light they are, how they stand against each other, and how one picture's are carried to another."""

import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import cv2
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutroom.engines.types import Image

    Canvas: TypeAlias = NDArray[np.float32]  # height, width and three colours from 0 to 255
    Plane: TypeAlias = NDArray[np.float32]

Colour: TypeAlias = tuple[int, int, int]

WHITE: Colour = (255, 255, 255)
INK: Colour = (14, 14, 18)
BLACK: Colour = (0, 0, 0)
MIN_WHITE = 4.6  # contrast from which letters are read well
MIN_SATURATION, MIN_VALUE = 110, 90  # of 255: from which a pixel's hue says anything
HUE_STEP = 15  # degrees of OpenCV's 180 in one bin
MIN_SHARE = 0.015  # of a picture: below that a hue is an accident
_HEX = re.compile(r"#?([0-9a-fA-F]{6}|[0-9a-fA-F]{3})")


def parse_hex(text: str) -> Colour | None:
    found = _HEX.fullmatch(text.strip())
    if not found:
        return None
    code = found[1] if len(found[1]) == 6 else "".join(2 * each for each in found[1])
    return int(code[:2], 16), int(code[2:4], 16), int(code[4:], 16)


def luminance(colours: "NDArray[np.generic] | Colour") -> "Plane":
    """The relative luminance of WCAG, from 0 to 1."""
    share = np.asarray(colours, np.float32) / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    weighed: Plane = (linear @ np.array([0.2126, 0.7152, 0.0722], np.float32)).astype(np.float32)
    return weighed


def contrast(one: Colour, two: Colour) -> float:
    """The ratio of WCAG, from 1 to 21."""
    low, high = sorted((float(luminance(one)), float(luminance(two))))
    return (high + 0.05) / (low + 0.05)


def mix(one: Colour, two: Colour, share: float) -> Colour:
    """`share` of the second."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(one, two, strict=True))
    return red, green, blue


def letters_on(ground: Colour) -> Colour:
    """White where it can be read well, else ink, or black itself: one of them always has more than 4.5."""
    if contrast(WHITE, ground) >= MIN_WHITE and contrast(WHITE, ground) >= 0.75 * contrast(INK, ground):
        return WHITE
    return INK if contrast(INK, ground) >= MIN_WHITE else max((WHITE, BLACK), key=partial(contrast, ground))


def lifted(colour: Colour, *, against: Colour, ratio: float) -> Colour:
    """The colour, nearer to white or to black until it stands off enough."""
    goal = max((WHITE, BLACK), key=partial(contrast, against))
    for step in range(21):
        tried = mix(colour, goal, step / 20)
        if contrast(tried, against) >= ratio:
            return tried
    return goal


def vivid(picture: "Image", *, count: int) -> list[Colour]:
    """The strong colours of a picture, the one that covers most first; none in a grey one."""
    small = cv2.resize(picture, (96, 54), interpolation=cv2.INTER_AREA)
    hsv = cv2.cvtColor(small, cv2.COLOR_RGB2HSV).reshape(-1, 3).astype(np.int32)
    rgb = small.reshape(-1, 3)
    strong = (hsv[:, 1] >= MIN_SATURATION) & (hsv[:, 2] >= MIN_VALUE)
    found = []
    for low in range(0, 180, HUE_STEP):
        inside = strong & (hsv[:, 0] >= low) & (hsv[:, 0] < low + HUE_STEP)
        if inside.mean() >= MIN_SHARE:
            weight = (hsv[inside, 1] / 255) ** 2
            mean = (rgb[inside] * weight[:, None]).sum(axis=0) / weight.sum()
            found.append((float(weight.sum()), (int(mean[0]), int(mean[1]), int(mean[2]))))
    return [colour for _, colour in sorted(found, reverse=True)[:count]]


def strengthened(colour: Colour, *, value: int = 225) -> Colour:
    """The same hue as a paint: saturated and light enough to be a sign."""
    hsv = cv2.cvtColor(np.array([[colour]], np.uint8), cv2.COLOR_RGB2HSV)
    hsv[0, 0, 1], hsv[0, 0, 2] = max(200, int(hsv[0, 0, 1])), max(value, int(hsv[0, 0, 2]))
    red, green, blue = (int(each) for each in cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB)[0, 0])
    return red, green, blue


def darkened(colour: Colour, *, share: float = 0.42) -> Colour:
    """The same paint in the shade. Yellow goes through orange, since dark yellow is mud."""
    hsv = cv2.cvtColor(np.array([[colour]], np.uint8), cv2.COLOR_RGB2HSV).astype(np.float32)
    hue, saturation, value = (float(each) for each in hsv[0, 0])
    if 18 <= hue <= 38 and saturation > 90:
        hue = 8 + (hue - 18) * 0.2
        share = max(share, 0.62)
    shade = np.array([[[hue, saturation, value * share]]]).astype(np.uint8)
    red, green, blue = (int(each) for each in cv2.cvtColor(shade, cv2.COLOR_HSV2RGB)[0, 0])
    return red, green, blue


@dataclass(frozen=True, slots=True)
class Tone:
    """The mean and the spread of a picture's colours, in LAB."""

    mean: tuple[float, float, float]
    spread: tuple[float, float, float]


def tone_of(picture: "Image") -> Tone:
    small = cv2.resize(picture, (160, 90), interpolation=cv2.INTER_AREA).astype(np.float32) / 255
    lab = cv2.cvtColor(small, cv2.COLOR_RGB2LAB).reshape(-1, 3)
    mean, spread = lab.mean(axis=0), lab.std(axis=0)
    return Tone(tuple(float(each) for each in mean), tuple(float(each) for each in spread))  # type: ignore[arg-type] # three each


def graded(picture: "Image", towards: Tone, *, share: float) -> "Image":
    """A picture with part of another one's tone. Light is carried less than colour, so that faces stay lit."""
    own = tone_of(picture)
    lab = cv2.cvtColor(picture.astype(np.float32) / 255, cv2.COLOR_RGB2LAB)
    # A flat picture's spread would blow up noise.
    gain = np.clip(np.array(towards.spread) / (np.array(own.spread) + 1e-3), 0.5, 1.8)
    moved = (lab - np.array(own.mean)) * gain + np.array(towards.mean)
    weight = share * np.array([0.45, 1.0, 1.0])
    rgb = cv2.cvtColor((lab * (1 - weight) + moved * weight).astype(np.float32), cv2.COLOR_LAB2RGB)
    result: Image = np.clip(rgb * 255, 0, 255).astype(np.uint8)
    return result


def popped(picture: "Image", *, share: float = 1.0) -> "Image":
    """Full range of light, a little more contrast and colour: thumbnails are seen small and among others."""
    lab = cv2.cvtColor(picture.astype(np.float32) / 255, cv2.COLOR_RGB2LAB)
    low, high = np.percentile(lab[::4, ::4, 0], (1.0, 99.0))
    if high - low > 12:
        full = np.clip((lab[..., 0] - low) / (high - low), 0, 1)
        # An s-curve lifts the middle a little and keeps the ends.
        curved = full + 0.18 * (full - 0.45) * (1 - np.abs(2 * full - 1)) + 0.03 * np.sin(np.pi * full)
        lab[..., 0] = lab[..., 0] * (1 - share) + 100 * np.clip(curved, 0, 1) * share
    lab[..., 1:] = lab[..., 1:] * (1 + 0.18 * share)
    rgb = cv2.cvtColor(lab, cv2.COLOR_LAB2RGB)
    return np.clip(rgb * 255, 0, 255).astype(np.uint8)
