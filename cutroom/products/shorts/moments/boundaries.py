"""Finds the start and end of a moment: between words, with a lead-in and lead-out, within the duration bounds."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from cutroom.products.shorts.moments.talk import Utterance

LEAD_IN_SECONDS = 0.25
LEAD_OUT_SECONDS = 0.4
_GRID = 1024  # multiples of 1/1024 s add and subtract exactly in floating point
_MAX_NUDGES = 4


@dataclass(frozen=True, slots=True)
class DurationBounds:
    """Allowed duration of a moment."""

    min_seconds: float
    max_seconds: float

    def holds(self, seconds: float) -> bool:
        return self.min_seconds <= seconds <= self.max_seconds


@dataclass(frozen=True, slots=True)
class CutWindow:
    """The ranges in which a moment may start and end."""

    earliest_start_seconds: float
    latest_start_seconds: float
    earliest_end_seconds: float
    latest_end_seconds: float


def cut_window(utterances: Sequence[Utterance], first: int, last: int, *, duration_seconds: float) -> CutWindow:
    """Half of the silence on either side; the other half belongs to the neighbor, so moments never overlap."""
    start, end = utterances[first].start_seconds, utterances[last].end_seconds
    before = _middle(utterances[first - 1].end_seconds, start) if first else 0.0
    after = _middle(end, utterances[last + 1].start_seconds) if last + 1 < len(utterances) else duration_seconds
    return CutWindow(before, start, end, after)


def _middle(left: float, right: float) -> float:
    return min(max(left, left + (right - left) / 2), right)


def fit_duration(window: CutWindow, bounds: DurationBounds) -> tuple[float, float] | None:
    """Start and end with lead-in and lead-out, shortened or extended to fit the bounds."""
    start = max(window.earliest_start_seconds, window.latest_start_seconds - LEAD_IN_SECONDS)
    end = min(window.latest_end_seconds, window.earliest_end_seconds + LEAD_OUT_SECONDS)
    if end - start > bounds.max_seconds:
        end = max(window.earliest_end_seconds, start + bounds.max_seconds)
        start = min(window.latest_start_seconds, max(start, end - bounds.max_seconds))
    elif end - start < bounds.min_seconds:
        end = min(window.latest_end_seconds, start + bounds.min_seconds)
        start = max(window.earliest_start_seconds, min(start, end - bounds.min_seconds))
    return snap_to_bounds(start, end, window=window, bounds=bounds)


def snap_to_bounds(
    start: float, end: float, *, window: CutWindow, bounds: DurationBounds
) -> tuple[float, float] | None:
    """The same times, nudged so that their difference is exactly within the bounds; None if impossible."""
    for _ in range(_MAX_NUDGES):
        if bounds.holds(end - start):
            return (start, end) if window.earliest_end_seconds <= end <= window.latest_end_seconds else None
        end = math.nextafter(end, -math.inf if end - start > bounds.max_seconds else math.inf)
    for candidate in (math.ceil(start * _GRID) / _GRID, math.floor(start * _GRID) / _GRID):
        seconds = min(max(end - candidate, bounds.min_seconds), bounds.max_seconds)
        fits = window.earliest_start_seconds <= candidate <= window.latest_start_seconds
        if (
            fits
            and window.earliest_end_seconds <= candidate + seconds <= window.latest_end_seconds
            and bounds.holds(candidate + seconds - candidate)
        ):
            return candidate, candidate + seconds
    return None


def best_pause(
    utterances: Sequence[Utterance], first: int, *, bounds: DurationBounds, duration_seconds: float
) -> tuple[int, tuple[float, float]] | None:
    """Where to stop if no sentence ends in time: after punctuation or a long pause, preferably late."""
    best: tuple[float, int, tuple[float, float]] | None = None
    min_end = (
        cut_window(utterances, first, first, duration_seconds=duration_seconds).earliest_start_seconds
        + bounds.min_seconds
    )
    for last in range(
        max(first, bisect_left(utterances, min_end, key=lambda each: each.end_seconds) - 1), len(utterances)
    ):
        window = cut_window(utterances, first, last, duration_seconds=duration_seconds)
        if window.earliest_end_seconds - window.latest_start_seconds > bounds.max_seconds:
            break
        if (times := fit_duration(window, bounds)) is not None:
            mark_score = 0.5 if utterances[last].text[-1:] in ",;:.!?…" else 0.0
            length_score = 0.3 * (times[1] - times[0]) / bounds.max_seconds
            score = mark_score + length_score + min(1.0, window.latest_end_seconds - window.earliest_end_seconds)
            if best is None or score > best[0]:
                best = (score, last, times)
    return None if best is None else best[1:]
