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
    """Where a face is, and how sure that is from 0 to 1."""

    box: Box
    score: float


class FaceDetector(Protocol):
    """Finds faces in pictures."""

    name: str

    def find(self, picture: "Image") -> list[Face]:
        """Every face that is seen, the surest first; boxes lie inside the picture."""
        ...


class BackgroundRemover(Protocol):
    """Parts a subject from what is behind it."""

    name: str

    def cut(self, picture: "Image") -> "Mask":
        """How much each pixel belongs to the subject; nothing where there is none."""
        ...
