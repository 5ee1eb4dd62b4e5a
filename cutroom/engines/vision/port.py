"""Ports of face detection and background removal.

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


class FaceDetector(Protocol):
    """Detects faces in images."""

    name: str

    def detect(self, image: "Image") -> list[Face]:
        """All faces by descending confidence; boxes are clipped to the image."""
        ...


class BackgroundRemover(Protocol):
    """Separates subjects from their background."""

    name: str

    def mask(self, image: "Image") -> "Mask":
        """Alpha mask of the subject; all zero if there is none."""
        ...
