"""Which colours a thumbnail gets: those of the brand, the references and the wish, else those that always work."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cutroom.engines.thumbnails.compositor.colour import (
    INK,
    WHITE,
    Colour,
    contrast,
    darkened,
    graded,
    letters_on,
    mix,
    parse_hex,
    popped,
    strengthened,
    tone_of,
    vivid,
)
from cutroom.engines.thumbnails.compositor.writing import Ground, Hand

if TYPE_CHECKING:
    from cutroom.engines.thumbnails.port import ThumbnailSpec
    from cutroom.engines.types import Image

STYLE_SHARE, INFLUENCE_SHARE, BRAND_SHARE = 0.55, 0.3, 0.6  # of a reference's tone that is carried over at most
BRAND_PAINTS = 0.25  # of brand influence, from which its picture's colours are used

YELLOW: Colour = (255, 214, 10)
RED: Colour = (214, 24, 40)
LIME: Colour = (178, 245, 40)
SKY: Colour = (64, 196, 255)
NIGHT: Colour = (18, 22, 44)
BLUE: Colour = (22, 82, 220)

# Words of wishes that name a colour. Only English is understood.
_WORDS: dict[str, Colour] = {
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
    """A colour for surfaces, and one that stands out among white letters."""

    panel: Colour
    accent: Colour

    def on_picture(self) -> Hand:
        return Hand(Ground.STROKE, WHITE, self.accent, INK)

    def on_panel(self) -> Hand:
        letters = letters_on(self.panel)
        # The accent must be another colour than the letters, and be read as well as they.
        stands = contrast(self.accent, self.panel) >= 4.8 and contrast(self.accent, letters) >= 1.15
        return Hand(Ground.PANEL, letters, self.accent if stands else letters, self.panel)

    def on_labels(self) -> Hand:
        letters = letters_on(self.panel)
        return Hand(Ground.LABEL, letters, letters, self.panel)

    @property
    def deep(self) -> Colour:
        """The panel's colour as night, for grounds behind white letters."""
        return darkened(self.panel)


def palettes(design: "ThumbnailSpec") -> list[Palette]:
    """The most wanted first; there are always several, so that candidates differ."""
    paints = list(dict.fromkeys(_paints(design)))
    if not paints:
        return [Palette(RED, YELLOW), Palette(YELLOW, YELLOW), Palette(NIGHT, LIME), Palette(BLUE, YELLOW)]
    found = []
    for number, paint in enumerate(paints[:3]):
        others = [each for each in paints if each != paint] or [YELLOW if contrast(YELLOW, paint) > 1.6 else WHITE]
        found.append(Palette(paint, _as_accent(others[number % len(others)])))
        found.append(Palette(mix(paint, (8, 8, 14), 0.8), _as_accent(paint)))
    return found


def _as_accent(colour: Colour) -> Colour:
    """Letters need light: dark brand colours are shown as their lighter kin."""
    return colour if contrast(colour, INK) >= 7 else strengthened(colour, value=250)


def _paints(design: "ThumbnailSpec") -> Iterator[Colour]:
    for text in design.colors:
        if (colour := parse_hex(text)) is not None:
            yield colour
    if design.prompt:
        for word in re.findall(r"[a-z]+", design.prompt.lower()):
            if word in _WORDS:
                yield _WORDS[word]
    if design.brand is not None and design.brand_influence >= BRAND_PAINTS:
        yield from (strengthened(each, value=150) for each in vivid(design.brand, count=2))
    for reference in (design.influence, design.style):
        if reference is not None:
            yield from (strengthened(each, value=150) for each in vivid(reference, count=1))


def tinted(picture: "Image", design: "ThumbnailSpec") -> "Image":
    """A picture of the film in the tone of the references, and ready to be seen small."""
    if design.style is not None:
        picture = graded(picture, tone_of(design.style), share=STYLE_SHARE)
    if design.influence is not None:
        picture = graded(picture, tone_of(design.influence), share=INFLUENCE_SHARE)
    if design.brand is not None and design.brand_influence > 0:
        picture = graded(picture, tone_of(design.brand), share=BRAND_SHARE * min(1.0, design.brand_influence))
    return popped(picture)
