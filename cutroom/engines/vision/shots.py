"""Where shots begin, by comparing pictures; a film of any length in constant memory.

A cut is a picture that has little to do with the one before, wherever that is moved to, nor with those before that; and
so do all that follow, for as long as a shot must last. The first tells cuts from pans, the rest from flashes. In
restless films a cut must also stand out from its neighbours. Slow dissolves are no cuts here.
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

    Small = NDArray[np.float32]

MIN_SHOT_SECONDS = 0.4
WIDTH, HEIGHT = 32, 18  # pictures are compared in this size
MAX_SHIFT_X, MAX_SHIFT_Y = 13, 4  # pixels of it that a camera may turn from one picture to the next
DIFFERENT = 0.5  # how far two pictures differ, beside the contrast in them, from which they are of two shots
STANDS_OUT = 2.0  # times as different as the neighbours are among themselves
FLOOR = 8.0  # of 255: less contrast counts as this, so that noise in the dark is no cut


@dataclass(slots=True)
class _Frame:
    small: "Small"
    spread: float
    change: float = 0.0  # from the frame before


def find_cuts(frames: Iterable["Image"], *, rate: float) -> list[float]:
    """The times in seconds at which a new shot begins, of pictures that come so many a second."""
    if rate <= 0:
        raise EngineError("A film has a rate above 0.")
    shortest = max(1, ceil(MIN_SHOT_SECONDS * rate - 1e-6))
    cuts: list[int] = []
    # The frames of one shortest shot on both sides of the one that is looked at.
    window: deque[_Frame] = deque(maxlen=2 * shortest)
    for number, frame in enumerate(_reduced(frames)):
        if window:
            frame.change = _difference(window[-1], frame)
        window.append(frame)
        at = number - shortest + 1  # this one and what follows it make a shortest shot
        last = cuts[-1] if cuts else 0
        if at - last >= shortest and _is_cut(window, len(window) - shortest):
            cuts.append(at)
    return [cut / rate for cut in cuts]


def _reduced(frames: Iterable["Image"]) -> Iterator[_Frame]:
    try:
        import cv2  # noqa: PLC0415 - the API process must be able to import this room without it
        import numpy as np  # noqa: PLC0415 - as above
    except ImportError as error:
        raise EngineUnavailableError("opencv-python-headless is not installed.") from error
    for frame in frames:
        if frame.ndim != 3 or frame.shape[2] != 3 or frame.dtype != np.uint8 or not frame.size:
            raise EngineError("A picture is rows of pixels of three bytes.")
        small = cv2.resize(frame, (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA).astype(np.float32)
        yield _Frame(small, float(np.abs(small - small.mean(axis=(0, 1))).mean()))


def _is_cut(window: "deque[_Frame]", at: int) -> bool:
    frame = window[at]
    if at == 0 or frame.change < DIFFERENT:
        return False
    others = [each.change for number, each in enumerate(window) if number not in (0, at)]
    if others and frame.change < STANDS_OUT * median(others):
        return False
    frames = list(window)
    # After a flash comes what was before it, and into a flash goes what is after it.
    is_new = all(_difference(before, frame) >= DIFFERENT for before in frames[: at - 1])
    return is_new and all(_difference(frames[at - 1], after) >= DIFFERENT for after in frames[at + 1 :])


def _difference(one: _Frame, two: _Frame) -> float:
    """The mean difference of colours, beside the contrast, where the one lies best on the other."""
    import numpy as np  # noqa: PLC0415 - as above

    contrast = max((one.spread + two.spread) / 2, FLOOR)
    in_place = float(np.abs(one.small - two.small).mean()) / contrast
    if in_place < DIFFERENT:
        return in_place
    best = in_place * contrast
    for x in range(-MAX_SHIFT_X, MAX_SHIFT_X + 1):
        for y in range(-MAX_SHIFT_Y, MAX_SHIFT_Y + 1):
            moved = np.abs(_part(one.small, x, y) - _part(two.small, -x, -y))
            best = min(best, float(moved.mean()))
        if best < DIFFERENT * contrast:
            break  # it is a move, and how well it fits does not matter
    return best / contrast


def _part(small: "Small", x: int, y: int) -> "Small":
    """What is left of a picture that is moved out of itself."""
    across = slice(max(0, x), WIDTH + min(0, x))
    down = slice(max(0, y), HEIGHT + min(0, y))
    return small[down, across]
