"""Lets a ranker put moments in order; whatever it answers, the moments are ours and so are their times."""

from collections.abc import Mapping, Sequence

from cutroom.engines.errors import EngineError
from cutroom.engines.writing.text_ports import Candidate, Ranker
from cutroom.products.shorts.moments.talk import Moment, Talk

SHORTLIST = 3  # times as many moments are worth choosing as are wanted, where a ranker has the last word


def rank_moments(film: Talk, moments: Sequence[Moment], *, ranker: Ranker | None, prompt: str | None) -> list[Moment]:
    """The moments in the ranker's order, or in ours where there is none or it fails."""
    if ranker is None or len(moments) < 2:
        return list(moments)
    by_id = {f"m{number}": moment for number, moment in enumerate(moments, start=1)}
    candidates = [Candidate(name, _text(film, moment)) for name, moment in by_id.items()]
    try:
        ids = ranker.rank(candidates, prompt=prompt)
    except EngineError:
        return list(moments)
    return in_order(by_id, ids)


def in_order(by_id: Mapping[str, Moment], ids: Sequence[str]) -> list[Moment]:
    """Unknown ids are dropped, and what was left out follows as it came."""
    named = [each for each in dict.fromkeys(ids) if each in by_id]
    return [by_id[each] for each in [*named, *(each for each in by_id if each not in set(named))]]


def _text(film: Talk, moment: Moment) -> str:
    """What is said in a moment, by the times: sentences may have come in any order."""
    spoken = [
        each
        for each in film.sentences
        if each.start_seconds < moment.end_seconds and each.end_seconds > moment.start_seconds
    ]
    return " ".join(each.text for each in sorted(spoken, key=lambda each: each.start_seconds))
