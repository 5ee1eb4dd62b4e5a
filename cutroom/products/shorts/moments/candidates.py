"""Generates and scores ranges of sentences that could be a moment."""

import heapq
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from cutroom.products.shorts.moments.analysis import TalkAnalysis, sentence_at
from cutroom.products.shorts.moments.boundaries import DurationBounds, best_pause, cut_window, fit_duration

MAX_ENDS_PER_START = 8
MAX_PAUSE_STARTS = 200  # starts for which a pause within a sentence is tried as the end
MAX_LAUGHS = 2
MAX_CUTS_PER_SECOND = 0.2
LAUGH_AFTER_SECONDS = 2.0  # laughter follows the joke

# Feature weights without a prompt; with one, they apply to the part that PROMPT_WEIGHT leaves.
FEATURE_WEIGHTS = {
    "content": 0.22,
    "centrality": 0.10,
    "opening": 0.22,
    "ending": 0.06,
    "turn": 0.06,
    "energy": 0.08,
    "laughs": 0.08,
    "cuts": 0.03,
    "length": 0.08,
    "speech": 0.07,
}
PROMPT_WEIGHT = 0.8
TOPIC_CHANGE_COST = 0.08  # per topic change inside
MAX_TOPIC_CHANGE_COST = 0.24
MID_SENTENCE_COST = 0.15  # for ending within a sentence


@dataclass(frozen=True, slots=True)
class MomentCandidate:
    """A range of sentences (inclusive), and its first and last utterance."""

    first: int
    last: int
    utterances: tuple[int, int]
    start_seconds: float
    end_seconds: float
    is_cut: bool  # ends within a sentence
    is_whole: bool  # starts and ends with its thought
    score: float

    @property
    def seconds(self) -> float:
        return self.end_seconds - self.start_seconds


@dataclass(frozen=True, slots=True)
class CandidateSpec:
    """Constraints on candidates; without `starts` and `ends`, any sentence qualifies."""

    bounds: DurationBounds
    ideal_seconds: float
    starts: Sequence[int] | None = None
    ends: Sequence[int] | None = None


def find_candidates(analysis: TalkAnalysis, spec: CandidateSpec) -> list[MomentCandidate]:
    """The best and the shortest candidate for each start, so that the selection can leave space for others."""
    result: list[MomentCandidate] = []
    starts = spec.starts if spec.starts is not None else range(analysis.count)
    ends = (
        spec.ends if spec.ends is not None else [index for index in range(analysis.count) if _can_end(analysis, index)]
    )
    starts_without_end: list[int] = []
    for first in starts:
        if first and analysis.sentence_spans.last[first - 1] >= analysis.sentence_spans.first[first]:
            continue
        options = [
            candidate
            for last in _ends(analysis, first, ends, spec=spec)
            if (candidate := _make_candidate(analysis, first, last, spec))
        ]
        if options:
            # Candidates of exactly the minimum are padded with silence.
            unpadded = [candidate for candidate in options if candidate.seconds > spec.bounds.min_seconds] or options
            best = max(unpadded, key=lambda candidate: (candidate.score, -candidate.seconds))
            result += dict.fromkeys([best, min(unpadded, key=lambda candidate: candidate.seconds)])
        else:
            starts_without_end.append(first)
    starts_without_end.sort(key=lambda first: (-analysis.opening[first] - analysis.content[first], first))
    result += [
        candidate
        for first in starts_without_end[:MAX_PAUSE_STARTS]
        if (candidate := _pause_candidate(analysis, first, spec))
    ]
    return result


def prefer_whole(candidates: Sequence[MomentCandidate]) -> Sequence[MomentCandidate]:
    """Only whole thoughts, if there are any with content."""
    return [candidate for candidate in candidates if candidate.is_whole and candidate.score > 0] or candidates


def _can_end(analysis: TalkAnalysis, last: int) -> bool:
    following = analysis.sentence_spans.first[last + 1] if last + 1 < analysis.count else len(analysis.utterances)
    return following > analysis.sentence_spans.last[last]


def _ends(analysis: TalkAnalysis, first: int, ends: Sequence[int], *, spec: CandidateSpec) -> Iterator[int]:
    """The best ends within the duration bounds."""
    utterances, last_of = analysis.utterances, analysis.sentence_spans.last
    start_seconds = utterances[analysis.sentence_spans.first[first]].start_seconds

    def until(last: int) -> float:
        return utterances[last_of[last]].end_seconds

    high = bisect_right(ends, start_seconds + spec.bounds.max_seconds, key=until)
    # The end before the shortest may reach the minimum with the silence after it.
    low = max(bisect_left(ends, first), bisect_left(ends, start_seconds + spec.bounds.min_seconds, key=until) - 1)

    def priority(last: int) -> float:
        return analysis.ending[last] - abs(until(last) - start_seconds - spec.ideal_seconds) / spec.bounds.max_seconds

    in_bounds = [last for last in ends[low:high] if analysis.can_end(last)] or ends[low:high]
    yield from (
        in_bounds
        if len(in_bounds) <= MAX_ENDS_PER_START
        else heapq.nlargest(MAX_ENDS_PER_START, in_bounds, key=priority)
    )


def _make_candidate(analysis: TalkAnalysis, first: int, last: int, spec: CandidateSpec) -> MomentCandidate | None:
    utterances = analysis.sentence_spans.first[first], analysis.sentence_spans.last[last]
    window = cut_window(analysis.utterances, *utterances, duration_seconds=analysis.talk.duration_seconds)
    times = fit_duration(window, spec.bounds)
    if times is None:
        return None
    is_whole = analysis.can_start(first) and analysis.can_end(last)
    candidate = MomentCandidate(first, last, utterances, *times, is_cut=False, is_whole=is_whole, score=0.0)
    return _with_score(analysis, candidate, spec)


def _pause_candidate(analysis: TalkAnalysis, first: int, spec: CandidateSpec) -> MomentCandidate | None:
    """A candidate that ends at a pause within a sentence, if no sentence ends in time."""
    start_seconds = analysis.sentence_spans.first[first]
    seconds = analysis.talk.duration_seconds
    if (pause := best_pause(analysis.utterances, start_seconds, bounds=spec.bounds, duration_seconds=seconds)) is None:
        return None
    utterance, times = pause
    last = max(first, sentence_at(analysis, utterance))
    candidate = MomentCandidate(first, last, (start_seconds, utterance), *times, is_cut=True, is_whole=False, score=0.0)
    return _with_score(analysis, candidate, spec)


def _with_score(analysis: TalkAnalysis, candidate: MomentCandidate, spec: CandidateSpec) -> MomentCandidate:
    values = features(analysis, candidate, spec)
    score = sum(FEATURE_WEIGHTS[name] * values[name] for name in FEATURE_WEIGHTS)
    if analysis.relevance is not None:
        score = PROMPT_WEIGHT * values["prompt"] + (1 - PROMPT_WEIGHT) * score
    topic_changes = analysis.topics[candidate.last] - analysis.topics[candidate.first]
    score -= min(MAX_TOPIC_CHANGE_COST, TOPIC_CHANGE_COST * topic_changes) + (
        MID_SENTENCE_COST if candidate.is_cut else 0.0
    )
    return replace(candidate, score=min(1.0, max(0.0, score)))


def features(analysis: TalkAnalysis, candidate: MomentCandidate, spec: CandidateSpec) -> dict[str, float]:
    """Features of a candidate from 0 to 1; a bad opening is negative."""
    first, stop = candidate.first, candidate.last + 1
    talk, bounds = analysis.talk, spec.bounds
    span = max(bounds.max_seconds - bounds.min_seconds, 1.0)
    return {
        "content": _mean(analysis.content_sums, first, stop),
        "centrality": _mean(analysis.centrality_sums, first, stop),
        "opening": analysis.opening[first],
        "ending": 0.0 if candidate.is_cut else analysis.ending[candidate.last],
        "turn": float(not candidate.is_cut and analysis.coherence.ends_turn[candidate.last]),
        "energy": _mean(analysis.energy_sums, int(candidate.start_seconds), int(candidate.end_seconds) + 1),
        "laughs": min(1.0, _count_in(talk.laughs, candidate, LAUGH_AFTER_SECONDS) / MAX_LAUGHS),
        "cuts": min(1.0, _count_in(talk.cuts, candidate, 0.0) / candidate.seconds / MAX_CUTS_PER_SECOND)
        if candidate.seconds
        else 0.0,
        "length": max(0.0, 1.0 - abs(candidate.seconds - spec.ideal_seconds) / span),
        "speech": _speech_share(analysis, candidate),
        "prompt": _prompt_score(analysis, first, stop),
    }


def _mean(sums: Sequence[float], first: int, stop: int) -> float:
    stop = min(stop, len(sums) - 1)
    return (sums[stop] - sums[first]) / (stop - first) if stop > first else 0.0


def _count_in(times: Sequence[float], candidate: MomentCandidate, after_seconds: float) -> int:
    return bisect_right(times, candidate.end_seconds + after_seconds) - bisect_left(times, candidate.start_seconds)


def _speech_share(analysis: TalkAnalysis, candidate: MomentCandidate) -> float:
    first, last = candidate.utterances
    utterances = analysis.speech_sums[last + 1] - analysis.speech_sums[first]
    return min(1.0, utterances / candidate.seconds) if candidate.seconds else 0.0


def _prompt_score(analysis: TalkAnalysis, first: int, stop: int) -> float:
    """Relevance to the prompt: the best sentence, how early it comes, and the mean."""
    if analysis.relevance is None:
        return 0.0
    options = analysis.relevance[first:stop]
    best = max(options)
    early = 1 - options.index(best) / len(options)
    return best * (0.45 + 0.15 * early) + 0.4 * _mean(analysis.relevance_sums, first, stop)
