"""Chooses colors from the brand, the prompt and the reference images, with defaults where none are given."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cutroom.engines.thumbnails.compositor.color import (
    INK,
    WHITE,
    Color,
    color_stats,
    contrast,
    dominant_colors,
    enhanced,
    mix,
    parse_hex,
    readable_text_color,
    saturated,
    shade_of,
    transfer_color,
)
from cutroom.engines.thumbnails.compositor.headline_rendering import TextBacking, TextStyle

if TYPE_CHECKING:
    from cutroom.engines.thumbnails.port import ThumbnailSpec
    from cutroom.engines.types import Image

STYLE_SHARE, INFLUENCE_SHARE, BRAND_SHARE = 0.55, 0.3, 0.6  # maximum color transfer per reference
BRAND_COLORS_MIN_INFLUENCE = 0.25  # brand influence above which colors are taken from the brand image

YELLOW: Color = (255, 214, 10)
RED: Color = (214, 24, 40)
LIME: Color = (178, 245, 40)
SKY: Color = (64, 196, 255)
NIGHT: Color = (18, 22, 44)
BLUE: Color = (22, 82, 220)

# Color names recognized in prompts; English only.
_COLOR_NAMES: dict[str, Color] = {
    "red": RED,
    "orange": (255, 122, 0),
    "yellow": YELLOW,
    "gold": (245, 190, 40),
    "green": (24, 160, 72),
    "lime": LIME,
    "teal": (0, 140, 140),
    "cyan": SKY,
    "blue": BLUE,
    "navy": NIGHT,
    "purple": (112, 48, 200),
    "pink": (255, 84, 160),
    "black": INK,
    "white": (245, 245, 245),
}


@dataclass(frozen=True, slots=True)
class Palette:
    """A panel color and an accent that is_distinct out among white text."""

    panel: Color
    accent: Color

    def over_image(self) -> TextStyle:
        return TextStyle(TextBacking.STROKE, WHITE, self.accent, INK)

    def on_panel(self) -> TextStyle:
        letters = readable_text_color(self.panel)
        # The accent must differ from the text color and be readable on the panel.
        is_distinct = contrast(self.accent, self.panel) >= 4.8 and contrast(self.accent, letters) >= 1.15
        return TextStyle(TextBacking.PANEL, letters, self.accent if is_distinct else letters, self.panel)

    def on_labels(self) -> TextStyle:
        letters = readable_text_color(self.panel)
        return TextStyle(TextBacking.LABEL, letters, letters, self.panel)

    @property
    def dark(self) -> Color:
        """The panel color darkened, for backgrounds behind white text."""
        return shade_of(self.panel)


def candidate_palettes(spec: "ThumbnailSpec") -> list[Palette]:
    """By priority; always several, so that candidates differ."""
    colors = list(dict.fromkeys(_requested_colors(spec)))
    if not colors:
        return [Palette(RED, YELLOW), Palette(YELLOW, YELLOW), Palette(NIGHT, LIME), Palette(BLUE, YELLOW)]
    found = []
    for number, color in enumerate(colors[:3]):
        others = [each for each in colors if each != color] or [YELLOW if contrast(YELLOW, color) > 1.6 else WHITE]
        found.append(Palette(color, _as_accent(others[number % len(others)])))
        found.append(Palette(mix(color, (8, 8, 14), 0.8), _as_accent(color)))
    return found


def _as_accent(color: Color) -> Color:
    """Accents must be light: dark brand colors are replaced by a lighter color of the same hue."""
    return color if contrast(color, INK) >= 7 else saturated(color, value=250)


def _requested_colors(spec: "ThumbnailSpec") -> Iterator[Color]:
    for text in spec.colors:
        if (color := parse_hex(text)) is not None:
            yield color
    if spec.prompt:
        for word in re.findall(r"[a-z]+", spec.prompt.lower()):
            if word in _COLOR_NAMES:
                yield _COLOR_NAMES[word]
    if spec.brand is not None and spec.brand_influence >= BRAND_COLORS_MIN_INFLUENCE:
        yield from (saturated(each, value=150) for each in dominant_colors(spec.brand, count=2))
    for reference in (spec.influence, spec.style):
        if reference is not None:
            yield from (saturated(each, value=150) for each in dominant_colors(reference, count=1))


def color_graded(image: "Image", spec: "ThumbnailSpec") -> "Image":
    """Transfers the colors of the references to a frame and enhances it for small sizes."""
    if spec.style is not None:
        image = transfer_color(image, color_stats(spec.style), share=STYLE_SHARE)
    if spec.influence is not None:
        image = transfer_color(image, color_stats(spec.influence), share=INFLUENCE_SHARE)
    if spec.brand is not None and spec.brand_influence > 0:
        image = transfer_color(image, color_stats(spec.brand), share=BRAND_SHARE * min(1.0, spec.brand_influence))
    return enhanced(image)
