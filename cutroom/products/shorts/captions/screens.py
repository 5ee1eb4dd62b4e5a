"""Groups words into caption screens of one or two balanced lines, timed to the speech.

A screen ends at a sentence end, a pause or a change of speaker. Between those, dynamic programming finds the cheapest
split: it prefers to break at commas, to fill screens evenly, and to keep words together that belong together.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from cutroom.engines.recognition.port import Word
from cutroom.media.subtitles import clean_text
from cutroom.products.shorts.captions.layout import Typesetter, make_typesetter
from cutroom.products.shorts.captions.styles import STYLES, CaptionStyle
from cutroom.products.transcripts.sentence_boundaries import ends_sentence
from cutroom.products.transcripts.subtitling.line_breaking import BreakPoint, break_points
from cutroom.products.transcripts.text_units import UNSPACED_LANGUAGES, display_width, joins_previous, split_word
from cutroom.text.number_words import EMPTY_LEXICON, LEXICONS
from cutroom.text.numbers import fold_accents
from cutroom.text.writing_systems import primary_language

PAUSE_SECONDS = 0.6
LINGER_SECONDS = 0.3  # maximum display time after the last word
FLICKER_SECONDS = 0.25  # shorter gaps between two screens are closed
MIN_WORD_SECONDS = 0.01  # some ASR engines return words without duration
MIN_SCREEN_SECONDS = 0.5  # shorter screens are hard to read

BREAK_COSTS = {
    BreakPoint.SENTENCE: 0.0,
    BreakPoint.CLAUSE: 1.0,
    BreakPoint.PHRASE: 4.0,
    BreakPoint.WORD: 9.0,
    BreakPoint.AVOID: 18.0,
    BreakPoint.NEVER: 60.0,
}
_SCREEN_COST = 8.0
_LINE_BREAK_FACTOR = 0.25  # cost of a line break relative to a screen break
_SPLIT_UNIT_COST = 15.0  # for a line break inside a name, or between a number and its noun
_UNEVEN_COST = 16.0  # if one line has everything
_EMPTY_COST = 10.0  # of an empty screen
_ORPHAN_COST = 8.0
_SHORT_SCREEN_COST = 10.0
_PAST_CLAUSE_COST = 7.0  # for running past a comma and stopping within the next clause


@dataclass(frozen=True, slots=True)
class CaptionScreen:
    """Lines displayed together in a time range."""

    lines: tuple[tuple[Word, ...], ...]
    start_seconds: float
    end_seconds: float

    @property
    def words(self) -> tuple[Word, ...]:
        return tuple(word for line in self.lines for word in line)


def group_into_screens(
    words: Sequence[Word],
    *,
    caption_style: CaptionStyle,
    width: int,
    height: int,
    language: str,
    speakers: Sequence[str] = (),
) -> tuple[CaptionScreen, ...]:
    """Screens for a frame of this size; `speakers`, if known, gives the speaker of each word."""
    if speakers and len(speakers) != len(words):
        raise ValueError("speakers must have one entry per word")
    style = STYLES[caption_style]
    normalized, word_speakers = _normalize_words(words, speakers, max_columns=style.max_columns)
    if not normalized:
        return ()
    setter = make_typesetter(normalized, style, width=width, height=height, language=language)
    visible = [index for index, word in enumerate(normalized) if setter.text(word)]
    normalized, word_speakers = [normalized[index] for index in visible], [word_speakers[index] for index in visible]
    groups: list[tuple[tuple[Word, ...], ...]] = []
    start = 0
    for end in range(1, len(normalized) + 1):
        if (
            end == len(normalized)
            or word_speakers[end] != word_speakers[end - 1]
            or _is_boundary(normalized[end - 1], normalized[end], language)
        ):
            groups += _ScreenSplitter(normalized[start:end], setter).split()
            start = end
    return _timed(groups)


def _normalize_words(
    words: Sequence[Word], speakers: Sequence[str], *, max_columns: int
) -> tuple[list[Word], list[str]]:
    """Non-empty words in order and without overlaps; combining marks are rejoined with their base."""
    result: list[Word] = []
    word_speakers: list[str] = []
    for index, word in enumerate(words):
        text = clean_text(word.text)
        speaker = speakers[index] if speakers else ""
        if not text:
            continue
        start = max(word.start_seconds, result[-1].start_seconds + MIN_WORD_SECONDS if result else 0.0)
        end = max(word.end_seconds, start + MIN_WORD_SECONDS)
        if result and speaker == word_speakers[-1] and joins_previous(result[-1].text, text[0]):
            result[-1] = replace(result[-1], text=result[-1].text + text, end_seconds=max(end, result[-1].end_seconds))
            continue
        if result and result[-1].end_seconds > start:
            result[-1] = replace(result[-1], end_seconds=start)
        parts = _split_word(replace(word, text=text, start_seconds=start, end_seconds=end), max_columns)
        result += parts
        word_speakers += [speaker] * len(parts)
    return result, word_speakers


def _split_word(word: Word, max_columns: int) -> list[Word]:
    """Splits a word that fits on no screen; the parts share its time."""
    if display_width(word.text) <= max_columns:
        return [word]
    texts = [""]
    for part in split_word(word.text, max_columns=max_columns):
        if texts[-1] and display_width(texts[-1] + part) > max_columns:
            texts.append("")
        texts[-1] += part
    seconds = (word.end_seconds - word.start_seconds) / len(texts)
    starts = [word.start_seconds + seconds * index for index in range(len(texts))]
    return [
        replace(word, text=text, start_seconds=start, end_seconds=start + seconds)
        for text, start in zip(texts, starts, strict=True)
    ]


def _is_boundary(word: Word, next_word: Word, language: str) -> bool:
    pause = next_word.start_seconds - word.end_seconds
    return pause > PAUSE_SECONDS or ends_sentence(word.text, next_word.text, pause_seconds=pause, language=language)


class _ScreenSplitter:
    """Finds the cheapest screens for words without a forced break."""

    def __init__(self, words: Sequence[Word], setter: Typesetter) -> None:
        self._words = words
        self._setter = setter
        self._gaps = [0.0, *(setter.gap(left, right) for left, right in pairwise(words))]
        widths = [gap + setter.width(setter.text(word)) for gap, word in zip(self._gaps, words, strict=True)]
        self._ends = [0.0, *accumulate(widths)]
        glued = [gap == 0 for gap in self._gaps]
        texts = [word.text for word in words]
        rated = break_points(texts, glued=glued, language=setter.language)
        self._breaks = [*_keep_numbers(texts, rated, language=setter.language), BreakPoint.SENTENCE]
        unspaced = primary_language(setter.language) in UNSPACED_LANGUAGES
        style = setter.style
        self._max_words = len(words) if unspaced else style.max_words
        self._max_columns = style.unspaced_columns if unspaced else style.max_columns
        self._columns = [display_width(setter.text(word)) for word in words]

    def split(self) -> list[tuple[tuple[Word, ...], ...]]:
        count = len(self._words)
        costs = [0.0] + [float("inf")] * count
        previous: list[tuple[int, tuple[int, ...]]] = [(0, ())] * (count + 1)
        for end in range(1, count + 1):
            for start in range(end - 1, max(-1, end - 1 - self._max_words), -1):
                split = self._line_split(start, end)
                if split is None:
                    break  # more words fit even less
                cost = costs[start] + self._cost(start, end, split)
                if cost < costs[end]:
                    costs[end], previous[end] = cost, (start, split)
        screens = []
        end = count
        while end:
            start, split = previous[end]
            bounds = [start, *split, end]
            screens.append(tuple(tuple(self._words[left:right]) for left, right in pairwise(bounds)))
            end = start
        return screens[::-1]

    def _line_split(self, start: int, end: int) -> tuple[int, ...] | None:
        """Start of the second line, () for one line, or None if the words do not fit on a screen."""
        if end - start == 1:
            return ()
        if sum(self._columns[start:end]) + end - start - 1 > self._max_columns + (end - start - 1) // 2:
            return None
        max_width = self._setter.max_width
        if self._width(start, end) <= max_width:
            return ()
        if self._setter.style.max_lines == 1:
            return None
        splits = [
            index
            for index in range(start + 1, end)
            if max(self._width(start, index), self._width(index, end)) <= max_width
        ]
        return (min(splits, key=lambda index: self._line_cost(start, index, end)),) if splits else None

    def _line_cost(self, start: int, index: int, end: int) -> float:
        first, second = self._width(start, index), self._width(index, end)
        uneven = abs(first - second) / (first + second)
        cost = _UNEVEN_COST * uneven + _LINE_BREAK_FACTOR * BREAK_COSTS[self._breaks[index - 1]]
        return cost + (_SPLIT_UNIT_COST if self._splits_unit(index) else 0.0)

    def _splits_unit(self, index: int) -> bool:
        left, right = self._words[index - 1].text, self._words[index].text
        is_unit = _is_number(left, self._setter.language) or (left[0].isupper() and right[0].isupper())
        return is_unit and self._breaks[index - 1] is BreakPoint.NEVER

    def _cost(self, start: int, end: int, split: tuple[int, ...]) -> float:
        seconds = self._words[end - 1].end_seconds - self._words[start].start_seconds
        empty = max(0.0, 1 - sum(self._columns[start:end]) / self._max_columns)
        cost = _SCREEN_COST + BREAK_COSTS[self._breaks[end - 1]] + _EMPTY_COST * empty**2
        cost += sum(self._line_cost(start, index, end) for index in split)
        if end - start == 1 and self._columns[start] <= 4:
            cost += _ORPHAN_COST
        if self._breaks[end - 1] > BreakPoint.CLAUSE and BreakPoint.CLAUSE in self._breaks[start : end - 1]:
            cost += _PAST_CLAUSE_COST
        return cost + (_SHORT_SCREEN_COST if seconds < MIN_SCREEN_SECONDS else 0.0)

    def _width(self, start: int, end: int) -> float:
        return self._ends[end] - self._ends[start] - self._gaps[start]


def _keep_numbers(texts: Sequence[str], rated: Sequence[BreakPoint], *, language: str) -> list[BreakPoint]:
    """Keeps number words with the noun that they count, as digits are."""
    return [
        BreakPoint.NEVER if quality is BreakPoint.WORD and _is_number(text, language) else quality
        for text, quality in zip(texts, rated, strict=False)
    ]


def _is_number(text: str, language: str) -> bool:
    lexicon = LEXICONS.get(primary_language(language), EMPTY_LEXICON)
    word = fold_accents(text)
    return word in lexicon.values or word in lexicon.scales or text[-1].isdigit()


def _timed(groups: Sequence[tuple[tuple[Word, ...], ...]]) -> tuple[CaptionScreen, ...]:
    """Shows each screen from its first word until shortly after its last, or until the next one."""
    untimed = [CaptionScreen(lines, lines[0][0].start_seconds, lines[-1][-1].end_seconds) for lines in groups]
    result = []
    for index, screen in enumerate(untimed):
        gap = untimed[index + 1].start_seconds - screen.end_seconds if index + 1 < len(untimed) else float("inf")
        if gap <= LINGER_SECONDS:
            end = untimed[index + 1].start_seconds
        else:
            end = screen.end_seconds + min(LINGER_SECONDS, gap - FLICKER_SECONDS)
        result.append(replace(screen, end_seconds=end))
    return tuple(result)
