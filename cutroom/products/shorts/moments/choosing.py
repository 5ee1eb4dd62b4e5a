"""Chooses the moments of a film: shorts, the pieces of a promo, and long clips."""

import math
from collections.abc import Sequence
from dataclasses import replace

from cutroom.products.shorts.moments import promo
from cutroom.products.shorts.moments.edges import Bounds, fit, room_around
from cutroom.products.shorts.moments.moment_builder import build_moment
from cutroom.products.shorts.moments.picking import pick
from cutroom.products.shorts.moments.runs import Asked, Run, runs
from cutroom.products.shorts.moments.scenes import scenes
from cutroom.products.shorts.moments.study import TalkAnalysis, study
from cutroom.products.shorts.moments.talk import Moment, Talk, Wish

MAX_COUNT = 50
SHORT_SECONDS = 45.0  # what a short is like if the bounds leave the choice
CLIP_BOUNDS = Bounds(300.0, 1500.0)
CLIP_SECONDS = 600.0
MAX_CLIPS = 4
SHARE_OF_FILM = 0.8  # that moments fill at most, if they can be shorter, so that as many as asked for find room


def choose_shorts(
    film: Talk, *, count: int, min_seconds: float, max_seconds: float, wish: Wish | None = None
) -> list[Moment]:
    """At most `count` moments within the bounds, none sharing anything with another, the best first."""
    bounds = Bounds(min_seconds, max_seconds)
    count = min(count, MAX_COUNT)
    if count < 1 or not _is_sane(film, bounds):
        return []
    studied = study(sane(film), wish=wish)
    ideal = _ideal(bounds, film, count=count, wanted_seconds=SHORT_SECONDS)
    if not studied.spoken:
        return scenes(film, count=count, bounds=bounds, ideal_seconds=ideal)
    asked = Asked(bounds, ideal)
    return [build_moment(studied, run, asked) for run in pick(studied, runs(studied, asked), count=count)]


def choose_promo(film: Talk, *, wish: Wish | None = None) -> list[Moment]:
    """In playing order: the hook, then the rest as the film has them; 45 to 60 seconds, or all that there is."""
    if not _is_sane(film, promo.WHOLE):
        return []
    studied = study(sane(film), wish=wish)
    if not studied.spoken:
        return promo.from_scenes(film)
    found = pick(studied, runs(studied, promo.PIECES), count=promo.POOL)
    chosen = promo.select(found)
    if sum(run.seconds for run in chosen) < promo.WHOLE.min_seconds and (whole := _all_speech(studied, promo.WHOLE)):
        return [build_moment(studied, whole, promo.PIECES)]
    return [build_moment(studied, run, promo.PIECES) for run in promo.in_playing_order(studied, chosen)]


def choose_clips(film: Talk, *, count: int, wish: Wish | None = None) -> list[Moment]:
    """One to four long excerpts that begin and end where topics do; a film shorter than one gives all its speech."""
    count = min(count, MAX_CLIPS)
    if count < 1 or not _is_sane(film, CLIP_BOUNDS):
        return []
    studied = study(sane(film), wish=wish)
    ideal = _ideal(CLIP_BOUNDS, film, count=count, wanted_seconds=CLIP_SECONDS)
    if not studied.spoken:
        return scenes(film, count=count, bounds=CLIP_BOUNDS, ideal_seconds=ideal, whole_if_short=True)
    ends = [start - 1 for start in studied.topic_starts[1:]] + [studied.count - 1]
    at_borders = Asked(CLIP_BOUNDS, ideal, starts=studied.topic_starts, ends=ends)
    for asked in (at_borders, Asked(CLIP_BOUNDS, ideal)):
        if chosen := pick(studied, runs(studied, asked), count=count):
            return [build_moment(studied, run, asked) for run in chosen]
    whole = _all_speech(studied, replace(CLIP_BOUNDS, min_seconds=0.0))
    return [build_moment(studied, whole, at_borders)] if whole else []


def sane(film: Talk) -> Talk:
    """Times in order, as everything else relies upon."""

    def timed(times: Sequence[float]) -> list[float]:
        return sorted(each for each in times if math.isfinite(each))

    return replace(film, cuts=timed(film.cuts), laughs=timed(film.laughs))


def _is_sane(film: Talk, bounds: Bounds) -> bool:
    numbers = (film.duration_seconds, bounds.min_seconds, bounds.max_seconds)
    return (
        all(map(math.isfinite, numbers)) and film.duration_seconds > 0 and 0 < bounds.max_seconds >= bounds.min_seconds
    )


def _ideal(bounds: Bounds, film: Talk, *, count: int, wanted_seconds: float) -> float:
    """Near what is usual, but so that as many as asked for have room in the film."""
    room = film.duration_seconds * SHARE_OF_FILM / count
    return min(max(min(wanted_seconds, room), bounds.min_seconds), bounds.max_seconds)


def _all_speech(studied: TalkAnalysis, bounds: Bounds) -> Run | None:
    """From the first word to the last, where that is not too long."""
    utterances = 0, len(studied.spoken) - 1
    room = room_around(studied.spoken, *utterances, duration_seconds=studied.film.duration_seconds)
    times = fit(room, Bounds(0.0, bounds.max_seconds))
    if times is None or times[1] <= times[0]:
        return None
    return Run(0, studied.count - 1, utterances, *times, is_cut=False, score=0.5)
