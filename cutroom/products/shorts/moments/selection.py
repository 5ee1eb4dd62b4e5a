"""Selects the moments of a video for shorts, promos and clips."""

import math
from collections.abc import Sequence
from dataclasses import replace

from cutroom.products.shorts.moments import promo
from cutroom.products.shorts.moments.analysis import TalkAnalysis, analyze_talk
from cutroom.products.shorts.moments.boundaries import DurationBounds, cut_window, fit_duration
from cutroom.products.shorts.moments.candidates import CandidateSpec, MomentCandidate, find_candidates, prefer_whole
from cutroom.products.shorts.moments.diversity import pick_diverse
from cutroom.products.shorts.moments.moment_builder import build_moment
from cutroom.products.shorts.moments.scenes import scene_moments
from cutroom.products.shorts.moments.talk import Moment, SelectionPrompt, Talk

MAX_COUNT = 50
SHORT_SECONDS = 30.0  # preferred duration of a short within the bounds
CLIP_BOUNDS = DurationBounds(300.0, 1500.0)
CLIP_SECONDS = 600.0
MAX_CLIPS = 4
MAX_COVERAGE = 0.8  # of the video, so that the requested number of moments fits


def choose_shorts(
    talk: Talk, *, count: int, min_seconds: float, max_seconds: float, prompt: SelectionPrompt | None = None
) -> list[Moment]:
    """At most `count` non-overlapping moments within the bounds, the best first; fewer if there are fewer thoughts."""
    bounds = DurationBounds(min_seconds, max_seconds)
    count = min(count, MAX_COUNT)
    if count < 1 or not _is_valid(talk, bounds):
        return []
    analysis = analyze_talk(with_sorted_times(talk), prompt=prompt)
    ideal = _ideal(bounds, talk, count=count, preferred_seconds=SHORT_SECONDS)
    if not analysis.utterances:
        return scene_moments(talk, count=count, bounds=bounds, ideal_seconds=ideal)
    spec = CandidateSpec(bounds, ideal)
    return [
        build_moment(analysis, candidate, spec)
        for candidate in pick_diverse(analysis, prefer_whole(find_candidates(analysis, spec)), count=count)
    ]


def choose_promo(talk: Talk, *, prompt: SelectionPrompt | None = None) -> list[Moment]:
    """The clips of a promo in playing order, hook first; 45 to 60 seconds, or all speech if there is less."""
    if not _is_valid(talk, promo.BOUNDS):
        return []
    analysis = analyze_talk(with_sorted_times(talk), prompt=prompt)
    if not analysis.utterances:
        return promo.from_scenes(talk)
    candidates = find_candidates(analysis, promo.CLIP_SPEC)
    chosen: list[MomentCandidate] = []
    for pool in (prefer_whole(candidates), candidates):
        chosen = promo.select(pick_diverse(analysis, pool, count=promo.POOL_SIZE))
        if sum(candidate.seconds for candidate in chosen) >= promo.BOUNDS.min_seconds:
            break
    else:
        if all_speech := _all_speech(analysis, promo.BOUNDS):
            return [build_moment(analysis, all_speech, promo.CLIP_SPEC)]
    return [
        build_moment(analysis, candidate, promo.CLIP_SPEC) for candidate in promo.in_playing_order(analysis, chosen)
    ]


def choose_clips(talk: Talk, *, count: int, prompt: SelectionPrompt | None = None) -> list[Moment]:
    """One to four long excerpts bounded by topics; a video shorter than one gives all of its speech."""
    count = min(count, MAX_CLIPS)
    if count < 1 or not _is_valid(talk, CLIP_BOUNDS):
        return []
    analysis = analyze_talk(with_sorted_times(talk), prompt=prompt)
    ideal = _ideal(CLIP_BOUNDS, talk, count=count, preferred_seconds=CLIP_SECONDS)
    if not analysis.utterances:
        return scene_moments(talk, count=count, bounds=CLIP_BOUNDS, ideal_seconds=ideal, whole_if_short=True)
    ends = [start - 1 for start in analysis.topic_starts[1:]] + [analysis.count - 1]
    at_topics = CandidateSpec(CLIP_BOUNDS, ideal, starts=analysis.topic_starts, ends=ends)
    for spec in (at_topics, CandidateSpec(CLIP_BOUNDS, ideal)):
        if chosen := pick_diverse(analysis, prefer_whole(find_candidates(analysis, spec)), count=count):
            return [build_moment(analysis, candidate, spec) for candidate in chosen]
    all_speech = _all_speech(analysis, replace(CLIP_BOUNDS, min_seconds=0.0))
    return [build_moment(analysis, all_speech, at_topics)] if all_speech else []


def with_sorted_times(talk: Talk) -> Talk:
    """Sorts cuts and laughs, and drops non-finite times."""

    def finite_sorted(times: Sequence[float]) -> list[float]:
        return sorted(each for each in times if math.isfinite(each))

    return replace(talk, cuts=finite_sorted(talk.cuts), laughs=finite_sorted(talk.laughs))


def _is_valid(talk: Talk, bounds: DurationBounds) -> bool:
    values = (talk.duration_seconds, bounds.min_seconds, bounds.max_seconds)
    return (
        all(map(math.isfinite, values)) and talk.duration_seconds > 0 and 0 < bounds.max_seconds >= bounds.min_seconds
    )


def _ideal(bounds: DurationBounds, talk: Talk, *, count: int, preferred_seconds: float) -> float:
    """The preferred duration, reduced so that the requested number fits into the video."""
    window = talk.duration_seconds * MAX_COVERAGE / count
    return min(max(min(preferred_seconds, window), bounds.min_seconds), bounds.max_seconds)


def _all_speech(analysis: TalkAnalysis, bounds: DurationBounds) -> MomentCandidate | None:
    """All speech from the first word to the last, unless too long."""
    utterances = 0, len(analysis.utterances) - 1
    window = cut_window(analysis.utterances, *utterances, duration_seconds=analysis.talk.duration_seconds)
    times = fit_duration(window, DurationBounds(0.0, bounds.max_seconds))
    if times is None or times[1] <= times[0]:
        return None
    return MomentCandidate(0, analysis.count - 1, utterances, *times, is_cut=False, is_whole=True, score=0.5)
