"""Types shared by engine ports: audio samples, images, time spans and boxes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Samples: TypeAlias = NDArray[np.float32]  # mono audio in [-1, 1], at SAMPLE_RATE unless stated otherwise
    Stereo: TypeAlias = NDArray[np.float32]  # shape (2, samples): left and right
    Vector: TypeAlias = NDArray[np.float32]
    Image: TypeAlias = NDArray[np.uint8]  # height x width x RGB

SAMPLE_RATE = 16_000

OnProgress = Callable[[float], None]  # receives the completed share of a call, and may raise to cancel it


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A time range in seconds from the start of the input."""

    start_seconds: float
    end_seconds: float


@dataclass(frozen=True, slots=True)
class Box:
    """An image region in normalized coordinates (0 to 1) with the origin at the top left."""

    x: float
    y: float
    width: float
    height: float
