"""Greedily picks the best candidates without overlaps, preferring different topics."""

from collections.abc import Sequence

from cutroom.products.shorts.moments.analysis import TalkAnalysis
from cutroom.products.shorts.moments.candidates import MomentCandidate

SAME_TOPIC_COST = 0.08
SAME_WORDS_COST = 0.25  # for near repetitions
SAME_WORDS_SHARE = 0.6  # of the smaller candidate's stems
PROMPT_COST_FACTOR = 0.25  # diversity matters less if a prompt sets the topic


def pick_diverse(analysis: TalkAnalysis, candidates: Sequence[MomentCandidate], *, count: int) -> list[MomentCandidate]:
    """Picks greedily; the result does not depend on the order of the candidates."""
    remaining = sorted(
        candidates, key=lambda candidate: (-candidate.score, candidate.start_seconds, candidate.end_seconds)
    )
    cost_factor = 1.0 if analysis.relevance is None else PROMPT_COST_FACTOR
    chosen: list[MomentCandidate] = []
    while remaining and len(chosen) < count:
        best, best_score = None, -1.0
        for candidate in remaining:
            if candidate.score <= best_score:
                break
            score = candidate.score - cost_factor * _similarity_cost(analysis, candidate, chosen)
            if score > best_score:
                best, best_score = candidate, score
        if best is None:
            break
        chosen.append(best)
        remaining = [candidate for candidate in remaining if not _overlap(candidate, best)]
    return sorted(chosen, key=lambda candidate: (-candidate.score, candidate.start_seconds))


def _overlap(left: MomentCandidate, right: MomentCandidate) -> bool:
    return left.utterances[0] <= right.utterances[1] and right.utterances[0] <= left.utterances[1]


def _similarity_cost(analysis: TalkAnalysis, candidate: MomentCandidate, chosen: Sequence[MomentCandidate]) -> float:
    cost = 0.0
    for other in chosen:
        if _topics(analysis, candidate) & _topics(analysis, other):
            cost += SAME_TOPIC_COST
        words, others = _words(analysis, candidate), _words(analysis, other)
        if words and others and len(words & others) >= SAME_WORDS_SHARE * min(len(words), len(others)):
            cost += SAME_WORDS_COST
    return min(cost, 0.5)


def _topics(analysis: TalkAnalysis, candidate: MomentCandidate) -> set[int]:
    return set(range(analysis.topics[candidate.first], analysis.topics[candidate.last] + 1))


def _words(analysis: TalkAnalysis, candidate: MomentCandidate) -> set[str]:
    return {stem for own in analysis.stems[candidate.first : candidate.last + 1] for stem in own}
