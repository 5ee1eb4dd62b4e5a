"""Moments of a film in which nobody speaks: evenly spaced, and at the borders of shots where there are any near."""

from bisect import bisect_left

from cutroom.products.shorts.moments.edges import Bounds, Room, exact
from cutroom.products.shorts.moments.talk import Moment, Talk
from cutroom.products.shorts.moments.titles import clock_text

SCORE = 0.1  # nothing is known of what they are worth


def scenes(
    film: Talk, *, count: int, bounds: Bounds, ideal_seconds: float | None = None, whole_if_short: bool = False
) -> list[Moment]:
    """As many as have room, in the order of the film."""
    duration = film.duration_seconds
    if whole_if_short and duration < bounds.min_seconds:
        return [_moment(0.0, duration, "It is the whole film: nobody speaks in it.")]
    count = min(count, int(duration / bounds.min_seconds) if bounds.min_seconds > 0 else count)
    if count < 1:
        return []
    slot = duration / count
    seconds = min(max(min(ideal_seconds or slot, slot), bounds.min_seconds), bounds.max_seconds)
    found: list[Moment] = []
    for number in range(count):
        free_from = found[-1].end_seconds if found else 0.0
        latest = duration - (count - number - 1) * bounds.min_seconds - seconds
        wanted = min(max(free_from, number * slot + (slot - seconds) / 2), max(free_from, latest))
        start, is_border = _near_cut(film, wanted, low=free_from, high=min(latest, wanted + slot / 2))
        room = Room(free_from, duration, start, duration)
        if (times := exact(start, min(start + seconds, duration), room=room, bounds=bounds)) is not None:
            why = "begins with a new shot" if is_border else "is spaced evenly with the others"
            found.append(_moment(*times, f"It {why}: nobody speaks in the film."))
    return found


def _near_cut(film: Talk, wanted: float, *, low: float, high: float) -> tuple[float, bool]:
    at = bisect_left(film.cuts, wanted)
    near = [cut for cut in film.cuts[max(0, at - 1) : at + 1] if low <= cut <= high]
    return (min(near, key=lambda cut: abs(cut - wanted)), True) if near else (wanted, False)


def _moment(start: float, end: float, reason: str) -> Moment:
    return Moment(start, end, SCORE, f"Scene at {clock_text(start)}", "", reason, (0, 0))
