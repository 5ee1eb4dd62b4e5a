"""Ports of face detection, face landmarks and background removal.

Calls block, so activities run them in threads; every adapter passes the conformance suite.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from cutroom.engines.types import Box

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cutroom.engines.types import Image

    Mask: TypeAlias = NDArray[np.uint8]  # height x width; 0 is background, 255 foreground


@dataclass(frozen=True, slots=True)
class Face:
    """A detected face with its confidence from 0 to 1."""

    box: Box
    score: float


Point: TypeAlias = tuple[float, float]  # x and y in pixels


@dataclass(frozen=True, slots=True)
class Aperture:
    """An eye or a mouth: its corners, and opposite points of its lids or lips."""

    corners: tuple[Point, Point]
    upper: tuple[Point, ...]
    lower: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class FaceLandmarks:
    """Points on one face, in pixels of the image."""

    top: Point  # of the forehead
    chin: Point
    eyes: tuple[Aperture, Aperture]  # from left to right, in an upright face
    mouth: Aperture  # between the lips


class FaceDetector(Protocol):
    """Detects faces in images."""

    name: str

    def detect(self, image: "Image") -> list[Face]:
        """All faces by descending confidence; boxes are clipped to the image."""
        ...


class FaceLandmarker(Protocol):
    """Locates the eyes and the mouth of detected faces."""

    name: str

    def locate(self, image: "Image", box: Box, *, with_lids: bool = True) -> FaceLandmarks | None:
        """None if the box shows no face, or one that is too small to be measured.

        Without `with_lids` the eyes have their place but not their exact shape, which takes most of the time.
        """
        ...


class BackgroundRemover(Protocol):
    """Separates subjects from their background."""

    name: str

    def mask(self, image: "Image") -> "Mask":
        """Alpha mask of the subject; all zero if there is none."""
        ...
