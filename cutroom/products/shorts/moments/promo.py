"""Selects and orders the clips of a promo."""

import math
from collections.abc import Sequence

from cutroom.products.shorts.moments.analysis import TalkAnalysis
from cutroom.products.shorts.moments.boundaries import DurationBounds
from cutroom.products.shorts.moments.candidates import CandidateSpec, MomentCandidate
from cutroom.products.shorts.moments.scenes import scene_moments
from cutroom.products.shorts.moments.talk import Moment, Talk

BOUNDS = DurationBounds(45.0, 60.0)
CLIP_SPEC = CandidateSpec(DurationBounds(4.0, 18.0), 9.0)
MIN_CLIPS, MAX_CLIPS = 3, 8
POOL_SIZE = 20  # candidates considered
SCENE_COUNT = 5
TICKS_PER_SECOND = 4


def select(pool: Sequence[MomentCandidate]) -> list[MomentCandidate]:
    """The clips with the highest total score that together have the length of a promo (knapsack)."""
    # Lengths are rounded up, so the sum is never too long; the minimum is raised by the largest rounding error.
    lengths = [math.ceil(candidate.seconds * TICKS_PER_SECOND) for candidate in pool]
    max_ticks = int(BOUNDS.max_seconds * TICKS_PER_SECOND)
    min_ticks = int(BOUNDS.min_seconds * TICKS_PER_SECOND) + MAX_CLIPS
    # Best value and its clips for each number of clips and ticks.
    best: dict[tuple[int, int], tuple[float, tuple[int, ...]]] = {(0, 0): (0.0, ())}
    for index, candidate in enumerate(pool):
        for (clip_count, ticks), (value, indexes) in list(best.items()):
            state = clip_count + 1, ticks + lengths[index]
            total = value + (candidate.score + 0.01) * lengths[index]
            if state[0] <= MAX_CLIPS and state[1] <= max_ticks and total > best.get(state, (-1.0, ()))[0]:
                best[state] = total, (*indexes, index)
    long_enough = {state: result for state, result in best.items() if state[0] >= MIN_CLIPS and state[1] >= min_ticks}
    if long_enough:
        chosen = max(long_enough.values(), key=lambda result: (result[0], result[1]))[1]
    else:
        chosen = max(best.items(), key=lambda item: (item[0][1], item[1][0], item[1][1]))[1][1]
    return [pool[index] for index in chosen]


def in_playing_order(analysis: TalkAnalysis, chosen: Sequence[MomentCandidate]) -> list[MomentCandidate]:
    """The strongest hook first, the rest in chronological order."""
    if not chosen:
        return []
    hook = max(
        chosen,
        key=lambda candidate: (0.3 * analysis.opening[candidate.first] + candidate.score, -candidate.start_seconds),
    )
    return [
        hook,
        *sorted(
            (candidate for candidate in chosen if candidate is not hook), key=lambda candidate: candidate.start_seconds
        ),
    ]


def from_scenes(talk: Talk) -> list[Moment]:
    """Promo clips of a video without speech, in order; all of it if it is short."""
    if talk.duration_seconds <= BOUNDS.max_seconds:
        return scene_moments(
            talk, count=1, bounds=DurationBounds(BOUNDS.max_seconds, BOUNDS.max_seconds), whole_if_short=True
        )
    seconds = (BOUNDS.min_seconds + BOUNDS.max_seconds) / 2 / SCENE_COUNT
    result = scene_moments(talk, count=SCENE_COUNT, bounds=DurationBounds(seconds, seconds), ideal_seconds=seconds)
    return sorted(result, key=lambda moment: moment.start_seconds)
