"""Scores sentences by how central they are to the video and how well they can be quoted."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cutroom.engines.writing.extractive.sentences import TranscriptSentence
from cutroom.text.topics import centralities

if TYPE_CHECKING:
    from cutroom.engines.types import Vector

BEST_WORDS = range(7, 27)
FRAGMENT_WORDS = 4
MAX_OVERLAP = 0.6
TERM_WEIGHT = 0.3  # of each recurring term in a sentence
MAX_TERM_WEIGHT = 0.9


def score_sentences(
    sentences: Sequence[TranscriptSentence], *, vectors: "Vector | None", terms: frozenset[str]
) -> list[float]:
    """Centrality times suitability as a quote and the recurring terms it has, normalized to a maximum of 1."""
    if not sentences:
        return []
    central = centralities([each.stems for each in sentences], [0] * len(sentences), vectors=vectors)
    found = [
        (0.1 + central[at])
        * _suitability(each)
        * (1.0 + min(MAX_TERM_WEIGHT, TERM_WEIGHT * len(terms & set(each.stems))))
        for at, each in enumerate(sentences)
    ]
    most = max(found)
    return [each / most for each in found] if most > 0 else [1.0] * len(found)


def select_sentences(sentences: Sequence[TranscriptSentence], scores: Sequence[float], *, count: int) -> list[int]:
    """Indices of the best distinct sentences, in order of time."""
    taken: list[int] = []
    for at in sorted(range(len(sentences)), key=lambda at: (-scores[at], at)):
        if len(taken) == count:
            break
        if scores[at] > 0 and all(
            overlap(sentences[at].stems, sentences[other].stems) < MAX_OVERLAP for other in taken
        ):
            taken.append(at)
    return sorted(taken)


def overlap(left: Sequence[str], right: Sequence[str]) -> float:
    """Share of the smaller set of stems that both have."""
    ours, theirs = set(left), set(right)
    return len(ours & theirs) / max(1, min(len(ours), len(theirs)))


def _suitability(sentence: TranscriptSentence) -> float:
    """Prefers complete statements of moderate length that need no context."""
    if sentence.is_housekeeping or sentence.word_count < FRAGMENT_WORDS:
        return 0.0
    score = 1.0 if sentence.word_count in BEST_WORDS else 0.6
    score *= 0.35 if sentence.is_question else 1.0
    score *= 1.0 if sentence.stands_alone else 0.45
    return score if sentence.is_complete else 0.7 * score
