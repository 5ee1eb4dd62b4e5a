"""Input and output types of moment selection."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cutroom.engines.recognition.port import Word
from cutroom.products.transcripts.segmentation import TranscriptSegment

if TYPE_CHECKING:
    from cutroom.engines.types import Vector

MAX_SENTENCES = 20_000
MAX_WORDS = 200_000
_TOLERANCE_SECONDS = 0.005  # sentence and word times are rounded differently


@dataclass(frozen=True, slots=True)
class TalkSentence:
    """A sentence of one speaker."""

    text: str
    start_seconds: float
    end_seconds: float
    speaker: str = ""


@dataclass(frozen=True, slots=True)
class Talk:
    """A recording's transcript and measurements; fields that were not measured are empty."""

    sentences: Sequence[TalkSentence]
    words: Sequence[Word]
    duration_seconds: float
    language: str = ""
    energy: Sequence[float] = ()  # loudness per second
    cuts: Sequence[float] = ()  # times of shot changes
    laughs: Sequence[float] = ()  # times of laughter
    vectors: "Vector | None" = None  # one unit vector per sentence


@dataclass(frozen=True, slots=True)
class SelectionPrompt:
    """What moments should be about: text, and a unit vector if an embedder is available."""

    text: str
    vector: "Vector | None" = None


@dataclass(frozen=True, slots=True)
class Moment:
    """A self-contained part of the video; `sentence_range` is half-open."""

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
    """Overlapping words that cannot be cut apart; usually a single word."""

    start_seconds: float
    end_seconds: float
    text: str  # of the word that ends last


def to_sentences(segments: Iterable[TranscriptSegment]) -> list[TalkSentence]:
    """Segments that are not deleted or empty."""
    return [
        TalkSentence(each.text, each.start_seconds, each.end_seconds, each.speaker)
        for each in segments
        if not each.deleted and each.text.strip()
    ]


def merge_utterances(talk: Talk) -> list[Utterance]:
    """Non-overlapping utterances in order; sentences are used if there are no words."""
    timed_texts: Sequence[Word | TalkSentence] = talk.words[:MAX_WORDS] or talk.sentences[:MAX_SENTENCES]
    spans = sorted(
        (start, end, each.text)
        for each in timed_texts
        if (start := _clamp(each.start_seconds, talk)) is not None
        and (end := _clamp(max(each.start_seconds, each.end_seconds), talk)) is not None
    )
    result: list[Utterance] = []
    for start, end, text in spans:
        if result and start < result[-1].end_seconds:
            last = result.pop()
            ends_later = end >= last.end_seconds
            result.append(Utterance(last.start_seconds, max(end, last.end_seconds), text if ends_later else last.text))
        else:
            result.append(Utterance(start, end, text))
    return result


def _clamp(seconds: float, talk: Talk) -> float | None:
    return min(max(0.0, seconds), talk.duration_seconds) if math.isfinite(seconds) else None


@dataclass(frozen=True, slots=True)
class SentenceSpans:
    """First and last utterance of each sentence."""

    first: Sequence[int]
    last: Sequence[int]


def sentence_spans(sentences: Sequence[TalkSentence], utterances: Sequence[Utterance]) -> SentenceSpans:
    starts = [each.start_seconds for each in utterances]
    ends = [each.end_seconds for each in utterances]
    first, last = [], []
    for sentence in sentences:
        index = min(bisect_right(ends, sentence.start_seconds + _TOLERANCE_SECONDS), len(utterances) - 1)
        # A zero-length word ends where it starts.
        until = bisect_left(starts, max(sentence.end_seconds - _TOLERANCE_SECONDS, sentence.start_seconds)) - 1
        first.append(index)
        last.append(max(index, until))
    return SentenceSpans(first, last)
