"""Speaker diarization: clusters speaker embeddings of a recording, and converts the labels to turns.

Uses agglomerative clustering with average linkage on cosine similarity. Long recordings are clustered block by block
first, so that time and memory stay below quadratic. The mean cosine of two clusters follows from their vector sums
alone, so the second round is exact.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from cutroom.engines.diarization.port import SpeakerEmbedding
from cutroom.engines.errors import EngineError
from cutroom.engines.types import TimeSpan

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MAX_EMBEDDINGS = 80_000  # about 16 hours of speech
MAX_SPEAKERS = 20
MAX_COMPARED_CLUSTERS = 2_000  # bounds the similarity matrix
BLOCK_EMBEDDINGS = 400  # about 5 minutes; size of a block in the first round
BLOCK_MARGIN = 0.1  # stricter threshold within a block; the second round decides the rest
CLEAR_SECONDS = 1.0  # shorter windows are assigned to speakers but do not form clusters
MIN_SPEAKER_SECONDS = 3.0  # shorter clusters are merged into others...
MIN_SPEAKER_SHARE = 0.1  # ...unless they reach this share of a short recording
WORD_GAP_REACH_SECONDS = 0.6  # how far a speaker change may move to fall between words


@dataclass(frozen=True, slots=True)
class Turn:
    """Continuous speech of one speaker, numbered from 0; a pause starts a new turn."""

    speaker: int
    start_seconds: float
    end_seconds: float


@dataclass(frozen=True, slots=True)
class _Merge:
    """A merge of two clusters, each identified by any member, at a similarity."""

    left: int
    right: int
    similarity: float


def cluster_speakers(
    embeddings: Sequence[SpeakerEmbedding], *, same_speaker_threshold: float, speakers: int | None = None
) -> list[int]:
    """The speaker of each embedding, numbered in order of first appearance.

    `same_speaker_threshold` is the embedder's mean cosine similarity from which two clusters are one speaker. A known
    number of `speakers` overrides it, if there is enough speech for that many.
    """
    import numpy as np  # noqa: PLC0415 - the API process imports this module without it

    if len(embeddings) > MAX_EMBEDDINGS:
        raise EngineError(f"A recording must have at most {MAX_EMBEDDINGS} windows of speech.")
    if speakers is not None and not 1 <= speakers <= MAX_SPEAKERS:
        raise EngineError(f"The number of speakers must be between 1 and {MAX_SPEAKERS}.")
    if not embeddings:
        return []
    clear = [
        each for each in embeddings if each.span.end_seconds - each.span.start_seconds >= CLEAR_SECONDS
    ] or embeddings
    vectors = np.stack([each.vector for each in clear]).astype(np.float64)
    seconds = np.array(list(_exclusive_seconds(clear)))
    clusters = _precluster(vectors, same_speaker_threshold + BLOCK_MARGIN)
    sums, speech_seconds = _totals(vectors, clusters), _totals(seconds, clusters)
    merges = _merge_sequence(sums, _totals(np.ones(len(clear)), clusters))
    min_seconds = min(MIN_SPEAKER_SECONDS, MIN_SPEAKER_SHARE * float(seconds.sum()))
    count = _merge_count(
        merges,
        speech_seconds,
        min_seconds=min_seconds,
        same_speaker_threshold=same_speaker_threshold,
        speakers=speakers,
    )
    labels = _apply_merges(merges[:count], len(sums))
    centroids = _centroids(sums, labels, audible=_totals(speech_seconds, labels) >= min_seconds)
    return _by_first_appearance([int((centroids @ each.vector).argmax()) for each in embeddings])


def speaker_turns(
    embeddings: Sequence[SpeakerEmbedding], speakers: Sequence[int], *, words: Sequence[TimeSpan] = ()
) -> list[Turn]:
    """Converts window labels to turns.

    A change within continuous speech is placed in the middle of the overlap of the two windows or, if words are given,
    in the widest word gap nearby.
    """
    found: list[Turn] = []
    starts = [word.start_seconds for word in words]
    for first, end in _contiguous_runs(embeddings):
        spans = [each.span for each in embeddings[first:end]]
        kept = _stable_windows(speakers[first:end], spans)
        start = spans[0].start_seconds
        for left, right in pairwise(kept):
            if speakers[first + left] == speakers[first + right]:
                continue
            middle = (spans[left].end_seconds + spans[right].start_seconds) / 2
            change = _snap_to_word_gap(middle, words, starts=starts, bounds=TimeSpan(start, spans[-1].end_seconds))
            if change > start:
                found.append(Turn(speakers[first + left], start, change))
                start = change
        found.append(Turn(speakers[first + kept[-1]], start, spans[-1].end_seconds))
    return found


def speaker_of(turns: Sequence[Turn], span: TimeSpan) -> int | None:
    """The speaker with the most overlap with a span such as a word, else the nearest; None without turns."""
    after = bisect_right(turns, span.start_seconds, key=lambda turn: turn.start_seconds)
    first = max(0, after - 1)
    shares: dict[int, float] = {}
    for at in range(first, len(turns)):
        turn = turns[at]
        if turn.start_seconds >= span.end_seconds:
            break
        share = min(turn.end_seconds, span.end_seconds) - max(turn.start_seconds, span.start_seconds)
        shares[turn.speaker] = shares.get(turn.speaker, 0.0) + max(0.0, share)
    if shares and max(shares.values()) > 0:
        return max(shares, key=lambda speaker: shares[speaker])
    nearest = min(turns[first : after + 1], key=lambda turn: _distance(turn, span), default=None)
    return nearest.speaker if nearest else None


def _distance(turn: Turn, span: TimeSpan) -> float:
    return max(turn.start_seconds - span.end_seconds, span.start_seconds - turn.end_seconds)


def _exclusive_seconds(embeddings: Sequence[SpeakerEmbedding]) -> Iterator[float]:
    """Seconds of each window not covered by the next one."""
    for here, after in pairwise(embeddings):
        yield max(0.0, min(here.span.end_seconds, after.span.start_seconds) - here.span.start_seconds)
    yield embeddings[-1].span.end_seconds - embeddings[-1].span.start_seconds


def _precluster(vectors: "Floats", threshold: float) -> "NDArray[np.intp]":
    """Initial cluster of each vector, at most MAX_COMPARED_CLUSTERS in total."""
    import numpy as np  # noqa: PLC0415 - see above

    if len(vectors) <= MAX_COMPARED_CLUSTERS:
        return np.arange(len(vectors))
    blocks = -(-len(vectors) // BLOCK_EMBEDDINGS)
    clusters = np.empty(len(vectors), np.intp)
    offset = 0
    for at in range(0, len(vectors), BLOCK_EMBEDDINGS):
        block = vectors[at : at + BLOCK_EMBEDDINGS]
        merges = _merge_sequence(block, np.ones(len(block)))
        count = sum(merge.similarity >= threshold for merge in merges)
        count = max(count, len(block) - MAX_COMPARED_CLUSTERS // blocks)
        clusters[at : at + len(block)] = _apply_merges(merges[:count], len(block)) + offset
        offset += len(block) - min(count, len(merges))
    return clusters


def _totals(values: "Floats", clusters: "NDArray[np.intp]") -> "Floats":
    import numpy as np  # noqa: PLC0415 - see above

    totals: Floats = np.zeros((int(clusters.max()) + 1, *values.shape[1:]))
    np.add.at(totals, clusters, values)
    return totals


def _merge_sequence(sums: "Floats", sizes: "Floats") -> list[_Merge]:
    """All merges down to a single cluster, most similar first (nearest-neighbor chain algorithm)."""
    similarity = (sums @ sums.T) / (sizes[:, None] * sizes[None, :])
    similarity[range(len(sums)), range(len(sums))] = -float("inf")
    sizes = sizes.copy()
    merges: list[_Merge] = []
    chain: list[int] = []
    alive = set(range(len(sums)))
    while len(merges) < len(sums) - 1:
        if not chain:
            chain.append(min(alive))
        here = chain[-1]
        best = int(similarity[here].argmax())
        before = chain[-2] if len(chain) > 1 else None
        if before is None or similarity[here, best] > similarity[here, before]:
            chain.append(best)
            continue
        del chain[-2:]
        merges.append(_Merge(before, here, float(similarity[here, before])))
        mean = (similarity[before] * sizes[before] + similarity[here] * sizes[here]) / (sizes[before] + sizes[here])
        similarity[before], similarity[:, before] = mean, mean
        similarity[here], similarity[:, here] = -float("inf"), -float("inf")
        similarity[before, before] = -float("inf")
        sizes[before] += sizes[here]
        alive.discard(here)
    return sorted(merges, key=lambda merge: -merge.similarity)


def _merge_count(
    merges: Sequence[_Merge],
    speech_seconds: "Floats",
    *,
    min_seconds: float,
    same_speaker_threshold: float,
    speakers: int | None,
) -> int:
    """Number of merges to apply: all above the threshold, and more while there are too many speakers.

    With a known number of speakers: as many as still leave that many clusters of at least `min_seconds`.
    """
    parents = list(range(len(speech_seconds)))
    seconds = speech_seconds.tolist()
    audible = sum(each >= min_seconds for each in seconds)
    target_count = speakers or MAX_SPEAKERS
    most, count = min(audible, target_count), 0
    for index, merge in enumerate(merges):
        if speakers is None and merge.similarity < same_speaker_threshold and audible <= target_count:
            return index
        left, right = _root(parents, merge.left), _root(parents, merge.right)
        parents[right] = left
        audible -= (seconds[left] >= min_seconds) + (seconds[right] >= min_seconds)
        seconds[left] += seconds[right]
        audible += seconds[left] >= min_seconds
        if min(audible, target_count) >= most:
            most, count = min(audible, target_count), index + 1
    return len(merges) if speakers is None else count


def _root(parents: list[int], at: int) -> int:
    while parents[at] != at:
        parents[at] = parents[parents[at]]
        at = parents[at]
    return at


def _apply_merges(merges: Sequence[_Merge], count: int) -> "NDArray[np.intp]":
    """Cluster labels after the merges, numbered from 0."""
    import numpy as np  # noqa: PLC0415 - see above

    parents = list(range(count))
    for merge in merges:
        parents[_root(parents, merge.right)] = _root(parents, merge.left)
    return np.unique([_root(parents, at) for at in range(count)], return_inverse=True)[1]


def _centroids(sums: "Floats", clusters: "NDArray[np.intp]", *, audible: "NDArray[np.bool_]") -> "Floats":
    """Unit centroids of the clusters with enough speech, or of the largest if none has."""
    import numpy as np  # noqa: PLC0415 - see above

    totals = _totals(sums, clusters)
    lengths = np.linalg.norm(totals, axis=1)
    kept = audible if audible.any() else lengths == lengths.max()
    centroids: Floats = totals[kept] / lengths[kept, None]
    return centroids


def _by_first_appearance(labels: Sequence[int]) -> list[int]:
    numbers: dict[int, int] = {}
    return [numbers.setdefault(label, len(numbers)) for label in labels]


def _contiguous_runs(embeddings: Sequence[SpeakerEmbedding]) -> Iterator[tuple[int, int]]:
    """Index ranges of windows without silence between them."""
    first = 0
    for at in range(1, len(embeddings) + 1):
        if at == len(embeddings) or embeddings[at].span.start_seconds > embeddings[at - 1].span.end_seconds:
            yield first, at
            first = at


def _stable_windows(labels: Sequence[int], spans: Sequence[TimeSpan]) -> list[int]:
    """Drops windows that overlap their neighbors and differ from both, as they mix two speakers."""
    last = len(labels) - 1
    return [
        at
        for at in range(last + 1)
        if at in {0, last}
        or labels[at] in {labels[at - 1], labels[at + 1]}
        or (
            spans[at - 1].end_seconds <= spans[at].start_seconds
            and spans[at].end_seconds <= spans[at + 1].start_seconds
        )
    ]


def _snap_to_word_gap(seconds: float, words: Sequence[TimeSpan], *, starts: Sequence[float], bounds: TimeSpan) -> float:
    """The middle of the widest word gap within reach and bounds, or the given time."""
    low = max(bounds.start_seconds, seconds - WORD_GAP_REACH_SECONDS)
    high = min(bounds.end_seconds, seconds + WORD_GAP_REACH_SECONDS)
    at = max(1, bisect_right(starts, low))
    widest, best = 0.0, min(max(seconds, bounds.start_seconds), bounds.end_seconds)
    while at < len(words) and starts[at] <= high:
        gap = starts[at] - words[at - 1].end_seconds
        middle = (starts[at] + words[at - 1].end_seconds) / 2
        if gap > widest and low < middle < high:
            widest, best = gap, middle
        at += 1
    return best
