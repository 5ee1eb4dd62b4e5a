"""Which sentences say most: TextRank over their likeness, by meaning where there are vectors, else by words."""

import math
from collections.abc import Sequence
from itertools import permutations
from typing import TYPE_CHECKING

from cutroom.engines.writing.extractive.sentences import Sentence

if TYPE_CHECKING:
    from cutroom.engines.types import Vector

DAMPING = 0.85
ROUNDS = 30
MAX_SENTENCES = 1_500  # compared with each other; of more, every second or third is
BEST_WORDS = range(7, 27)
FRAGMENT_WORDS = 4
TOO_ALIKE = 0.6
FEW_SENTENCES = 12


def ranks(sentences: Sequence[Sentence], *, vectors: "Vector | None", worth: dict[str, float]) -> list[float]:
    """How much each sentence says of the whole, the best 1; how fit it is to be quoted alone is a part of it."""
    if not sentences:
        return []
    walked = _walk(sentences, vectors)
    found = [walked[at] * _fitness(each) * (1.0 + _density(each, worth)) for at, each in enumerate(sentences)]
    most = max(found)
    return [each / most for each in found] if most > 0 else [1.0] * len(found)


def chosen(
    sentences: Sequence[Sentence], scores: Sequence[float], *, count: int, among: Sequence[int] | None = None
) -> list[int]:
    """The places of the best sentences in the order of time, none of which says what another says."""
    places = range(len(sentences)) if among is None else among
    ranked = sorted(places, key=lambda at: (-scores[at], at))
    taken: list[int] = []
    for at in ranked:
        if len(taken) == count:
            break
        if scores[at] > 0 and is_new(sentences, at, taken):
            taken.append(at)
    return sorted(taken)


def is_new(sentences: Sequence[Sentence], at: int, taken: Sequence[int]) -> bool:
    """Whether a sentence says something that none of the others says."""
    return all(_overlap(sentences[at], sentences[other]) < TOO_ALIKE for other in taken)


def _fitness(sentence: Sentence) -> float:
    """Whole statements of a good length, that need nothing before them."""
    if sentence.serves or sentence.words < FRAGMENT_WORDS:
        return 0.0
    fit = 1.0
    if sentence.words not in BEST_WORDS:
        fit *= 0.6
    if sentence.asks:
        fit *= 0.35
    if sentence.leans:
        fit *= 0.45
    if not sentence.is_whole:
        fit *= 0.7
    return fit


def _density(sentence: Sentence, worth: dict[str, float]) -> float:
    total = sum(worth.get(stem, 0.0) for stem in set(sentence.stems))
    return min(1.5, total / math.sqrt(len(sentence.stems) + 2))


def _overlap(left: Sentence, right: Sentence) -> float:
    ours, theirs = set(left.stems), set(right.stems)
    return len(ours & theirs) / max(1, min(len(ours), len(theirs)))


def _walk(sentences: Sequence[Sentence], vectors: "Vector | None") -> list[float]:
    """Where a reader ends up who goes from sentence to sentence by their likeness."""
    step = -(-len(sentences) // MAX_SENTENCES)
    nodes = list(range(0, len(sentences), step))
    found = [0.0] * len(sentences)
    values = _walk_vectors(nodes, vectors) if vectors is not None else _walk_words(nodes, sentences)
    for at, value in zip(nodes, values, strict=True):
        for near in range(at, min(at + step, len(sentences))):
            found[near] = value
    return found


def _walk_vectors(nodes: Sequence[int], vectors: "Vector") -> list[float]:
    import numpy as np  # noqa: PLC0415 - the API process must be able to import this room without it

    rows = vectors[list(nodes)]
    likeness = np.clip(rows @ rows.T, 0.0, 1.0) ** 2
    np.fill_diagonal(likeness, 0.0)
    sums = np.maximum(likeness.sum(axis=1, keepdims=True), 1e-9)
    walk = np.full(len(nodes), 1.0 / len(nodes))
    for _ in range(ROUNDS):
        walk = (1 - DAMPING) / len(nodes) + DAMPING * ((likeness / sums).T @ walk)
    return [float(each) for each in walk]


def _walk_words(nodes: Sequence[int], sentences: Sequence[Sentence]) -> list[float]:
    """The same over shared words; only sentences that share one are neighbours."""
    weights = _shared_words([sentences[at].stems for at in nodes])
    sums = [sum(each.values()) or 1.0 for each in weights]
    walk = [1.0 / len(nodes)] * len(nodes)
    for _ in range(ROUNDS):
        after = [(1 - DAMPING) / len(nodes)] * len(nodes)
        for left, row in enumerate(weights):
            for right, weight in row.items():
                after[right] += DAMPING * walk[left] * weight / sums[left]
        walk = after
    return walk


def _shared_words(stems: Sequence[Sequence[str]]) -> list[dict[int, float]]:
    """For each sentence its neighbours, and how much they share; words of every sentence tie none together."""
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
