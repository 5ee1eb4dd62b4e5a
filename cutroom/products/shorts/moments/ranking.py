"""Orders and titles moments with a language model, which can neither add moments nor change their times."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cutroom.engines.errors import EngineError
from cutroom.engines.writing.extractive.writer import ExtractiveWriter
from cutroom.engines.writing.port import Candidate, Ranker, TitleStyle, Writer, WritingInput
from cutroom.products.shorts.moments.talk import Moment, Talk, TalkSentence
from cutroom.text.sentences import SpokenSegment

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


def title_moments(talk: Talk, moments: Sequence[Moment], *, writer: Writer) -> list[Moment]:
    """Moments with a title of the language model; without one, or where it fails, with the title that they have."""
    if writer.name == ExtractiveWriter.name:
        return list(moments)
    return [replace(moment, title=_model_title(talk, moment, writer) or moment.title) for moment in moments]


def _model_title(talk: Talk, moment: Moment, writer: Writer) -> str | None:
    sentences = _sentences(talk, moment)
    segments = tuple(
        SpokenSegment(each.text, each.start_seconds, each.end_seconds, each.speaker or None) for each in sentences
    )
    try:
        written = writer.title(WritingInput(talk.language, segments, moment.seconds), style=TitleStyle.INFORMATIONAL)
    except EngineError:
        return None
    return written.text if written.engine == writer.name else None


def _text(talk: Talk, moment: Moment) -> str:
    return " ".join(each.text for each in _sentences(talk, moment))


def _sentences(talk: Talk, moment: Moment) -> list[TalkSentence]:
    """The sentences of a moment, selected by time because they may be unordered."""
    sentences = [
        each
        for each in talk.sentences
        if each.start_seconds < moment.end_seconds and each.end_seconds > moment.start_seconds
    ]
    return sorted(sentences, key=lambda each: each.start_seconds)
