"""Picks runs that share nothing, the best first, and rather of several topics than of one."""

from collections.abc import Sequence

from cutroom.products.shorts.moments.runs import Run
from cutroom.products.shorts.moments.study import TalkAnalysis

SAME_TOPIC_COST = 0.08
SAME_WORDS_COST = 0.25  # for what has been said before, almost word for word
SAME_WORDS = 0.6  # of the words of the smaller
WISH_COSTS = 0.25  # of these costs, where a wish says what moments should be about


def pick(studied: TalkAnalysis, candidates: Sequence[Run], *, count: int) -> list[Run]:
    """Greedy; the same candidates give the same choice whatever their order."""
    waiting = sorted(candidates, key=lambda run: (-run.score, run.start_seconds, run.end_seconds))
    costs = 1.0 if studied.relevance is None else WISH_COSTS
    chosen: list[Run] = []
    while waiting and len(chosen) < count:
        best, best_worth = None, -1.0
        for run in waiting:
            if run.score <= best_worth:
                break
            worth = run.score - costs * _cost(studied, run, chosen)
            if worth > best_worth:
                best, best_worth = run, worth
        if best is None:
            break
        chosen.append(best)
        waiting = [run for run in waiting if not _share(run, best)]
    return sorted(chosen, key=lambda run: (-run.score, run.start_seconds))


def _share(left: Run, right: Run) -> bool:
    return left.utterances[0] <= right.utterances[1] and right.utterances[0] <= left.utterances[1]


def _cost(studied: TalkAnalysis, run: Run, chosen: Sequence[Run]) -> float:
    cost = 0.0
    for other in chosen:
        if _topics(studied, run) & _topics(studied, other):
            cost += SAME_TOPIC_COST
        words, others = _words(studied, run), _words(studied, other)
        if words and others and len(words & others) >= SAME_WORDS * min(len(words), len(others)):
            cost += SAME_WORDS_COST
    return min(cost, 0.5)


def _topics(studied: TalkAnalysis, run: Run) -> set[int]:
    return set(range(studied.topics[run.first], studied.topics[run.last] + 1))


def _words(studied: TalkAnalysis, run: Run) -> set[str]:
    return {stem for own in studied.stems[run.first : run.last + 1] for stem in own}
