"""Transcript segments from recognised words: they follow sentences and speakers, and lose no word."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from cutroom.products.transcripts.grammar import Joint, joints
from cutroom.products.transcripts.scripts import joined
from cutroom.products.transcripts.stops import ends_sentence

PAUSE_SECONDS = 1.5  # a longer silence ends a segment
LONGEST_SECONDS = 20.0
LONGEST_CHARACTERS = 400


class TimedWord(Protocol):
    """A word with its times, such as a recogniser's."""

    @property
    def text(self) -> str: ...
    @property
    def start_seconds(self) -> float: ...
    @property
    def end_seconds(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Segment:
    """What one speaker says, at most a sentence. A translated or edited text keeps the words that were heard: times."""

    start_seconds: float
    end_seconds: float
    speaker: str
    text: str
    words: tuple[TimedWord, ...]
    deleted: bool = False


def segments(words: Sequence[TimedWord], speaker_of: Callable[[TimedWord], str], *, language: str) -> list[Segment]:
    """Segments in order; their words, one after the other, are all the words that were given."""
    speakers = [speaker_of(word) for word in words]
    found = []
    start = 0
    for end in range(1, len(words) + 1):
        if end == len(words) or speakers[end] != speakers[start] or _ends(words[end - 1], words[end], language):
            found += [_segment(part, speakers[start], language=language) for part in _short(words[start:end], language)]
            start = end
    return found


def _segment(words: Sequence[TimedWord], speaker: str, *, language: str) -> Segment:
    start = min(word.start_seconds for word in words)
    end = max(max(word.end_seconds, word.start_seconds) for word in words)
    text = joined([word.text for word in words], language=language)
    return Segment(start, end, speaker, text, tuple(words))


def _ends(word: TimedWord, after: TimedWord, language: str) -> bool:
    pause = after.start_seconds - word.end_seconds
    return pause > PAUSE_SECONDS or ends_sentence(word.text, after.text, pause_seconds=pause, language=language)


def _short(words: Sequence[TimedWord], language: str) -> list[Sequence[TimedWord]]:
    """The words in parts that are short enough, cut where it hurts least."""
    waiting, short = [words], []
    while waiting:
        part = waiting.pop()
        if len(part) > 1 and _is_long(part):
            at = _best_cut(part, language)
            waiting += [part[at:], part[:at]]  # the first is taken next
        else:
            short.append(part)
    return short


def _is_long(words: Sequence[TimedWord]) -> bool:
    characters = sum(len(word.text) + 1 for word in words) - 1
    return words[-1].end_seconds - words[0].start_seconds > LONGEST_SECONDS or characters > LONGEST_CHARACTERS


_HURTS = {
    Joint.SENTENCE: 0.0,
    Joint.CLAUSE: 0.1,
    Joint.PHRASE: 0.4,
    Joint.PLAIN: 0.6,
    Joint.TIGHT: 0.9,
    Joint.NEVER: 2.0,
}


def _best_cut(words: Sequence[TimedWord], language: str) -> int:
    """Near the middle, at a clause or a pause, and never between words that belong together if that can be helped."""
    texts = [word.text for word in words]
    found = joints(texts, glued=[False] * len(texts), language=language)
    middle, half = len(words) / 2, len(words) / 2

    def hurt(at: int) -> float:
        pause = max(0.0, words[at].start_seconds - words[at - 1].end_seconds)
        return _HURTS[found[at - 1]] + abs(at - middle) / half - min(pause, PAUSE_SECONDS)

    return min(range(1, len(words)), key=hurt)
