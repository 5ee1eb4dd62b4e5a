"""Port of thumbnail rendering.

Calls block, so activities run them in threads; every adapter passes the conformance suite.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from cutroom.engines.types import Box, OnProgress

if TYPE_CHECKING:
    from cutroom.engines.types import Image

THUMBNAIL_WIDTH, THUMBNAIL_HEIGHT = 1280, 720
MAX_CHARACTERS = 3
MAX_PLATES = 2
MAX_THUMBNAILS = 8  # per call


class Pipeline(StrEnum):
    """Thumbnail pipelines, by their names in the API."""

    CREATIVE = "thumbnail-v2"  # subjects are cut out and placed on a new background
    PRECISION = "thumbnail-precision"  # plates are shown unchanged


@dataclass(frozen=True, slots=True)
class CharacterSpec:
    """A character to show; position and action are free text from the caller."""

    image: "Image"
    name: str | None = None
    position: str | None = None
    action: str | None = None


@dataclass(frozen=True, slots=True)
class ThumbnailSpec:
    """Inputs of a thumbnail.

    `frames` come from the video, best first: the background, and the subject where nothing else is given. `characters`
    belong to the creative pipeline, `plates` to the precision pipeline. `colors` are hex codes of a brand voice.
    """

    pipeline: Pipeline
    headline: str | None = None
    language: str = "en"  # of the headline, as a BCP 47 code
    frames: "tuple[Image, ...]" = ()
    characters: tuple[CharacterSpec, ...] = ()
    plates: "tuple[Image, ...]" = ()
    style: "Image | None" = None
    brand: "Image | None" = None
    influence: "Image | None" = None
    brand_influence: float = 0.5
    colors: tuple[str, ...] = ()
    prompt: str | None = None


@dataclass(frozen=True, slots=True)
class RenderedThumbnail:
    """A thumbnail with its detected contents and a score from 0 to 1.

    `headline` is the rendered text, which may be a shortened version; `contrast` is the measured WCAG ratio of the text
    to the pixels around it.
    """

    image: "Image"
    score: float
    layout: str
    headline: str | None = None
    contrast: float | None = None
    headline_box: Box | None = None
    faces: tuple[Box, ...] = ()


class ThumbnailRenderer(Protocol):
    """Renders thumbnails."""

    @property
    def name(self) -> str: ...

    def render(
        self, spec: ThumbnailSpec, *, count: int, on_progress: OnProgress | None = None
    ) -> list[RenderedThumbnail]:
        """Up to `count` distinct thumbnails, best first; at least one, or EngineError."""
        ...
