"""Segments a talk into topics with TextTiling, and scores how central each sentence is to its topic."""

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

WINDOW = 4  # sentences compared on either side of a gap
MIN_TOPIC = 3  # sentences
LONG_PAUSE_SECONDS = 2.0  # longer pauses add nothing
PAUSE_WEIGHT = 0.2
DEPTH_DEVIATIONS = 0.5  # standard deviations above the mean depth that mark a boundary


def topic_starts(stems: Sequence[Sequence[str]], pauses: Sequence[float], *, vectors: "Vectors | None") -> list[int]:
    """Index of the first sentence of each topic: the deepest similarity valleys between sentences (TextTiling)."""
    count = len(stems)
    if count < 2 * MIN_TOPIC:
        return [0] if count else []
    similarity = _embedding_similarity(vectors) if vectors is not None else _word_similarity(stems)
    # Speakers pause before they change topic.
    similarity = [each - PAUSE_WEIGHT * _pause_weight(pauses[at]) for at, each in enumerate(similarity)]
    depths = _depths(similarity)
    limit = statistics.fmean(depths) + DEPTH_DEVIATIONS * statistics.pstdev(depths)
    chosen: list[int] = []
    for at in sorted(range(len(depths)), key=lambda each: (-depths[each], each)):
        boundary = at + 1
        if depths[at] <= max(limit, 0.0):
            break
        if MIN_TOPIC <= boundary <= count - MIN_TOPIC and all(abs(boundary - other) >= MIN_TOPIC for other in chosen):
            chosen.append(boundary)
    return sorted({0, *(_refine(similarity, boundary) for boundary in chosen)})


def _pause_weight(pause_seconds: float) -> float:
    return min(1.0, max(0.0, pause_seconds) / LONG_PAUSE_SECONDS)


def _refine(similarity: Sequence[float], boundary: int) -> int:
    """Smoothing may shift a boundary by one sentence; moves it to the least similar neighbors."""
    near = [each for each in (boundary, boundary - 1, boundary + 1) if 1 <= each <= len(similarity)]
    return min(near, key=lambda each: similarity[each - 1])


def topic_of(starts: Sequence[int], *, count: int) -> list[int]:
    """The topic index of each sentence."""
    found, topic = [], -1
    boundaries = set(starts)
    for at in range(count):
        topic += at in boundaries
        found.append(topic)
    return found


def centralities(stems: Sequence[Sequence[str]], topics: Sequence[int], *, vectors: "Vectors | None") -> list[float]:
    """How central each sentence is to its topic, from 0 to 1."""
    if vectors is not None:
        return _centroid_similarity(topics, vectors)
    counts: dict[int, Counter[str]] = {}
    for own, topic in zip(stems, topics, strict=True):
        counts.setdefault(topic, Counter()).update(set(own))
    found = []
    for own, topic in zip(stems, topics, strict=True):
        # Stems that occur in no other sentence do not count.
        shared = [counts[topic][stem] - 1 for stem in set(own)]
        most = max(counts[topic].values(), default=1) - 1
        found.append(sum(shared) / len(shared) / most if shared and most > 0 else 0.0)
    return found


def _centroid_similarity(topics: Sequence[int], vectors: "Vectors") -> list[float]:
    import numpy as np  # noqa: PLC0415 - the API process imports this module without it

    numbers = np.asarray(topics)
    sums = np.zeros((numbers.max() + 1, vectors.shape[1]))
    np.add.at(sums, numbers, vectors)
    centroids = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
    return [float(each) for each in np.clip((vectors * centroids[numbers]).sum(axis=1), 0, 1)]


def _embedding_similarity(vectors: "Vectors") -> list[float]:
    """Cosine similarity of the windows before and after each gap."""
    import numpy as np  # noqa: PLC0415 - as above

    sums = np.concatenate([np.zeros((1, vectors.shape[1])), np.cumsum(vectors, axis=0, dtype=np.float64)])
    count = len(vectors)
    at = np.arange(1, count)
    left = sums[at] - sums[np.maximum(0, at - WINDOW)]
    right = sums[np.minimum(count, at + WINDOW)] - sums[at]
    sizes = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    return [float(each) for each in (left * right).sum(axis=1) / np.maximum(sizes, 1e-9)]


def _word_similarity(stems: Sequence[Sequence[str]]) -> list[float]:
    window = WINDOW + 2  # stems carry less information than embeddings, so the window is larger
    found = []
    for at in range(1, len(stems)):
        left = Counter(stem for own in stems[max(0, at - window) : at] for stem in own)
        right = Counter(stem for own in stems[at : at + window] for stem in own)
        dot = sum(number * right[stem] for stem, number in left.items())
        sizes = math.sqrt(sum(each**2 for each in left.values()) * sum(each**2 for each in right.values()))
        found.append(dot / sizes if sizes else 0.0)
    return found


def _depths(similarity: Sequence[float]) -> list[float]:
    """TextTiling depth score at each gap."""
    smooth = [statistics.fmean(similarity[max(0, at - 1) : at + 2]) for at in range(len(similarity))]
    left, right = _peaks(smooth), _peaks(smooth[::-1])[::-1]
    # Prefer the local minimum itself over the slope beside it.
    return [(left[at] + right[at] - 2 * smooth[at]) + 0.1 * (smooth[at] - similarity[at]) for at in range(len(smooth))]


def _peaks(values: Sequence[float]) -> list[float]:
    """The nearest peak reached by climbing left from each gap."""
    found: list[float] = []
    for at, value in enumerate(values):
        found.append(found[-1] if at and values[at - 1] >= value else value)
    return found
