"""Color math: WCAG luminance and contrast, dominant colors, and color transfer between images."""

import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import cv2
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutroom.engines.types import Image

    Canvas: TypeAlias = NDArray[np.float32]  # height x width x RGB, 0 to 255
    Plane: TypeAlias = NDArray[np.float32]

Color: TypeAlias = tuple[int, int, int]

WHITE: Color = (255, 255, 255)
INK: Color = (14, 14, 18)
BLACK: Color = (0, 0, 0)
MIN_TEXT_CONTRAST = 4.6  # WCAG AA plus a margin
MIN_SATURATION, MIN_VALUE = 110, 90  # of 255; below these a pixel's hue carries no information
HUE_STEP = 15  # bin width, on OpenCV's 0-180 hue scale
MIN_SHARE = 0.015  # share of the image below which a hue is noise
_HEX = re.compile(r"#?([0-9a-fA-F]{6}|[0-9a-fA-F]{3})")


def parse_hex(text: str) -> Color | None:
    found = _HEX.fullmatch(text.strip())
    if not found:
        return None
    code = found[1] if len(found[1]) == 6 else "".join(2 * each for each in found[1])
    return int(code[:2], 16), int(code[2:4], 16), int(code[4:], 16)


def luminance(colors: "NDArray[np.generic] | Color") -> "Plane":
    """WCAG relative luminance, from 0 to 1."""
    share = np.asarray(colors, np.float32) / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    weighted: Plane = (linear @ np.array([0.2126, 0.7152, 0.0722], np.float32)).astype(np.float32)
    return weighted


def contrast(one: Color, two: Color) -> float:
    """WCAG contrast ratio, from 1 to 21."""
    low, high = sorted((float(luminance(one)), float(luminance(two))))
    return (high + 0.05) / (low + 0.05)


def mix(one: Color, two: Color, share: float) -> Color:
    """Linear interpolation; `share` is the weight of the second color."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(one, two, strict=True))
    return red, green, blue


def readable_text_color(background: Color) -> Color:
    """White if readable, else near-black or pure black; one of these always exceeds 4.5:1."""
    if contrast(WHITE, background) >= MIN_TEXT_CONTRAST and contrast(WHITE, background) >= 0.75 * contrast(
        INK, background
    ):
        return WHITE
    return (
        INK
        if contrast(INK, background) >= MIN_TEXT_CONTRAST
        else max((WHITE, BLACK), key=partial(contrast, background))
    )


def with_contrast(color: Color, *, against: Color, ratio: float) -> Color:
    """Mixes the color with white or black until it reaches the contrast ratio."""
    goal = max((WHITE, BLACK), key=partial(contrast, against))
    for step in range(21):
        tried = mix(color, goal, step / 20)
        if contrast(tried, against) >= ratio:
            return tried
    return goal


def dominant_colors(image: "Image", *, count: int) -> list[Color]:
    """The most saturated hues by covered area, largest first; empty for grayscale images."""
    small = cv2.resize(image, (96, 54), interpolation=cv2.INTER_AREA)
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
    return [color for _, color in sorted(found, reverse=True)[:count]]


def saturated(color: Color, *, value: int = 225) -> Color:
    """The same hue with raised saturation and value, suitable for flat surfaces."""
    hsv = cv2.cvtColor(np.array([[color]], np.uint8), cv2.COLOR_RGB2HSV)
    hsv[0, 0, 1], hsv[0, 0, 2] = max(200, int(hsv[0, 0, 1])), max(value, int(hsv[0, 0, 2]))
    red, green, blue = (int(each) for each in cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB)[0, 0])
    return red, green, blue


def shade_of(color: Color, *, share: float = 0.42) -> Color:
    """A darker shade. Yellow shifts towards orange, because dark yellow looks muddy."""
    hsv = cv2.cvtColor(np.array([[color]], np.uint8), cv2.COLOR_RGB2HSV).astype(np.float32)
    hue, saturation, value = (float(each) for each in hsv[0, 0])
    if 18 <= hue <= 38 and saturation > 90:
        hue = 8 + (hue - 18) * 0.2
        share = max(share, 0.62)
    shade = np.array([[[hue, saturation, value * share]]]).astype(np.uint8)
    red, green, blue = (int(each) for each in cv2.cvtColor(shade, cv2.COLOR_HSV2RGB)[0, 0])
    return red, green, blue


@dataclass(frozen=True, slots=True)
class ColorStats:
    """Mean and standard deviation of an image's colors, in CIELAB."""

    mean: tuple[float, float, float]
    spread: tuple[float, float, float]


def color_stats(image: "Image") -> ColorStats:
    small = cv2.resize(image, (160, 90), interpolation=cv2.INTER_AREA).astype(np.float32) / 255
    lab = cv2.cvtColor(small, cv2.COLOR_RGB2LAB).reshape(-1, 3)
    mean, spread = lab.mean(axis=0), lab.std(axis=0)
    return ColorStats(tuple(float(each) for each in mean), tuple(float(each) for each in spread))  # type: ignore[arg-type] # three each


def transfer_color(image: "Image", towards: ColorStats, *, share: float) -> "Image":
    """Reinhard color transfer. Lightness gets less weight than chroma, so that faces stay well lit."""
    own = color_stats(image)
    lab = cv2.cvtColor(image.astype(np.float32) / 255, cv2.COLOR_RGB2LAB)
    # Limits the gain, because flat images would amplify noise.
    gain = np.clip(np.array(towards.spread) / (np.array(own.spread) + 1e-3), 0.5, 1.8)
    moved = (lab - np.array(own.mean)) * gain + np.array(towards.mean)
    weight = share * np.array([0.45, 1.0, 1.0])
    rgb = cv2.cvtColor((lab * (1 - weight) + moved * weight).astype(np.float32), cv2.COLOR_LAB2RGB)
    result: Image = np.clip(rgb * 255, 0, 255).astype(np.uint8)
    return result


def enhanced(image: "Image", *, share: float = 1.0) -> "Image":
    """Stretches lightness and raises contrast and chroma slightly: thumbnails are viewed small, among others."""
    lab = cv2.cvtColor(image.astype(np.float32) / 255, cv2.COLOR_RGB2LAB)
    low, high = np.percentile(lab[::4, ::4, 0], (1.0, 99.0))
    if high - low > 12:
        full = np.clip((lab[..., 0] - low) / (high - low), 0, 1)
        # The S-curve lifts midtones and keeps both ends.
        curved = full + 0.18 * (full - 0.45) * (1 - np.abs(2 * full - 1)) + 0.03 * np.sin(np.pi * full)
        lab[..., 0] = lab[..., 0] * (1 - share) + 100 * np.clip(curved, 0, 1) * share
    lab[..., 1:] = lab[..., 1:] * (1 + 0.18 * share)
    rgb = cv2.cvtColor(lab, cv2.COLOR_LAB2RGB)
    return np.clip(rgb * 255, 0, 255).astype(np.uint8)
