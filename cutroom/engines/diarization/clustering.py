"""Who speaks when: groups the voice prints of a whole recording into speakers, and their windows into turns.

Windows are grouped by average linkage: again and again the two groups join whose windows are most alike on average,
until no two are alike enough. A long recording is first grouped stretch by stretch, so that neither time nor memory
grows with the square of its length. The mean cosine of two groups follows from the sums of their vectors alone, so
the second round is as exact as the first.
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

MAX_PRINTS = 80_000  # some 16 hours of speech
MAX_SPEAKERS = 20
MAX_GROUPS = 2_000  # what is grouped at once
STRETCH_PRINTS = 400  # some 5 minutes; grouped alone where there are too many prints for one round
STRETCH_MARGIN = 0.1  # in a stretch only what is more alike than needed joins: the second round sees more
CLEAR_SECONDS = 1.0  # shorter windows are given to speakers, but make none
MIN_SPEAKER_SECONDS = 3.0  # who speaks less in all is taken for one of the others...
MIN_SPEAKER_SHARE = 0.1  # ...unless it is this share of a short recording
WORD_GAP_REACH_SECONDS = 0.6  # how far a change of speaker moves to fall between two words


@dataclass(frozen=True, slots=True)
class Turn:
    """A stretch of speech by one speaker; one who pauses has several in a row. Speakers count from 0."""

    speaker: int
    start_seconds: float
    end_seconds: float


@dataclass(frozen=True, slots=True)
class _Join:
    """Two groups that become one, and how alike they are. A group goes by the number of any of its members."""

    left: int
    right: int
    likeness: float


def cluster_speakers(
    prints: Sequence[SpeakerEmbedding], *, same_voice: float, speakers: int | None = None
) -> list[int]:
    """The speaker of each print, numbered in the order in which they first speak.

    `same_voice` is the mean cosine from which two groups are one voice; each profiler has its own. A known number of
    `speakers` is found whatever they are like, if there is speech enough for as many.
    """
    import numpy as np  # noqa: PLC0415 - the API process must be able to import this room without it

    if len(prints) > MAX_PRINTS:
        raise EngineError(f"A recording has at most {MAX_PRINTS} windows of speech.")
    if speakers is not None and not 1 <= speakers <= MAX_SPEAKERS:
        raise EngineError(f"There are between 1 and {MAX_SPEAKERS} speakers.")
    if not prints:
        return []
    clear = [each for each in prints if each.span.end_seconds - each.span.start_seconds >= CLEAR_SECONDS] or prints
    vectors = np.stack([each.vector for each in clear]).astype(np.float64)
    seconds = np.array(list(_new_seconds(clear)))
    groups = _pregroup(vectors, same_voice + STRETCH_MARGIN)
    sums, spoken = _totals(vectors, groups), _totals(seconds, groups)
    joins = _joins(sums, _totals(np.ones(len(clear)), groups))
    least = min(MIN_SPEAKER_SECONDS, MIN_SPEAKER_SHARE * float(seconds.sum()))
    count = _how_many(joins, spoken, least=least, same_voice=same_voice, speakers=speakers)
    joined = _apply(joins[:count], len(sums))
    voices = _centres(sums, joined, heard=_totals(spoken, joined) >= least)
    return _in_order([int((voices @ each.vector).argmax()) for each in prints])


def turns(prints: Sequence[SpeakerEmbedding], speakers: Sequence[int], *, words: Sequence[TimeSpan] = ()) -> list[Turn]:
    """Each moment of speech goes to the speaker of the windows around it.

    A change inside a stretch of speech falls in the middle of where the two windows overlap, or, where words are
    given, into the widest gap between two of them near by.
    """
    found: list[Turn] = []
    starts = [word.start_seconds for word in words]
    for first, end in _stretches(prints):
        spans = [each.span for each in prints[first:end]]
        kept = _steady(speakers[first:end])
        start = spans[0].start_seconds
        for left, right in pairwise(kept):
            if speakers[first + left] == speakers[first + right]:
                continue
            middle = (spans[left].end_seconds + spans[right].start_seconds) / 2
            change = _between_words(middle, words, starts=starts, bounds=TimeSpan(start, spans[-1].end_seconds))
            if change > start:
                found.append(Turn(speakers[first + left], start, change))
                start = change
        found.append(Turn(speakers[first + kept[-1]], start, spans[-1].end_seconds))
    return found


def speaker_of(turns: Sequence[Turn], span: TimeSpan) -> int | None:
    """Who speaks most in a span, such as a word, or else nearest to it; nobody where nobody speaks at all."""
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


def _new_seconds(prints: Sequence[SpeakerEmbedding]) -> Iterator[float]:
    """How much each window adds to what the windows after it cover."""
    for here, after in pairwise(prints):
        yield max(0.0, min(here.span.end_seconds, after.span.start_seconds) - here.span.start_seconds)
    yield prints[-1].span.end_seconds - prints[-1].span.start_seconds


def _pregroup(vectors: "Floats", alike: float) -> "NDArray[np.intp]":
    """A group for each vector, few enough to be compared with each other."""
    import numpy as np  # noqa: PLC0415 - see above

    if len(vectors) <= MAX_GROUPS:
        return np.arange(len(vectors))
    stretches = -(-len(vectors) // STRETCH_PRINTS)
    groups = np.empty(len(vectors), np.intp)
    offset = 0
    for at in range(0, len(vectors), STRETCH_PRINTS):
        part = vectors[at : at + STRETCH_PRINTS]
        joins = _joins(part, np.ones(len(part)))
        count = sum(join.likeness >= alike for join in joins)
        count = max(count, len(part) - MAX_GROUPS // stretches)
        groups[at : at + len(part)] = _apply(joins[:count], len(part)) + offset
        offset += len(part) - min(count, len(joins))
    return groups


def _totals(values: "Floats", groups: "NDArray[np.intp]") -> "Floats":
    import numpy as np  # noqa: PLC0415 - see above

    totals: Floats = np.zeros((int(groups.max()) + 1, *values.shape[1:]))
    np.add.at(totals, groups, values)
    return totals


def _joins(sums: "Floats", sizes: "Floats") -> list[_Join]:
    """All joins up to one single group, the most alike first; each takes place after those before it.

    A chain goes from a group to the one most like it, and on, until two are each other's: these join. Average linkage
    gives the same joins in whatever order they are found.
    """
    likeness = (sums @ sums.T) / (sizes[:, None] * sizes[None, :])
    likeness[range(len(sums)), range(len(sums))] = -float("inf")
    sizes = sizes.copy()
    joins: list[_Join] = []
    chain: list[int] = []
    alive = set(range(len(sums)))
    while len(joins) < len(sums) - 1:
        if not chain:
            chain.append(min(alive))
        here = chain[-1]
        best = int(likeness[here].argmax())
        before = chain[-2] if len(chain) > 1 else None
        if before is None or likeness[here, best] > likeness[here, before]:
            chain.append(best)
            continue
        del chain[-2:]
        joins.append(_Join(before, here, float(likeness[here, before])))
        mean = (likeness[before] * sizes[before] + likeness[here] * sizes[here]) / (sizes[before] + sizes[here])
        likeness[before], likeness[:, before] = mean, mean
        likeness[here], likeness[:, here] = -float("inf"), -float("inf")
        likeness[before, before] = -float("inf")
        sizes[before] += sizes[here]
        alive.discard(here)
    return sorted(joins, key=lambda join: -join.likeness)


def _how_many(
    joins: Sequence[_Join], spoken: "Floats", *, least: float, same_voice: float, speakers: int | None
) -> int:
    """How many joins to make: all between groups that are alike enough, and more while there are too many speakers.

    With a known number of speakers: as many as still leave that number of groups that are heard enough.
    """
    parents = list(range(len(spoken)))
    seconds = spoken.tolist()
    heard = sum(each >= least for each in seconds)
    wanted = speakers or MAX_SPEAKERS
    most, count = min(heard, wanted), 0
    for made, join in enumerate(joins):
        if speakers is None and join.likeness < same_voice and heard <= wanted:
            return made
        left, right = _root(parents, join.left), _root(parents, join.right)
        parents[right] = left
        heard -= (seconds[left] >= least) + (seconds[right] >= least)
        seconds[left] += seconds[right]
        heard += seconds[left] >= least
        if min(heard, wanted) >= most:
            most, count = min(heard, wanted), made + 1
    return len(joins) if speakers is None else count


def _root(parents: list[int], at: int) -> int:
    while parents[at] != at:
        parents[at] = parents[parents[at]]
        at = parents[at]
    return at


def _apply(joins: Sequence[_Join], count: int) -> "NDArray[np.intp]":
    """The group of each member after the joins, counted from 0."""
    import numpy as np  # noqa: PLC0415 - see above

    parents = list(range(count))
    for join in joins:
        parents[_root(parents, join.right)] = _root(parents, join.left)
    return np.unique([_root(parents, at) for at in range(count)], return_inverse=True)[1]


def _centres(sums: "Floats", groups: "NDArray[np.intp]", *, heard: "NDArray[np.bool_]") -> "Floats":
    """The middle of each voice that is heard enough, as a unit vector; of the most heard where none is."""
    import numpy as np  # noqa: PLC0415 - see above

    totals = _totals(sums, groups)
    lengths = np.linalg.norm(totals, axis=1)
    kept = heard if heard.any() else lengths == lengths.max()
    centres: Floats = totals[kept] / lengths[kept, None]
    return centres


def _in_order(labels: Sequence[int]) -> list[int]:
    numbers: dict[int, int] = {}
    return [numbers.setdefault(label, len(numbers)) for label in labels]


def _stretches(prints: Sequence[SpeakerEmbedding]) -> Iterator[tuple[int, int]]:
    """First and end of each row of windows without a silence between them."""
    first = 0
    for at in range(1, len(prints) + 1):
        if at == len(prints) or prints[at].span.start_seconds > prints[at - 1].span.end_seconds:
            yield first, at
            first = at


def _steady(labels: Sequence[int]) -> list[int]:
    """The windows to believe: one between two others that is like neither is half one voice and half another."""
    last = len(labels) - 1
    return [at for at in range(last + 1) if at in {0, last} or labels[at] in {labels[at - 1], labels[at + 1]}]


def _between_words(seconds: float, words: Sequence[TimeSpan], *, starts: Sequence[float], bounds: TimeSpan) -> float:
    """The middle of the widest gap between words within reach and bounds, or the given time where there is none."""
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
