"""Port of thumbnail rendering.

Calls block, so activities run them in threads; every adapter passes the conformance suite.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from cutroom.engines.types import Box

if TYPE_CHECKING:
    from cutroom.engines.types import Image

THUMBNAIL_WIDTH, THUMBNAIL_HEIGHT = 1280, 720
MAX_FIGURES = 3
MAX_PLATES = 2
MAX_THUMBNAILS = 8  # per call


class Pipeline(StrEnum):
    """How a thumbnail is made, by the names of the interface."""

    CREATIVE = "thumbnail-v2"  # subjects are cut out and placed anew
    PRECISION = "thumbnail-precision"  # plates are shown as they are


@dataclass(frozen=True, slots=True)
class Figure:
    """Somebody who is to be seen; position and action are in the caller's words."""

    picture: "Image"
    name: str | None = None
    position: str | None = None
    action: str | None = None


@dataclass(frozen=True, slots=True)
class ThumbnailSpec:
    """What a thumbnail should show.

    Frames are pictures of the film, the best first; they are the background, and the subject where nothing else is
    given. Figures are for the creative pipeline, plates for the precise one. Colours are hex codes of a brand voice.
    """

    pipeline: Pipeline
    headline: str | None = None
    language: str = "en"  # of the headline, as a BCP 47 code
    frames: "tuple[Image, ...]" = ()
    figures: tuple[Figure, ...] = ()
    plates: "tuple[Image, ...]" = ()
    style: "Image | None" = None
    brand: "Image | None" = None
    influence: "Image | None" = None
    brand_influence: float = 0.5
    colors: tuple[str, ...] = ()
    prompt: str | None = None


@dataclass(frozen=True, slots=True)
class RenderedThumbnail:
    """One thumbnail, what is in it, and how good it is from 0 to 1.

    `headline` is what was written, which may be shorter than what was asked for; `contrast` is the WCAG ratio of its
    letters to what is directly around them, measured on the pixels.
    """

    picture: "Image"
    score: float
    layout: str
    headline: str | None = None
    contrast: float | None = None
    headline_box: Box | None = None
    faces: tuple[Box, ...] = ()


class ThumbnailRenderer(Protocol):
    """Makes thumbnails."""

    @property
    def name(self) -> str: ...

    def draw(self, design: ThumbnailSpec, *, count: int) -> list[RenderedThumbnail]:
        """At most so many, which all look different, the best first; at least one, or EngineError tells why not."""
        ...
