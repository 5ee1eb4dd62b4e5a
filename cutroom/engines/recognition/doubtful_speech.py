"""Decides which speech to recognize again on the separated voice, and merges both results word by word."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from cutroom.engines.recognition.port import Word
from cutroom.engines.types import SAMPLE_RATE, TimeSpan

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

MIN_MEAN_PROBABILITY = 0.7  # geometric mean of the words in a speech span
MIN_FIRST_PROBABILITY = 0.85  # of a span's first word, over a background
MAX_ONSET_SECONDS = 0.25  # from the start of speech to the first word, over a background
MIN_WORDLESS_SECONDS = 0.6  # speech of this length has a word
# Words that only one result has are kept from this geometric mean.
MIN_INSERTED_PROBABILITY = 0.4
BACKGROUND_DB = -30.0  # level of pauses below speech from which there is music or noise under it

_FRAME_SECONDS = 0.05
_QUIET_QUANTILE, _LOUD_QUANTILE = 0.05, 0.9
_TINY = 1e-10
_MIN_PROBABILITY = 1e-3  # bounds the logarithm


def has_background(samples: "Samples") -> bool:
    """Whether the quietest frames are loud enough to be music or noise; true if there is no pause to measure."""
    import numpy as np  # noqa: PLC0415 - the API process imports this module without it

    frame = round(_FRAME_SECONDS * SAMPLE_RATE)
    count = len(samples) // frame
    if not count:
        return False
    power = np.square(samples[: count * frame].reshape(count, frame)).mean(axis=1)
    quiet, loud = np.quantile(power, [_QUIET_QUANTILE, _LOUD_QUANTILE])
    return bool(10 * math.log10((quiet + _TINY) / (loud + _TINY)) > BACKGROUND_DB)


def doubtful_spans(words: Sequence[Word], speech: Sequence[TimeSpan], *, background: bool) -> list[TimeSpan]:
    """Speech spans to recognize again; none without any word, because voice activity is then mistaken."""
    if not words:
        return []
    found = []
    for span in speech:
        inside = words[slice(*word_range(words, span))]
        if not inside:
            doubtful = span.end_seconds - span.start_seconds >= MIN_WORDLESS_SECONDS
        else:
            doubtful = math.exp(mean_log_probability(inside)) < MIN_MEAN_PROBABILITY
            doubtful |= background and _may_lack_first_word(inside[0], span)
        if doubtful:
            found.append(span)
    return found


def _may_lack_first_word(first: Word, span: TimeSpan) -> bool:
    late = first.start_seconds - span.start_seconds > MAX_ONSET_SECONDS
    return late or first.probability < MIN_FIRST_PROBABILITY


def word_range(words: Sequence[Word], span: TimeSpan) -> tuple[int, int]:
    """Index range of the words whose midpoint is inside the span; words are ordered."""

    def middle(word: Word) -> float:
        return (word.start_seconds + word.end_seconds) / 2

    first = bisect_left(words, span.start_seconds, key=middle)
    return first, bisect_left(words, span.end_seconds, lo=first, key=middle)


def mean_log_probability(words: Sequence[Word]) -> float:
    return sum(math.log(max(_MIN_PROBABILITY, word.probability)) for word in words) / len(words)


def merge_spans(first: Sequence[Word], second: Sequence[Word], spans: Sequence[TimeSpan]) -> list[Word]:
    """Words of `first`, merged with those of `second` inside the spans."""
    merged: list[Word] = []
    at = 0
    for span in spans:
        start, end = word_range(first, span)
        merged += first[at:start]
        merged += merge_words(first[start:end], second[slice(*word_range(second, span))])
        at = end
    return [*merged, *first[at:]]


def merge_words(first: Sequence[Word], second: Sequence[Word]) -> list[Word]:
    """Combines two recognitions of the same speech.

    Where they differ, the words with the higher mean log probability are kept, and `first` on a tie. Words that only
    one of them has are kept if they are probable enough.
    """
    matcher = SequenceMatcher(None, [_key(word) for word in first], [_key(word) for word in second], autojunk=False)
    merged: list[Word] = []
    from_second = False
    for kind, start, end, other_start, other_end in matcher.get_opcodes():
        own, other = first[start:end], second[other_start:other_end]
        if kind != "equal":
            from_second = _prefers_second(own, other)
        # Words after a change are written as in its source: a word that is no longer the first loses its capital.
        merged += other if from_second else own
    return merged


def _prefers_second(first: Sequence[Word], second: Sequence[Word]) -> bool:
    if not first:
        return mean_log_probability(second) >= math.log(MIN_INSERTED_PROBABILITY)
    if not second:
        return mean_log_probability(first) < math.log(MIN_INSERTED_PROBABILITY)
    return mean_log_probability(second) > mean_log_probability(first)


def _key(word: Word) -> str:
    """Letters and digits only: case and punctuation are no difference."""
    return "".join(character for character in word.text.casefold() if character.isalnum())
