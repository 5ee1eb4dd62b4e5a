"""Groups words into caption screens of one or two balanced lines that come and go with the speech.

A screen ends where a sentence does, at a pause, and where somebody else speaks. Between those ends the cheapest way
to cut is taken: screens like to end at commas, to be filled evenly, and not to part words that belong together.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from cutroom.engines.recognition.port import Word
from cutroom.media.subtitles import clean_text
from cutroom.products.shorts.captions.layout import Typesetter, typesetter
from cutroom.products.shorts.captions.looks import STYLES, Look
from cutroom.products.transcripts.grammar import Joint, joints
from cutroom.products.transcripts.scripts import SPACELESS, columns, parts_of, stays
from cutroom.products.transcripts.stops import ends_sentence
from cutroom.text.writing_systems import base_of

PAUSE_SECONDS = 0.6
LINGER_SECONDS = 0.3  # at most, after the last word
FLICKER_SECONDS = 0.25  # a shorter gap between two screens is closed
SHORTEST_SECONDS = 0.01  # of a word, for asr_engines that give it no time
FAST_SECONDS = 0.5  # a shorter screen can hardly be read

_SCREEN_END = {
    Joint.SENTENCE: 0.0,
    Joint.CLAUSE: 1.0,
    Joint.PHRASE: 4.0,
    Joint.PLAIN: 9.0,
    Joint.TIGHT: 18.0,
    Joint.NEVER: 60.0,
}
_EACH_SCREEN = 8.0
_LINE_END = 0.25  # of what the same end costs a screen
_UNEVEN = 16.0  # when one line has all
_EMPTY = 10.0  # when a screen has nothing
_LONELY = 8.0
_FAST = 10.0
_RUNNING_ON = 7.0  # past a comma, to stop within the next clause


@dataclass(frozen=True, slots=True)
class Screen:
    """What is shown together, from when to when."""

    lines: tuple[tuple[Word, ...], ...]
    start_seconds: float
    end_seconds: float

    @property
    def words(self) -> tuple[Word, ...]:
        return tuple(word for line in self.lines for word in line)


def group_words(
    words: Sequence[Word], *, look: Look, width: int, height: int, language: str, speakers: Sequence[str] = ()
) -> tuple[Screen, ...]:
    """Screens for a picture of this size; `speakers` names who says each word, if that is known."""
    if speakers and len(speakers) != len(words):
        raise ValueError("Each word needs its speaker.")
    style = STYLES[look]
    tidy, voices = _tidy(words, speakers, most_columns=style.most_columns)
    if not tidy:
        return ()
    setter = typesetter(tidy, style, width=width, height=height, language=language)
    shown = [at for at, word in enumerate(tidy) if setter.text(word)]
    tidy, voices = [tidy[at] for at in shown], [voices[at] for at in shown]
    groups: list[tuple[tuple[Word, ...], ...]] = []
    start = 0
    for end in range(1, len(tidy) + 1):
        if end == len(tidy) or voices[end] != voices[end - 1] or _parts(tidy[end - 1], tidy[end], language):
            groups += _Cutter(tidy[start:end], setter).cut()
            start = end
    return _timed(groups)


def _tidy(words: Sequence[Word], speakers: Sequence[str], *, most_columns: int) -> tuple[list[Word], list[str]]:
    """Words that hold something, in order and one after the other; marks rejoin what they stand on."""
    found: list[Word] = []
    voices: list[str] = []
    for at, word in enumerate(words):
        text = clean_text(word.text)
        voice = speakers[at] if speakers else ""
        if not text:
            continue
        start = max(word.start_seconds, found[-1].start_seconds + SHORTEST_SECONDS if found else 0.0)
        end = max(word.end_seconds, start + SHORTEST_SECONDS)
        if found and voice == voices[-1] and stays(found[-1].text, text[0]):
            found[-1] = replace(found[-1], text=found[-1].text + text, end_seconds=max(end, found[-1].end_seconds))
            continue
        if found and found[-1].end_seconds > start:
            found[-1] = replace(found[-1], end_seconds=start)
        parts = _split(replace(word, text=text, start_seconds=start, end_seconds=end), most_columns)
        found += parts
        voices += [voice] * len(parts)
    return found, voices


def _split(word: Word, most_columns: int) -> list[Word]:
    """A word that no screen could hold, in parts that share its time."""
    if columns(word.text) <= most_columns:
        return [word]
    texts = [""]
    for part in parts_of(word.text, most_columns=most_columns):
        if texts[-1] and columns(texts[-1] + part) > most_columns:
            texts.append("")
        texts[-1] += part
    seconds = (word.end_seconds - word.start_seconds) / len(texts)
    starts = [word.start_seconds + seconds * at for at in range(len(texts))]
    return [
        replace(word, text=text, start_seconds=start, end_seconds=start + seconds)
        for text, start in zip(texts, starts, strict=True)
    ]


def _parts(word: Word, after: Word, language: str) -> bool:
    pause = after.start_seconds - word.end_seconds
    return pause > PAUSE_SECONDS or ends_sentence(word.text, after.text, pause_seconds=pause, language=language)


class _Cutter:
    """Finds the cheapest screens for words that have no end between them."""

    def __init__(self, words: Sequence[Word], setter: Typesetter) -> None:
        self._words = words
        self._setter = setter
        self._gaps = [0.0, *(setter.gap(left, right) for left, right in pairwise(words))]
        widths = [gap + setter.width(setter.text(word)) for gap, word in zip(self._gaps, words, strict=True)]
        self._ends = [0.0, *accumulate(widths)]
        glued = [gap == 0 for gap in self._gaps]
        texts = [word.text for word in words]
        self._joints = [*joints(texts, glued=glued, language=setter.language), Joint.SENTENCE]
        unspaced = base_of(setter.language) in SPACELESS
        style = setter.style
        self._most_words = len(words) if unspaced else style.most_words
        self._most_columns = style.unspaced_columns if unspaced else style.most_columns
        self._columns = [columns(setter.text(word)) for word in words]

    def cut(self) -> list[tuple[tuple[Word, ...], ...]]:
        count = len(self._words)
        costs = [0.0] + [float("inf")] * count
        came: list[tuple[int, tuple[int, ...]]] = [(0, ())] * (count + 1)
        for end in range(1, count + 1):
            for start in range(end - 1, max(-1, end - 1 - self._most_words), -1):
                split = self._split_of(start, end)
                if split is None:
                    break  # with more words it fits still less
                cost = costs[start] + self._cost(start, end, split)
                if cost < costs[end]:
                    costs[end], came[end] = cost, (start, split)
        screens = []
        end = count
        while end:
            start, split = came[end]
            edges = [start, *split, end]
            screens.append(tuple(tuple(self._words[left:right]) for left, right in pairwise(edges)))
            end = start
        return screens[::-1]

    def _split_of(self, start: int, end: int) -> tuple[int, ...] | None:
        """Where the second line starts, if there is one; nothing if the words do not fit on a screen."""
        if end - start == 1:
            return ()
        if sum(self._columns[start:end]) + end - start - 1 > self._most_columns + (end - start - 1) // 2:
            return None
        most = self._setter.most_width
        if self._width(start, end) <= most:
            return ()
        if self._setter.style.most_lines == 1:
            return None
        splits = [at for at in range(start + 1, end) if max(self._width(start, at), self._width(at, end)) <= most]
        return (min(splits, key=lambda at: self._line_cost(start, at, end)),) if splits else None

    def _line_cost(self, start: int, at: int, end: int) -> float:
        first, second = self._width(start, at), self._width(at, end)
        uneven = abs(first - second) / (first + second)
        return _UNEVEN * uneven + _LINE_END * _SCREEN_END[self._joints[at - 1]]

    def _cost(self, start: int, end: int, split: tuple[int, ...]) -> float:
        seconds = self._words[end - 1].end_seconds - self._words[start].start_seconds
        empty = max(0.0, 1 - sum(self._columns[start:end]) / self._most_columns)
        cost = _EACH_SCREEN + _SCREEN_END[self._joints[end - 1]] + _EMPTY * empty**2
        cost += sum(self._line_cost(start, at, end) for at in split)
        if end - start == 1 and self._columns[start] <= 4:
            cost += _LONELY
        if self._joints[end - 1] > Joint.CLAUSE and Joint.CLAUSE in self._joints[start : end - 1]:
            cost += _RUNNING_ON
        return cost + (_FAST if seconds < FAST_SECONDS else 0.0)

    def _width(self, start: int, end: int) -> float:
        return self._ends[end] - self._ends[start] - self._gaps[start]


def _timed(groups: Sequence[tuple[tuple[Word, ...], ...]]) -> tuple[Screen, ...]:
    """Each screen starts with its first word and stays a moment after its last, unless the next one comes."""
    bare = [Screen(lines, lines[0][0].start_seconds, lines[-1][-1].end_seconds) for lines in groups]
    found = []
    for at, screen in enumerate(bare):
        gap = bare[at + 1].start_seconds - screen.end_seconds if at + 1 < len(bare) else float("inf")
        if gap <= LINGER_SECONDS:
            end = bare[at + 1].start_seconds
        else:
            end = screen.end_seconds + min(LINGER_SECONDS, gap - FLICKER_SECONDS)
        found.append(replace(screen, end_seconds=end))
    return tuple(found)
