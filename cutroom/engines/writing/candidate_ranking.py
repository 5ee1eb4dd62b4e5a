"""Orders the texts of a language model: grounded ones of a good length first, without near-duplicates."""

from collections.abc import Sequence

from pydantic import BaseModel

from cutroom.engines.writing.extractive.analysis import TranscriptAnalysis
from cutroom.engines.writing.extractive.ranking import overlap
from cutroom.engines.writing.groundedness import traced_share
from cutroom.engines.writing.port import MAX_CANDIDATES
from cutroom.engines.writing.prompts import WritingTask, response_texts
from cutroom.text.vocabulary import stems

MAX_SHARED = 0.85  # of the content words of two candidates
GOOD_LENGTH_SHARE = 0.9  # of the limit; platforms shorten what is longer
LENGTH_WEIGHT = 0.1
VARIETY_WEIGHT = 0.3


def rank_candidates(found: Sequence[BaseModel], analysis: TranscriptAnalysis, task: WritingTask) -> list[BaseModel]:
    """Each next one is the best of the rest, less what it shares with those before it."""
    rest = [(each, _text(each)) for each in found]
    sources = [each.stems for each in analysis.sentences]
    quality = {text: _quality(text, sources, analysis.language, task) for _, text in rest}
    own = {text: stems(text, language=analysis.language) for _, text in rest}
    taken: list[tuple[BaseModel, str]] = []

    def shared(text: str) -> float:
        return max((overlap(own[text], own[other]) for _, other in taken), default=0.0)

    while rest and len(taken) < MAX_CANDIDATES:
        taken.append(max(rest, key=lambda each: quality[each[1]] - VARIETY_WEIGHT * shared(each[1])))
        rest = [each for each in rest if each not in taken and shared(each[1]) <= MAX_SHARED]
    return [each for each, _ in taken]


def _quality(text: str, sources: Sequence[Sequence[str]], language: str, task: WritingTask) -> float:
    is_short = len(text) <= GOOD_LENGTH_SHARE * task.max_characters
    return traced_share(text, sources, language=language) + LENGTH_WEIGHT * is_short


def _text(response: BaseModel) -> str:
    return "\n".join(text for text, _ in response_texts(response))
