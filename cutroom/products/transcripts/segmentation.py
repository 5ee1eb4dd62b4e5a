"""Splits recognized words into transcript segments at sentence ends, pauses and speaker changes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from cutroom.products.transcripts.sentence_boundaries import ends_sentence
from cutroom.products.transcripts.subtitling.line_breaking import BreakPoint, break_points
from cutroom.products.transcripts.text_units import join_words

PAUSE_SECONDS = 1.5  # a longer silence ends a segment
MAX_SECONDS = 20.0
MAX_CHARACTERS = 400


class TimedWord(Protocol):
    """A word with its times, such as a recognizer's."""

    @property
    def text(self) -> str: ...
    @property
    def start_seconds(self) -> float: ...
    @property
    def end_seconds(self) -> float: ...


@dataclass(frozen=True, slots=True)
class TranscriptSegment:
    """At most one sentence of one speaker. If the text is translated or edited, `words` keep the original timing."""

    start_seconds: float
    end_seconds: float
    speaker: str
    text: str
    words: tuple[TimedWord, ...]
    deleted: bool = False


def split_segments(
    words: Sequence[TimedWord], speaker_of: Callable[[TimedWord], str], *, language: str
) -> list[TranscriptSegment]:
    """Split words into segments in order; every word is in exactly one segment."""
    speakers = [speaker_of(word) for word in words]
    found = []
    start = 0
    for end in range(1, len(words) + 1):
        if end == len(words) or speakers[end] != speakers[start] or _is_boundary(words[end - 1], words[end], language):
            found += [
                _segment(run, speakers[start], language=language) for run in _split_long(words[start:end], language)
            ]
            start = end
    return found


def _segment(words: Sequence[TimedWord], speaker: str, *, language: str) -> TranscriptSegment:
    start = min(word.start_seconds for word in words)
    end = max(max(word.end_seconds, word.start_seconds) for word in words)
    text = join_words([word.text for word in words], language=language)
    return TranscriptSegment(start, end, speaker, text, tuple(words))


def _is_boundary(word: TimedWord, after: TimedWord, language: str) -> bool:
    pause = after.start_seconds - word.end_seconds
    return pause > PAUSE_SECONDS or ends_sentence(word.text, after.text, pause_seconds=pause, language=language)


def _split_long(words: Sequence[TimedWord], language: str) -> list[Sequence[TimedWord]]:
    """Split words recursively until each run is short enough, at the best break points."""
    stack, runs = [words], []
    while stack:
        run = stack.pop()
        if len(run) > 1 and _is_long(run):
            split = _best_split(run, language)
            stack += [run[split:], run[:split]]  # the first half is processed next
        else:
            runs.append(run)
    return runs


def _is_long(words: Sequence[TimedWord]) -> bool:
    characters = sum(len(word.text) + 1 for word in words) - 1
    return words[-1].end_seconds - words[0].start_seconds > MAX_SECONDS or characters > MAX_CHARACTERS


_SPLIT_COST = {
    BreakPoint.SENTENCE: 0.0,
    BreakPoint.CLAUSE: 0.1,
    BreakPoint.PHRASE: 0.4,
    BreakPoint.WORD: 0.6,
    BreakPoint.AVOID: 0.9,
    BreakPoint.NEVER: 2.0,
}


def _best_split(words: Sequence[TimedWord], language: str) -> int:
    """The cheapest split: near the middle, at a clause or pause, and not inside a grammatical unit."""
    texts = [word.text for word in words]
    found = break_points(texts, glued=[False] * len(texts), language=language)
    middle, half = len(words) / 2, len(words) / 2

    def cost(at: int) -> float:
        pause = max(0.0, words[at].start_seconds - words[at - 1].end_seconds)
        return _SPLIT_COST[found[at - 1]] + abs(at - middle) / half - min(pause, PAUSE_SECONDS)

    return min(range(1, len(words)), key=cost)
