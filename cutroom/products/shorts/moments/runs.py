"""Runs of sentences that could be a moment, and how good each is."""

import heapq
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cutroom.products.shorts.moments.edges import Bounds, best_pause, fit, room_around
from cutroom.products.shorts.moments.study import TalkAnalysis, sentence_at

MAX_ENDS = 8  # that are judged for one start
MAX_CUT_SENTENCES = 200  # starts for which a pause inside a sentence is looked for
LAUGHS_ENOUGH = 2
CUTS_A_SECOND_ENOUGH = 0.2
LAUGH_AFTER_SECONDS = 2.0  # people laugh when the joke is over

# Shares of the score without a wish; with one, they are what is left beside WISH_SHARE.
SHARES = {
    "content": 0.24,
    "central": 0.12,
    "opening": 0.20,
    "ending": 0.08,
    "energy": 0.08,
    "laughs": 0.08,
    "cuts": 0.03,
    "length": 0.09,
    "speech": 0.08,
}
WISH_SHARE = 0.8
BORDER_COST = 0.08  # for each change of topic inside
MAX_BORDER_COST = 0.24
CUT_COST = 0.15  # where it ends in the middle of a sentence


@dataclass(frozen=True, slots=True)
class Run:
    """Sentences from first to last, both of them in it, and the utterances at its two ends."""

    first: int
    last: int
    utterances: tuple[int, int]
    start_seconds: float
    end_seconds: float
    is_cut: bool
    score: float

    @property
    def seconds(self) -> float:
        return self.end_seconds - self.start_seconds


@dataclass(frozen=True, slots=True)
class Asked:
    """What runs are to be like; without places they may begin and end at any sentence."""

    bounds: Bounds
    ideal_seconds: float
    starts: Sequence[int] | None = None
    ends: Sequence[int] | None = None


def runs(studied: TalkAnalysis, asked: Asked) -> list[Run]:
    """For each start the best run and the shortest, so that a choice among them can leave room for others."""
    found: list[Run] = []
    starts = asked.starts if asked.starts is not None else range(studied.count)
    ends = asked.ends if asked.ends is not None else [at for at in range(studied.count) if _can_end(studied, at)]
    without: list[int] = []
    for first in starts:
        if first and studied.places.last[first - 1] >= studied.places.first[first]:
            continue
        own = [run for last in _ends(studied, first, ends, asked=asked) if (run := _run(studied, first, last, asked))]
        if own:
            best = max(own, key=lambda run: (run.score, -run.seconds))
            found += dict.fromkeys([best, min(own, key=lambda run: run.seconds)])
        else:
            without.append(first)
    without.sort(key=lambda first: (-studied.opening[first] - studied.worth[first], first))
    found += [run for first in without[:MAX_CUT_SENTENCES] if (run := _cut_run(studied, first, asked))]
    return found


def _can_end(studied: TalkAnalysis, last: int) -> bool:
    following = studied.places.first[last + 1] if last + 1 < studied.count else len(studied.spoken)
    return following > studied.places.last[last]


def _ends(studied: TalkAnalysis, first: int, ends: Sequence[int], *, asked: Asked) -> Iterator[int]:
    """The few best of the ends that keep the bounds."""
    spoken, last_of = studied.spoken, studied.places.last
    begin = spoken[studied.places.first[first]].start_seconds

    def until(last: int) -> float:
        return spoken[last_of[last]].end_seconds

    high = bisect_right(ends, begin + asked.bounds.max_seconds, key=until)
    # The one before the shortest may reach the bound with the silence after it.
    low = max(bisect_left(ends, first), bisect_left(ends, begin + asked.bounds.min_seconds, key=until) - 1)

    def promise(last: int) -> float:
        return studied.ending[last] - abs(until(last) - begin - asked.ideal_seconds) / asked.bounds.max_seconds

    inside = ends[low:high]
    yield from inside if len(inside) <= MAX_ENDS else heapq.nlargest(MAX_ENDS, inside, key=promise)


def _run(studied: TalkAnalysis, first: int, last: int, asked: Asked) -> Run | None:
    utterances = studied.places.first[first], studied.places.last[last]
    room = room_around(studied.spoken, *utterances, duration_seconds=studied.film.duration_seconds)
    times = fit(room, asked.bounds)
    if times is None:
        return None
    run = Run(first, last, utterances, *times, is_cut=False, score=0.0)
    return _scored(studied, run, asked)


def _cut_run(studied: TalkAnalysis, first: int, asked: Asked) -> Run | None:
    """From the start of a sentence to a pause in one, where none ends in time."""
    begin = studied.places.first[first]
    seconds = studied.film.duration_seconds
    if (stop := best_pause(studied.spoken, begin, bounds=asked.bounds, duration_seconds=seconds)) is None:
        return None
    utterance, times = stop
    last = max(first, sentence_at(studied, utterance))
    return _scored(studied, Run(first, last, (begin, utterance), *times, is_cut=True, score=0.0), asked)


def _scored(studied: TalkAnalysis, run: Run, asked: Asked) -> Run:
    parts = features(studied, run, asked)
    score = sum(SHARES[name] * parts[name] for name in SHARES)
    if studied.relevance is not None:
        score = WISH_SHARE * parts["wish"] + (1 - WISH_SHARE) * score
    borders = studied.topics[run.last] - studied.topics[run.first]
    score -= min(MAX_BORDER_COST, BORDER_COST * borders) + (CUT_COST if run.is_cut else 0.0)
    score = min(1.0, max(0.0, score))
    return Run(run.first, run.last, run.utterances, run.start_seconds, run.end_seconds, run.is_cut, score)


def features(studied: TalkAnalysis, run: Run, asked: Asked) -> dict[str, float]:
    """What speaks for a run, each from 0 to 1; a bad opening speaks against it."""
    first, behind = run.first, run.last + 1
    film, bounds = studied.film, asked.bounds
    span = max(bounds.max_seconds - bounds.min_seconds, 1.0)
    return {
        "content": _mean(studied.worth_sums, first, behind),
        "central": _mean(studied.central_sums, first, behind),
        "opening": studied.opening[first],
        "ending": 0.0 if run.is_cut else studied.ending[run.last],
        "energy": _mean(studied.energy_sums, int(run.start_seconds), int(run.end_seconds) + 1),
        "laughs": min(1.0, _times_in(film.laughs, run, LAUGH_AFTER_SECONDS) / LAUGHS_ENOUGH),
        "cuts": min(1.0, _times_in(film.cuts, run, 0.0) / run.seconds / CUTS_A_SECOND_ENOUGH) if run.seconds else 0.0,
        "length": max(0.0, 1.0 - abs(run.seconds - asked.ideal_seconds) / span),
        "speech": _spoken_share(studied, run),
        "wish": _wish(studied, first, behind),
    }


def _mean(sums: Sequence[float], first: int, behind: int) -> float:
    behind = min(behind, len(sums) - 1)
    return (sums[behind] - sums[first]) / (behind - first) if behind > first else 0.0


def _times_in(times: Sequence[float], run: Run, after_seconds: float) -> int:
    return bisect_right(times, run.end_seconds + after_seconds) - bisect_left(times, run.start_seconds)


def _spoken_share(studied: TalkAnalysis, run: Run) -> float:
    first, last = run.utterances
    spoken = studied.spoken_sums[last + 1] - studied.spoken_sums[first]
    return min(1.0, spoken / run.seconds) if run.seconds else 0.0


def _wish(studied: TalkAnalysis, first: int, behind: int) -> float:
    """Its best sentence, how early that comes, and how much of the rest is about the same."""
    if studied.relevance is None:
        return 0.0
    own = studied.relevance[first:behind]
    best = max(own)
    early = 1 - own.index(best) / len(own)
    return best * (0.45 + 0.15 * early) + 0.4 * _mean(studied.relevance_sums, first, behind)
