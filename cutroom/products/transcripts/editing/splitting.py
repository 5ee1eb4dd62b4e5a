"""Fits known words to edited text, and finds the time at which a segment is split."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from cutroom.products.transcripts.document import DocumentSegment, DocumentWord, rounded
from cutroom.products.transcripts.segmentation import TimedWord
from cutroom.products.transcripts.text_units import split_word

MIN_PART_SECONDS = 0.001
MAX_WORD_COLUMNS = 100
MAX_WORD_SECONDS = 30.0  # the window of a recognizer


@dataclass(frozen=True, slots=True)
class SplitPoint:
    """The end of the segment before a split, and the start of the one after it."""

    end_seconds: float
    start_seconds: float


def word_units(text: str) -> list[str]:
    """The words of a text; in scripts without spaces, its characters."""
    return [unit for word in text.split() for unit in split_word(word, max_columns=MAX_WORD_COLUMNS)]


def words_within(words: Sequence[TimedWord], start_seconds: float, end_seconds: float) -> Sequence[TimedWord]:
    """The words whose middle is in a span; `words` are ordered by their start."""
    first = bisect_left(words, start_seconds - MAX_WORD_SECONDS, key=lambda word: word.start_seconds)
    last = bisect_left(words, end_seconds, key=lambda word: word.start_seconds)
    return [
        word
        for word in words[first:last]
        if start_seconds <= (word.start_seconds + word.end_seconds) / 2 <= end_seconds
    ]


def fit_words(text: str, start_seconds: float, end_seconds: float, *, known: Sequence[TimedWord]) -> list[DocumentWord]:
    """The words of a text with times: those of equal known words, and between them in proportion to their length."""
    units = word_units(text)
    if not units:
        return []
    times = _known_times(units, _in_units(known), start_seconds, end_seconds)
    words: list[DocumentWord] = []
    at = 0
    while at < len(units):
        found = times.get(at)
        if found is not None:
            words.append(DocumentWord(units[at], rounded(found[0]), rounded(found[1])))
            at += 1
            continue
        until = next((later for later in range(at, len(units)) if later in times), len(units))
        begin = words[-1].end_seconds if words else start_seconds
        end = times[until][0] if until < len(units) else end_seconds
        words += _spread(units[at:until], begin, max(begin, end))
        at = until
    return words


def split_point(segment: DocumentSegment, at: int, *, known: Sequence[TimedWord]) -> SplitPoint:
    """Where to split a segment before a character: between the words on both sides of it, or inside of a word."""
    words = fit_words(segment.text, segment.start_seconds, segment.end_seconds, known=known)
    read = 0
    for number, word in enumerate(words):
        begin = segment.text.find(word.text, read)
        read = begin + len(word.text)
        if read <= at:
            continue
        if begin >= at and number:
            return _between(segment, words[number - 1], word)
        return _inside(segment, _moment_in(word, max(0, at - begin)))
    return _inside(segment, segment.end_seconds)


def _between(segment: DocumentSegment, before: DocumentWord, after: DocumentWord) -> SplitPoint:
    end = _clamped(segment, before.end_seconds)
    return SplitPoint(end, max(end, _clamped(segment, after.start_seconds)))


def _inside(segment: DocumentSegment, seconds: float) -> SplitPoint:
    seconds = _clamped(segment, seconds)
    return SplitPoint(seconds, seconds)


def _clamped(segment: DocumentSegment, seconds: float) -> float:
    low, high = segment.start_seconds + MIN_PART_SECONDS, segment.end_seconds - MIN_PART_SECONDS
    return rounded(min(max(seconds, low), high))


def _moment_in(word: DocumentWord, characters: int) -> float:
    share = characters / max(1, len(word.text))
    return word.start_seconds + share * (word.end_seconds - word.start_seconds)


def _in_units(known: Sequence[TimedWord]) -> list[DocumentWord]:
    """Words divided like the text: in scripts without spaces, a recognized word has several characters."""
    divided: list[DocumentWord] = []
    for word in known:
        units = word_units(word.text)
        if len(units) > 1:
            divided += _spread(units, word.start_seconds, word.end_seconds)
        else:
            divided.append(DocumentWord(word.text, word.start_seconds, word.end_seconds))
    return divided


def _known_times(
    units: Sequence[str], known: Sequence[TimedWord], start_seconds: float, end_seconds: float
) -> dict[int, tuple[float, float]]:
    """The times of units that are known words, in order and inside of the span."""
    wanted, given = [word_key(each) for each in units], [word_key(word.text) for word in known]
    blocks = SequenceMatcher(None, wanted, given, autojunk=False).get_matching_blocks()
    times: dict[int, tuple[float, float]] = {}
    reached = start_seconds
    for block in blocks:
        for offset in range(block.size):
            word = known[block.b + offset]
            start = min(max(word.start_seconds, reached), end_seconds)
            end = min(max(word.end_seconds, start), end_seconds)
            times[block.a + offset] = (start, end)
            reached = end
    return times


def _spread(units: Sequence[str], start_seconds: float, end_seconds: float) -> list[DocumentWord]:
    total = sum(len(unit) + 1 for unit in units)
    scale = (end_seconds - start_seconds) / total
    words, at = [], start_seconds
    for unit in units:
        until = at + (len(unit) + 1) * scale
        words.append(DocumentWord(unit, rounded(at), rounded(until)))
        at = until
    return words


def word_key(text: str) -> str:
    """Words are compared by their letters and digits; a word of punctuation only by itself."""
    return "".join(character for character in text.casefold() if character.isalnum()) or text
