"""Moments of a video without speech: evenly spaced, and aligned to nearby cuts."""

from bisect import bisect_left

from cutroom.products.shorts.moments.boundaries import CutWindow, DurationBounds, snap_to_bounds
from cutroom.products.shorts.moments.talk import Moment, Talk
from cutroom.products.shorts.moments.titles import format_clock

SCORE = 0.1  # nothing is known about their quality


def scene_moments(
    talk: Talk, *, count: int, bounds: DurationBounds, ideal_seconds: float | None = None, whole_if_short: bool = False
) -> list[Moment]:
    """As many moments as fit, in chronological order."""
    duration = talk.duration_seconds
    if whole_if_short and duration < bounds.min_seconds:
        return [_moment(0.0, duration, "It is the whole video, which has no speech.")]
    count = min(count, int(duration / bounds.min_seconds) if bounds.min_seconds > 0 else count)
    if count < 1:
        return []
    slot = duration / count
    seconds = min(max(min(ideal_seconds or slot, slot), bounds.min_seconds), bounds.max_seconds)
    result: list[Moment] = []
    for number in range(count):
        free_from = result[-1].end_seconds if result else 0.0
        latest = duration - (count - number - 1) * bounds.min_seconds - seconds
        preferred = min(max(free_from, number * slot + (slot - seconds) / 2), max(free_from, latest))
        start, at_cut = _near_cut(talk, preferred, low=free_from, high=min(latest, preferred + slot / 2))
        window = CutWindow(free_from, duration, start, duration)
        if (times := snap_to_bounds(start, min(start + seconds, duration), window=window, bounds=bounds)) is not None:
            reason = "starts with a new shot" if at_cut else "is spaced evenly with the others"
            result.append(_moment(*times, f"It {reason}; the video has no speech."))
    return result


def _near_cut(talk: Talk, preferred: float, *, low: float, high: float) -> tuple[float, bool]:
    index = bisect_left(talk.cuts, preferred)
    nearby = [cut for cut in talk.cuts[max(0, index - 1) : index + 1] if low <= cut <= high]
    return (min(nearby, key=lambda cut: abs(cut - preferred)), True) if nearby else (preferred, False)


def _moment(start: float, end: float, reason: str) -> Moment:
    return Moment(start, end, SCORE, f"Scene at {format_clock(start)}", "", reason, (0, 0))
