"""What is known of a film when moments are chosen from it, and what is chosen."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cutroom.engines.recognition.port import Word
from cutroom.products.transcripts.sentences import Segment

if TYPE_CHECKING:
    from cutroom.engines.types import Vector

MAX_SENTENCES = 20_000
MAX_WORDS = 200_000
_SAME_SECONDS = 0.005  # times of sentences and of their words are rounded apart


@dataclass(frozen=True, slots=True)
class Sentence:
    """What one speaker says at a stretch."""

    text: str
    start_seconds: float
    end_seconds: float
    speaker: str = ""


@dataclass(frozen=True, slots=True)
class Talk:
    """A recording as its transcript and measurements tell it; what was not measured is left empty."""

    sentences: Sequence[Sentence]
    words: Sequence[Word]
    duration_seconds: float
    language: str = ""
    energy: Sequence[float] = ()  # loudness of each second
    cuts: Sequence[float] = ()  # when shots change
    laughs: Sequence[float] = ()  # when people laugh
    vectors: "Vector | None" = None  # a row of length 1 for each sentence


@dataclass(frozen=True, slots=True)
class Wish:
    """What moments should be about, in words and, where there is an embedder, as a vector of length 1."""

    text: str
    vector: "Vector | None" = None


@dataclass(frozen=True, slots=True)
class Moment:
    """A stretch of the film that stands on its own; the range is of sentences, its end is behind the last."""

    start_seconds: float
    end_seconds: float
    score: float  # from 0 to 1
    title: str
    description: str
    reason: str
    sentence_range: tuple[int, int]

    @property
    def seconds(self) -> float:
        return self.end_seconds - self.start_seconds


@dataclass(frozen=True, slots=True)
class Utterance:
    """Words between which no cut is possible, since they overlap: mostly a single one."""

    start_seconds: float
    end_seconds: float
    text: str  # of the word that ends last


def sentences_of(segments: Iterable[Segment]) -> list[Sentence]:
    """The stored segments that have not been deleted and say anything."""
    return [
        Sentence(each.text, each.start_seconds, each.end_seconds, each.speaker)
        for each in segments
        if not each.deleted and each.text.strip()
    ]


def utterances(film: Talk) -> list[Utterance]:
    """In order, none reaching into the next. Without words the sentences stand for them."""
    given: Sequence[Word | Sentence] = film.words[:MAX_WORDS] or film.sentences[:MAX_SENTENCES]
    spans = sorted(
        (start, end, each.text)
        for each in given
        if (start := _inside(each.start_seconds, film)) is not None
        and (end := _inside(max(each.start_seconds, each.end_seconds), film)) is not None
    )
    found: list[Utterance] = []
    for start, end, text in spans:
        if found and start < found[-1].end_seconds:
            last = found.pop()
            longer = end >= last.end_seconds
            found.append(Utterance(last.start_seconds, max(end, last.end_seconds), text if longer else last.text))
        else:
            found.append(Utterance(start, end, text))
    return found


def _inside(seconds: float, film: Talk) -> float | None:
    return min(max(0.0, seconds), film.duration_seconds) if math.isfinite(seconds) else None


@dataclass(frozen=True, slots=True)
class Places:
    """Where each sentence lies among the utterances: the first and the last of its own."""

    first: Sequence[int]
    last: Sequence[int]


def places(sentences: Sequence[Sentence], spoken: Sequence[Utterance]) -> Places:
    starts = [each.start_seconds for each in spoken]
    ends = [each.end_seconds for each in spoken]
    first, last = [], []
    for sentence in sentences:
        at = min(bisect_right(ends, sentence.start_seconds + _SAME_SECONDS), len(spoken) - 1)
        # A word without length ends where it starts.
        until = bisect_left(starts, max(sentence.end_seconds - _SAME_SECONDS, sentence.start_seconds)) - 1
        first.append(at)
        last.append(max(at, until))
    return Places(first, last)
