"""Where a moment begins and ends: between words, with room to breathe, and within the length that was asked for."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from cutroom.products.shorts.moments.talk import Utterance

BREATH_BEFORE_SECONDS = 0.25
BREATH_AFTER_SECONDS = 0.4
_GRID = 1024  # a start at a whole number of these parts of a second can be added to and taken from without error
_NUDGES = 4


@dataclass(frozen=True, slots=True)
class Bounds:
    """How long a moment may be."""

    min_seconds: float
    max_seconds: float

    def holds(self, seconds: float) -> bool:
        return self.min_seconds <= seconds <= self.max_seconds


@dataclass(frozen=True, slots=True)
class Room:
    """Between which times a moment may begin, and between which it may end."""

    before_seconds: float
    first_seconds: float
    last_seconds: float
    after_seconds: float


def room_around(spoken: Sequence[Utterance], first: int, last: int, *, duration_seconds: float) -> Room:
    """Half of the silence at either side; the other half is for a neighbour, so moments never share any."""
    start, end = spoken[first].start_seconds, spoken[last].end_seconds
    before = _middle(spoken[first - 1].end_seconds, start) if first else 0.0
    after = _middle(end, spoken[last + 1].start_seconds) if last + 1 < len(spoken) else duration_seconds
    return Room(before, start, end, after)


def _middle(left: float, right: float) -> float:
    return min(max(left, left + (right - left) / 2), right)


def fit(room: Room, bounds: Bounds) -> tuple[float, float] | None:
    """Start and end with a breath at either side: less of it where the moment would be too long, more if too short."""
    start = max(room.before_seconds, room.first_seconds - BREATH_BEFORE_SECONDS)
    end = min(room.after_seconds, room.last_seconds + BREATH_AFTER_SECONDS)
    if end - start > bounds.max_seconds:
        end = max(room.last_seconds, start + bounds.max_seconds)
        start = min(room.first_seconds, max(start, end - bounds.max_seconds))
    elif end - start < bounds.min_seconds:
        end = min(room.after_seconds, start + bounds.min_seconds)
        start = max(room.before_seconds, min(start, end - bounds.min_seconds))
    return exact(start, end, room=room, bounds=bounds)


def exact(start: float, end: float, *, room: Room, bounds: Bounds) -> tuple[float, float] | None:
    """The same times, or those next to them whose difference is within the bounds to the last bit."""
    for _ in range(_NUDGES):
        if bounds.holds(end - start):
            return (start, end) if room.last_seconds <= end <= room.after_seconds else None
        end = math.nextafter(end, -math.inf if end - start > bounds.max_seconds else math.inf)
    for near in (math.ceil(start * _GRID) / _GRID, math.floor(start * _GRID) / _GRID):
        seconds = min(max(end - near, bounds.min_seconds), bounds.max_seconds)
        fits = room.before_seconds <= near <= room.first_seconds
        if fits and room.last_seconds <= near + seconds <= room.after_seconds and bounds.holds(near + seconds - near):
            return near, near + seconds
    return None


def best_pause(
    spoken: Sequence[Utterance], first: int, *, bounds: Bounds, duration_seconds: float
) -> tuple[int, tuple[float, float]] | None:
    """Where to stop when no sentence ends in time: after a mark or a long pause, and rather late than early."""
    best: tuple[float, int, tuple[float, float]] | None = None
    early = room_around(spoken, first, first, duration_seconds=duration_seconds).before_seconds + bounds.min_seconds
    for last in range(max(first, bisect_left(spoken, early, key=lambda each: each.end_seconds) - 1), len(spoken)):
        room = room_around(spoken, first, last, duration_seconds=duration_seconds)
        if room.last_seconds - room.first_seconds > bounds.max_seconds:
            break
        if (times := fit(room, bounds)) is not None:
            mark = 0.5 if spoken[last].text[-1:] in ",;:.!?…" else 0.0
            late = 0.3 * (times[1] - times[0]) / bounds.max_seconds
            worth = mark + late + min(1.0, room.after_seconds - room.last_seconds)
            if best is None or worth > best[0]:
                best = (worth, last, times)
    return None if best is None else best[1:]
