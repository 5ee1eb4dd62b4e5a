"""Where a talk turns from one thing to another, and how near each sentence is to the thing it belongs to."""

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cutroom.engines.types import Vector

WINDOW = 4  # sentences at either side of a place that are compared
MIN_TOPIC = 3  # sentences
LONG_PAUSE_SECONDS = 2.0  # longer ones say no more than this
PAUSE_WEIGHT = 0.2
DEPTH_SPREADS = 0.5  # by how many standard deviations a valley is deeper than others where a topic ends


def topic_starts(stems: Sequence[Sequence[str]], pauses: Sequence[float], *, vectors: "Vector | None") -> list[int]:
    """The first sentence of each topic, from 0 on: the deepest valleys of likeness between neighbours (TextTiling)."""
    count = len(stems)
    if count < 2 * MIN_TOPIC:
        return [0] if count else []
    likeness = _likeness_of_vectors(vectors) if vectors is not None else _likeness_of_words(stems)
    # Who turns to another thing takes a breath first.
    likeness = [each - PAUSE_WEIGHT * _breath(pauses[at]) for at, each in enumerate(likeness)]
    depths = _depths(likeness)
    limit = statistics.fmean(depths) + DEPTH_SPREADS * statistics.pstdev(depths)
    taken: list[int] = []
    for at in sorted(range(len(depths)), key=lambda each: (-depths[each], each)):
        place = at + 1
        if depths[at] <= max(limit, 0.0):
            break
        if MIN_TOPIC <= place <= count - MIN_TOPIC and all(abs(place - other) >= MIN_TOPIC for other in taken):
            taken.append(place)
    return sorted({0, *(_sharpest(likeness, place) for place in taken)})


def _breath(pause_seconds: float) -> float:
    return min(1.0, max(0.0, pause_seconds) / LONG_PAUSE_SECONDS)


def _sharpest(likeness: Sequence[float], place: int) -> int:
    """Depths are smooth, and may be one sentence off; the place itself is where neighbours are least alike."""
    near = [each for each in (place, place - 1, place + 1) if 1 <= each <= len(likeness)]
    return min(near, key=lambda each: likeness[each - 1])


def topic_of(starts: Sequence[int], *, count: int) -> list[int]:
    """The number of the topic of each sentence."""
    found, topic = [], -1
    borders = set(starts)
    for at in range(count):
        topic += at in borders
        found.append(topic)
    return found


def centralities(stems: Sequence[Sequence[str]], topics: Sequence[int], *, vectors: "Vector | None") -> list[float]:
    """How much each sentence is about what its topic is about, from 0 to 1."""
    if vectors is not None:
        return _near_middle(topics, vectors)
    counts: dict[int, Counter[str]] = {}
    for own, topic in zip(stems, topics, strict=True):
        counts.setdefault(topic, Counter()).update(set(own))
    found = []
    for own, topic in zip(stems, topics, strict=True):
        # What only this sentence says does not tie it to its topic.
        shared = [counts[topic][stem] - 1 for stem in set(own)]
        most = max(counts[topic].values(), default=1) - 1
        found.append(sum(shared) / len(shared) / most if shared and most > 0 else 0.0)
    return found


def _near_middle(topics: Sequence[int], vectors: "Vector") -> list[float]:
    import numpy as np  # noqa: PLC0415 - the API process must be able to import this room without it

    numbers = np.asarray(topics)
    sums = np.zeros((numbers.max() + 1, vectors.shape[1]))
    np.add.at(sums, numbers, vectors)
    middles = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
    return [float(each) for each in np.clip((vectors * middles[numbers]).sum(axis=1), 0, 1)]


def _likeness_of_vectors(vectors: "Vector") -> list[float]:
    """Of what stands before and behind each place between two sentences."""
    import numpy as np  # noqa: PLC0415 - as above

    sums = np.concatenate([np.zeros((1, vectors.shape[1])), np.cumsum(vectors, axis=0, dtype=np.float64)])
    count = len(vectors)
    at = np.arange(1, count)
    left = sums[at] - sums[np.maximum(0, at - WINDOW)]
    right = sums[np.minimum(count, at + WINDOW)] - sums[at]
    sizes = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    return [float(each) for each in (left * right).sum(axis=1) / np.maximum(sizes, 1e-9)]


def _likeness_of_words(stems: Sequence[Sequence[str]]) -> list[float]:
    window = WINDOW + 2  # a few words say less than a vector, so more of them are compared
    found = []
    for at in range(1, len(stems)):
        left = Counter(stem for own in stems[max(0, at - window) : at] for stem in own)
        right = Counter(stem for own in stems[at : at + window] for stem in own)
        dot = sum(number * right[stem] for stem, number in left.items())
        sizes = math.sqrt(sum(each**2 for each in left.values()) * sum(each**2 for each in right.values()))
        found.append(dot / sizes if sizes else 0.0)
    return found


def _depths(likeness: Sequence[float]) -> list[float]:
    """How far each place lies below the hills at both of its sides."""
    smooth = [statistics.fmean(likeness[max(0, at - 1) : at + 2]) for at in range(len(likeness))]
    left, right = _hills(smooth), _hills(smooth[::-1])[::-1]
    # A place that is itself the lowest of its neighbours is where the cut belongs, not the slope beside it.
    return [(left[at] + right[at] - 2 * smooth[at]) + 0.1 * (smooth[at] - likeness[at]) for at in range(len(smooth))]


def _hills(values: Sequence[float]) -> list[float]:
    """The top that is reached by climbing back from each place without going down."""
    found: list[float] = []
    for at, value in enumerate(values):
        found.append(found[-1] if at and values[at - 1] >= value else value)
    return found
