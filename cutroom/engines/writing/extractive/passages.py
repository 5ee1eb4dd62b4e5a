"""Finds passages: consecutive sentences of one speaker that together are a whole thought."""

from collections.abc import Sequence
from dataclasses import dataclass

from cutroom.engines.writing.extractive.analysis import TranscriptAnalysis
from cutroom.engines.writing.extractive.clauses import has_pronoun
from cutroom.engines.writing.extractive.quotes import quoted, with_final_stop
from cutroom.engines.writing.extractive.ranking import MAX_OVERLAP, overlap
from cutroom.engines.writing.extractive.steps import as_step
from cutroom.text.writing_systems import primary_language

MAX_SENTENCES = 3
MAX_CHARACTERS = 320
MIN_WORDS = 8
DETAIL_WEIGHT = 0.2  # of each further sentence
NUMBER_WEIGHT = 0.1
OPENING_WEIGHT = 0.8  # what is said early often introduces the rest
OPENING_SHARE = 0.15


@dataclass(frozen=True, slots=True)
class Passage:
    """A quotable passage; `first` and `end` are sentence indices."""

    text: str
    first: int
    end: int
    score: float
    stems: tuple[str, ...]


def find_passages(analysis: TranscriptAnalysis, *, among: range | None = None) -> list[Passage]:
    """Passages that need no context and open the video or mention what it is about, best first."""
    indices = range(len(analysis.sentences)) if among is None else among
    found = [passage for at in indices if (passage := _passage(analysis, at, indices.stop)) is not None]
    keys, opening = analysis.key_stems, OPENING_SHARE * len(analysis.sentences)
    related = [passage for passage in found if not keys or keys & set(passage.stems) or passage.first < opening]
    best = related or _single_sentences(analysis, indices)
    return sorted(best, key=lambda passage: (-passage.score, passage.first))


def select_passages(passages: Sequence[Passage], *, count: int, max_characters: int | None = None) -> list[Passage]:
    """The best passages that do not repeat each other, in order of time."""
    taken: list[Passage] = []
    size = 0
    for each in passages:
        repeats = any(
            (each.first < other.end and other.first < each.end) or overlap(each.stems, other.stems) >= MAX_OVERLAP
            for other in taken
        )
        if repeats or (max_characters is not None and size + len(each.text) + 3 * len(taken) > max_characters):
            continue
        taken.append(each)
        size += len(each.text)
        if len(taken) == count:
            break
    return sorted(taken, key=lambda each: each.first)


def join_quoted(passages: Sequence[Passage], *, language: str) -> str:
    return "\n\n".join(quoted(each.text, language=language) for each in passages)


def _passage(analysis: TranscriptAnalysis, first: int, stop: int) -> Passage | None:
    """The passage that starts with this sentence and takes in the sentences that refer back to it."""
    sentences = analysis.sentences
    opening = sentences[first]
    if opening.is_housekeeping or opening.is_question or not opening.stands_alone:
        return None
    if has_pronoun(opening.text, language=analysis.language) or _belongs_to_step(analysis, first):
        return None
    end = first + 1
    while end < stop and _continues(analysis, end) and end - first < MAX_SENTENCES:
        end += 1
    if end < len(sentences) and _continues(analysis, end):
        return None  # its point comes later
    own = sentences[first:end]
    separator = "" if primary_language(analysis.language) in {"ja", "zh", "th"} else " "
    text = separator.join(with_final_stop(each.text, language=analysis.language) for each in own)
    if len(text) > MAX_CHARACTERS or sum(each.word_count for each in own) < MIN_WORDS:
        return None
    score = max(analysis.scores[first:end]) + DETAIL_WEIGHT * (len(own) - 1)
    score += NUMBER_WEIGHT * any(map(str.isdigit, text)) + OPENING_WEIGHT * (1 - first / len(sentences)) ** 2
    return Passage(text, first, end, score, tuple(stem for each in own for stem in each.stems))


def _single_sentences(analysis: TranscriptAnalysis, indices: range) -> list[Passage]:
    """For speech in which nothing stands alone: the sentences that can be quoted at all."""
    return [
        Passage(with_final_stop(each.text, language=analysis.language), at, at + 1, analysis.scores[at], each.stems)
        for at in indices
        if analysis.scores[at] > 0 and not (each := analysis.sentences[at]).is_question
    ]


def _belongs_to_step(analysis: TranscriptAnalysis, at: int) -> bool:
    """Whether a sentence is an instruction, or is said by the same person right after one."""
    near = analysis.sentences[max(0, at - 1) : at + 1]
    return any(as_step(each, language=analysis.language) and each.speaker == near[-1].speaker for each in near)


def _continues(analysis: TranscriptAnalysis, at: int) -> bool:
    """Whether the same speaker goes on and refers back."""
    before, sentence = analysis.sentences[at - 1], analysis.sentences[at]
    same = before.speaker == sentence.speaker and not sentence.is_housekeeping
    return same and not sentence.is_question and not sentence.stands_alone
