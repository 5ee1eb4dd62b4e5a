"""A promo is one short edit of several pieces: which of them, and in which order."""

import math
from collections.abc import Sequence

from cutroom.products.shorts.moments.edges import Bounds
from cutroom.products.shorts.moments.runs import Asked, Run
from cutroom.products.shorts.moments.scenes import scenes
from cutroom.products.shorts.moments.study import TalkAnalysis
from cutroom.products.shorts.moments.talk import Moment, Talk

WHOLE = Bounds(45.0, 60.0)
PIECES = Asked(Bounds(4.0, 18.0), 9.0)
MIN_PIECES, MAX_PIECES = 3, 8
POOL = 20  # pieces among which it is chosen
SCENES = 5
TICKS_A_SECOND = 4


def select(pool: Sequence[Run]) -> list[Run]:
    """The pieces that are worth most for their time and together last as long as a promo does."""
    # Each length is rounded up, so the sum is never too long; the least is higher by what rounding may have added.
    lengths = [math.ceil(run.seconds * TICKS_A_SECOND) for run in pool]
    most = int(WHOLE.max_seconds * TICKS_A_SECOND)
    least = int(WHOLE.min_seconds * TICKS_A_SECOND) + MAX_PIECES
    # The best value for each number of pieces and ticks, with the pieces that have it.
    best: dict[tuple[int, int], tuple[float, tuple[int, ...]]] = {(0, 0): (0.0, ())}
    for at, run in enumerate(pool):
        for (pieces, ticks), (value, taken) in list(best.items()):
            state = pieces + 1, ticks + lengths[at]
            worth = value + (run.score + 0.01) * lengths[at]
            if state[0] <= MAX_PIECES and state[1] <= most and worth > best.get(state, (-1.0, ()))[0]:
                best[state] = worth, (*taken, at)
    full = {state: found for state, found in best.items() if state[0] >= MIN_PIECES and state[1] >= least}
    if full:
        chosen = max(full.values(), key=lambda found: (found[0], found[1]))[1]
    else:
        chosen = max(best.items(), key=lambda item: (item[0][1], item[1][0], item[1][1]))[1][1]
    return [pool[at] for at in chosen]


def in_playing_order(studied: TalkAnalysis, chosen: Sequence[Run]) -> list[Run]:
    """What catches the ear first, then the rest as the film has it."""
    if not chosen:
        return []
    hook = max(chosen, key=lambda run: (0.3 * studied.opening[run.first] + run.score, -run.start_seconds))
    return [hook, *sorted((run for run in chosen if run is not hook), key=lambda run: run.start_seconds)]


def from_scenes(film: Talk) -> list[Moment]:
    """Of a film in which nobody speaks: pieces of it in their order, or all of it where it is short."""
    if film.duration_seconds <= WHOLE.max_seconds:
        return scenes(film, count=1, bounds=Bounds(WHOLE.max_seconds, WHOLE.max_seconds), whole_if_short=True)
    seconds = (WHOLE.min_seconds + WHOLE.max_seconds) / 2 / SCENES
    found = scenes(film, count=SCENES, bounds=Bounds(seconds, seconds), ideal_seconds=seconds)
    return sorted(found, key=lambda moment: moment.start_seconds)
