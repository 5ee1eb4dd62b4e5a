"""Reorders moments with an LLM ranker, which can neither add nor change moments."""

from collections.abc import Mapping, Sequence

from cutroom.engines.errors import EngineError
from cutroom.engines.writing.port import Candidate, Ranker
from cutroom.products.shorts.moments.talk import Moment, Talk

SHORTLIST_FACTOR = 3  # candidates per requested output if a ranker makes the final choice


def rank_moments(talk: Talk, moments: Sequence[Moment], *, ranker: Ranker | None, prompt: str | None) -> list[Moment]:
    """Moments in the ranker's order, or unchanged without a ranker or if it fails."""
    if ranker is None or len(moments) < 2:
        return list(moments)
    by_id = {f"m{number}": moment for number, moment in enumerate(moments, start=1)}
    candidates = [Candidate(name, _text(talk, moment)) for name, moment in by_id.items()]
    try:
        ids = ranker.rank(candidates, prompt=prompt)
    except EngineError:
        return list(moments)
    return apply_ranking(by_id, ids)


def apply_ranking(by_id: Mapping[str, Moment], ids: Sequence[str]) -> list[Moment]:
    """Ignores unknown ids, and appends moments that were not ranked."""
    ranked = [each for each in dict.fromkeys(ids) if each in by_id]
    return [by_id[each] for each in [*ranked, *(each for each in by_id if each not in set(ranked))]]


def _text(talk: Talk, moment: Moment) -> str:
    """The text of a moment, selected by time because sentences may be unordered."""
    sentences = [
        each
        for each in talk.sentences
        if each.start_seconds < moment.end_seconds and each.end_seconds > moment.start_seconds
    ]
    return " ".join(each.text for each in sorted(sentences, key=lambda each: each.start_seconds))
