"""Ranks sentences by TextRank over embeddings, or over shared words if there are none."""

import math
from collections.abc import Sequence
from itertools import permutations
from typing import TYPE_CHECKING

from cutroom.engines.writing.extractive.sentences import TranscriptSentence

if TYPE_CHECKING:
    from cutroom.engines.types import Vector

DAMPING = 0.85
ITERATIONS = 30
MAX_SENTENCES = 1_500  # graph nodes; longer transcripts are subsampled
BEST_WORDS = range(7, 27)
FRAGMENT_WORDS = 4
MAX_OVERLAP = 0.6
FEW_SENTENCES = 12


def score_sentences(
    sentences: Sequence[TranscriptSentence], *, vectors: "Vector | None", weights: dict[str, float]
) -> list[float]:
    """TextRank score times suitability as a quote and key phrase density, normalized to a maximum of 1."""
    if not sentences:
        return []
    ranks = _textrank(sentences, vectors)
    found = [ranks[at] * _suitability(each) * (1.0 + _density(each, weights)) for at, each in enumerate(sentences)]
    most = max(found)
    return [each / most for each in found] if most > 0 else [1.0] * len(found)


def select_sentences(
    sentences: Sequence[TranscriptSentence], scores: Sequence[float], *, count: int, among: Sequence[int] | None = None
) -> list[int]:
    """Indices of the best distinct sentences, in order of time."""
    indices = range(len(sentences)) if among is None else among
    ranked = sorted(indices, key=lambda at: (-scores[at], at))
    taken: list[int] = []
    for at in ranked:
        if len(taken) == count:
            break
        if scores[at] > 0 and is_distinct(sentences, at, taken):
            taken.append(at)
    return sorted(taken)


def is_distinct(sentences: Sequence[TranscriptSentence], at: int, taken: Sequence[int]) -> bool:
    """Whether a sentence overlaps with none of those already taken."""
    return all(_overlap(sentences[at], sentences[other]) < MAX_OVERLAP for other in taken)


def _suitability(sentence: TranscriptSentence) -> float:
    """Prefers complete statements of moderate length that need no context."""
    if sentence.is_housekeeping or sentence.word_count < FRAGMENT_WORDS:
        return 0.0
    score = 1.0
    if sentence.word_count not in BEST_WORDS:
        score *= 0.6
    if sentence.is_question:
        score *= 0.35
    if sentence.needs_context:
        score *= 0.45
    if not sentence.is_complete:
        score *= 0.7
    return score


def _density(sentence: TranscriptSentence, weights: dict[str, float]) -> float:
    total = sum(weights.get(stem, 0.0) for stem in set(sentence.stems))
    return min(1.5, total / math.sqrt(len(sentence.stems) + 2))


def _overlap(left: TranscriptSentence, right: TranscriptSentence) -> float:
    ours, theirs = set(left.stems), set(right.stems)
    return len(ours & theirs) / max(1, min(len(ours), len(theirs)))


def _textrank(sentences: Sequence[TranscriptSentence], vectors: "Vector | None") -> list[float]:
    """TextRank over a sample of sentences; the others take the value of the previous node."""
    step = -(-len(sentences) // MAX_SENTENCES)
    nodes = list(range(0, len(sentences), step))
    found = [0.0] * len(sentences)
    values = _rank_by_vectors(nodes, vectors) if vectors is not None else _rank_by_words(nodes, sentences)
    for at, value in zip(nodes, values, strict=True):
        for near in range(at, min(at + step, len(sentences))):
            found[near] = value
    return found


def _rank_by_vectors(nodes: Sequence[int], vectors: "Vector") -> list[float]:
    import numpy as np  # noqa: PLC0415 - keeps the import out of the API process

    rows = vectors[list(nodes)]
    similarity = np.clip(rows @ rows.T, 0.0, 1.0) ** 2
    np.fill_diagonal(similarity, 0.0)
    sums = np.maximum(similarity.sum(axis=1, keepdims=True), 1e-9)
    rank = np.full(len(nodes), 1.0 / len(nodes))
    for _ in range(ITERATIONS):
        rank = (1 - DAMPING) / len(nodes) + DAMPING * ((similarity / sums).T @ rank)
    return [float(each) for each in rank]


def _rank_by_words(nodes: Sequence[int], sentences: Sequence[TranscriptSentence]) -> list[float]:
    """TextRank with edges between sentences that share a word."""
    weights = _shared_words([sentences[at].stems for at in nodes])
    sums = [sum(each.values()) or 1.0 for each in weights]
    rank = [1.0 / len(nodes)] * len(nodes)
    for _ in range(ITERATIONS):
        after = [(1 - DAMPING) / len(nodes)] * len(nodes)
        for left, row in enumerate(weights):
            for right, weight in row.items():
                after[right] += DAMPING * rank[left] * weight / sums[left]
        rank = after
    return rank


def _shared_words(stems: Sequence[Sequence[str]]) -> list[dict[int, float]]:
    """Edge weights per sentence; words that occur in half of the sentences create no edges."""
    places: dict[str, list[int]] = {}
    for number, own in enumerate(stems):
        for stem in set(own):
            places.setdefault(stem, []).append(number)
    limit = len(stems) / 2 if len(stems) >= FEW_SENTENCES else len(stems)
    weights: list[dict[int, float]] = [{} for _ in stems]
    for shared in (each for each in places.values() if 1 < len(each) <= limit):
        rarity = math.log(1 + len(stems) / len(shared))
        for left, right in permutations(shared, 2):
            size = math.log(2 + len(stems[left])) + math.log(2 + len(stems[right]))
            weights[left][right] = weights[left].get(right, 0.0) + rarity / size
    return weights
