"""Shot boundary detection on downscaled frames, in constant memory.

A cut is a frame that differs from all frames of the preceding window under every small translation, and from which the
following frames do not return. Translations rule out pans, the windows rule out flashes. In footage with much motion
the difference must also stand out against its neighbors. Gradual transitions are not detected.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import ceil
from statistics import median
from typing import TYPE_CHECKING

from cutroom.engines.errors import EngineError, EngineUnavailableError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cutroom.engines.types import Image

    Thumb = NDArray[np.float32]

MIN_SHOT_SECONDS = 0.4
WIDTH, HEIGHT = 32, 18  # comparison size in pixels
MAX_SHIFT_X, MAX_SHIFT_Y = 13, 4  # maximum camera motion between two frames, in pixels of that size
CUT_DIFFERENCE = 0.5  # minimum difference across a cut, relative to contrast
MIN_PROMINENCE = 2.0  # relative to the median difference of neighboring frames
MIN_CONTRAST = 8.0  # of 255; keeps noise in dark footage from counting as a cut


@dataclass(slots=True)
class _Frame:
    small: "Thumb"
    spread: float
    change: float = 0.0  # from the previous frame


def detect_cuts(frames: Iterable["Image"], *, rate: float) -> list[float]:
    """Times in seconds at which a new shot begins; `rate` is in frames per second."""
    if rate <= 0:
        raise EngineError("The frame rate must be above 0.")
    shortest = max(1, ceil(MIN_SHOT_SECONDS * rate - 1e-6))
    cuts: list[int] = []
    # One minimum shot length on either side of the candidate.
    window: deque[_Frame] = deque(maxlen=2 * shortest)
    for number, frame in enumerate(_downscaled(frames)):
        if window:
            frame.change = _difference(window[-1], frame)
        window.append(frame)
        at = number - shortest + 1  # the latest frame that can be confirmed as a cut
        last = cuts[-1] if cuts else 0
        if at - last >= shortest and _is_cut(window, len(window) - shortest):
            cuts.append(at)
    return [cut / rate for cut in cuts]


def _downscaled(frames: Iterable["Image"]) -> Iterator[_Frame]:
    try:
        import cv2  # noqa: PLC0415 - keeps the import out of the API process
        import numpy as np  # noqa: PLC0415 - as above
    except ImportError as error:
        raise EngineUnavailableError("opencv-python-headless is not installed.") from error
    for frame in frames:
        if frame.ndim != 3 or frame.shape[2] != 3 or frame.dtype != np.uint8 or not frame.size:
            raise EngineError("Images must be 8-bit RGB arrays.")
        small = cv2.resize(frame, (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA).astype(np.float32)
        yield _Frame(small, float(np.abs(small - small.mean(axis=(0, 1))).mean()))


def _is_cut(window: "deque[_Frame]", at: int) -> bool:
    frame = window[at]
    if at == 0 or frame.change < CUT_DIFFERENCE:
        return False
    others = [each.change for number, each in enumerate(window) if number not in (0, at)]
    if others and frame.change < MIN_PROMINENCE * median(others):
        return False
    frames = list(window)
    # A flash returns to the earlier image, so neither side may match across the candidate.
    is_new = all(_difference(before, frame) >= CUT_DIFFERENCE for before in frames[: at - 1])
    return is_new and all(_difference(frames[at - 1], after) >= CUT_DIFFERENCE for after in frames[at + 1 :])


def _difference(one: _Frame, two: _Frame) -> float:
    """Mean color difference relative to contrast, minimized over translations."""
    import numpy as np  # noqa: PLC0415 - as above

    contrast = max((one.spread + two.spread) / 2, MIN_CONTRAST)
    unshifted = float(np.abs(one.small - two.small).mean()) / contrast
    if unshifted < CUT_DIFFERENCE:
        return unshifted
    best = unshifted * contrast
    for x in range(-MAX_SHIFT_X, MAX_SHIFT_X + 1):
        for y in range(-MAX_SHIFT_Y, MAX_SHIFT_Y + 1):
            shifted = np.abs(_overlap(one.small, x, y) - _overlap(two.small, -x, -y))
            best = min(best, float(shifted.mean()))
        if best < CUT_DIFFERENCE * contrast:
            break  # camera motion; how well it matches does not matter
    return best / contrast


def _overlap(small: "Thumb", x: int, y: int) -> "Thumb":
    """The region of a frame that still overlaps after a translation."""
    across = slice(max(0, x), WIDTH + min(0, x))
    down = slice(max(0, y), HEIGHT + min(0, y))
    return small[down, across]
