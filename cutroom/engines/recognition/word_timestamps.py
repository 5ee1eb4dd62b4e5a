"""Makes words with trustworthy times of what an engine heard: whole words, in order, inside the speech."""

import math
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from cutroom.engines.recognition.port import Word
from cutroom.engines.types import TimeSpan

MIN_WORD_SECONDS = 0.04  # what a word gets at least, where there is room
# Engines err by some tenths of a second: a word this near to speech was said in it, one farther away was made up.
MAX_DRIFT_SECONDS = 0.3
SPREAD_FACTOR = 0.5  # how much less a word is trusted whose time is only reckoned

_MILLISECONDS = 1000
_MAX_SKIP = 40  # characters of text between two words; what is found farther off is another word of the same spelling
# Languages written without blanks: there each part that an engine gives stands for itself.
_WITHOUT_BLANKS = frozenset({"zh", "ja", "th", "lo", "my", "yue"})


@dataclass(frozen=True, slots=True)
class Heard:
    """A part of a text as an engine gives it; a blank in front says that a word begins."""

    text: str
    span: TimeSpan
    probability: float


def uses_blanks(language: str) -> bool:
    return language.partition("-")[0].lower() not in _WITHOUT_BLANKS


def tidy_words(heard: Iterable[Heard], *, speech: Sequence[TimeSpan], blanks: bool = True) -> tuple[Word, ...]:
    """The words that lie in speech, in order, none overlapping another, to the millisecond."""
    stretches = _merged(speech)
    placed: list[tuple[int, Heard]] = []
    for part in join_parts(heard, blanks=blanks):
        # Engines give words in the order in which they were said: a time that goes back is wrong.
        earliest, last = (placed[-1][0], placed[-1][1].span) if placed else (0, part.span)
        start = max(part.span.start_seconds, last.start_seconds)
        span = TimeSpan(start, max(part.span.end_seconds, start))
        index = _stretch_of(span, stretches, earliest=earliest)
        if index is not None:
            placed.append((index, replace(part, span=span)))
    words: list[Word] = []
    for index, group in groupby(placed, key=lambda pair: pair[0]):
        words += _fit([part for _, part in group], *stretches[index])
    return tuple(words)


def join_parts(heard: Iterable[Heard], *, blanks: bool) -> list[Heard]:
    """Whole words without blanks around them; punctuation that stands alone goes to its neighbour."""
    joined: list[Heard] = []
    opening: Heard | None = None
    for part in heard:
        text = part.text.strip()
        if not text or not _is_sound(part):
            continue
        begins = part.text[0].isspace() or not joined
        bare = not any(character.isalnum() for character in text)
        if bare and _opens(text[0]):
            opening = replace(part, text=text)
            continue
        if opening is not None:
            text, opening, begins = opening.text + text, None, True
        # A number or a sign such as % or & is said; what else has no letter is not.
        if joined and (_is_silent(text) or (blanks and not begins)):
            joined[-1] = _grown(joined[-1], text, part)
        elif not _is_silent(text):
            joined.append(replace(part, text=text))
    return joined


def attach_punctuation(heard: Sequence[Heard], text: str) -> list[Heard]:
    """The same words as they are written in the text: some servers give words bare and the punctuation in the text."""
    starts: list[int | None] = []
    cursor = 0
    folded = text.lower()
    for part in heard:
        word = part.text.strip().lower()
        at = folded.find(word, cursor) if word and len(folded) == len(text) else -1
        if at < 0 or at - cursor > _MAX_SKIP:
            starts.append(None)
            continue
        starts.append(at)
        cursor = at + len(word)
    return [_as_written(part, text, starts, index) for index, part in enumerate(heard)]


def _as_written(part: Heard, text: str, starts: Sequence[int | None], index: int) -> Heard:
    start = starts[index]
    if start is None:
        return part
    end = start + len(part.text.strip())
    following = next((each for each in starts[index + 1 :] if each is not None), len(text))
    while end < following and not text[end].isspace() and not _opens(text[end]) and not text[end].isalnum():
        end += 1
    while start > 0 and _opens(text[start - 1]):
        start -= 1
    # A blank before it keeps it apart from the word before; without one it is the rest of that word.
    blank = " " if start == 0 or text[start - 1].isspace() else ""
    return replace(part, text=blank + text[start:end])


def unheard(heard: Iterable[Heard], *, speech: Sequence[TimeSpan], least_seconds: float) -> list[TimeSpan]:
    """Stretches of speech, of this length at least, in which there is no word: engines skip what they do not like."""
    found = []
    words = _merged([part.span for part in heard if _is_sound(part)])
    for start, end in _merged(speech):
        at = start
        for word_start, word_end in [*words, (end, end)]:
            if min(word_start, end) - at >= least_seconds:
                found.append(TimeSpan(at, min(word_start, end)))
            at = max(at, min(word_end, end))
    return found


def spread_words(text: str, span: TimeSpan, *, speech: Sequence[TimeSpan], probability: float) -> list[Heard]:
    """Words of which only the sentence has a time, laid over its speech by their length.

    Their probability is lowered, for it stands for the whole word, of which the time is a part.
    """
    stretches = [
        (max(start, span.start_seconds), min(end, span.end_seconds))
        for start, end in _merged(speech)
        if start < span.end_seconds and end > span.start_seconds
    ] or [(span.start_seconds, span.end_seconds)]
    total = sum(end - start for start, end in stretches)
    words = text.split()
    weights = [len(word) + 1 for word in words]
    scale = total / max(1, sum(weights))
    heard = []
    passed = 0.0
    for word, weight in zip(words, weights, strict=True):
        middle = passed + weight * scale / 2
        shift = _shift_at(middle, stretches)
        heard.append(
            Heard(" " + word, TimeSpan(passed + shift, passed + weight * scale + shift), probability * SPREAD_FACTOR)
        )
        passed += weight * scale
    return heard


def _shift_at(passed: float, stretches: Sequence[tuple[float, float]]) -> float:
    """How much later than `passed` seconds of speech the clock is."""
    before = 0.0
    for start, end in stretches:
        if passed <= before + end - start:
            return start - before
        before += end - start
    return stretches[-1][1] - before


def _is_sound(part: Heard) -> bool:
    return all(math.isfinite(each) for each in (part.span.start_seconds, part.span.end_seconds, part.probability))


def _opens(character: str) -> bool:
    """Brackets and quotation marks that belong to what follows."""
    return unicodedata.category(character) in {"Ps", "Pi"} or character in "¿¡"


def _is_silent(text: str) -> bool:
    return all(not character.isalnum() and character not in "%&@#+=$€£°" for character in text)


def _grown(word: Heard, text: str, part: Heard) -> Heard:
    """Punctuation takes no time of its own; the rest of a word does."""
    if _is_silent(text):
        return replace(word, text=word.text + text)
    span = TimeSpan(word.span.start_seconds, max(word.span.end_seconds, part.span.end_seconds))
    return Heard(word.text + text, span, min(word.probability, part.probability))


def _merged(speech: Sequence[TimeSpan]) -> list[tuple[float, float]]:
    merged: list[tuple[float, float]] = []
    for span in sorted(speech, key=lambda each: each.start_seconds):
        if merged and span.start_seconds <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], span.end_seconds))
        elif span.start_seconds < span.end_seconds:
            merged.append((span.start_seconds, span.end_seconds))
    return merged


def _stretch_of(span: TimeSpan, stretches: Sequence[tuple[float, float]], *, earliest: int) -> int | None:
    """The stretch that holds most of the word, or the nearest; of two alike the later, since words start early."""
    best: tuple[float, int] | None = None
    first = bisect_right(stretches, (span.start_seconds - MAX_DRIFT_SECONDS, -math.inf)) - 1
    for index in range(max(first, earliest), len(stretches)):
        start, end = stretches[index]
        if start > span.end_seconds + MAX_DRIFT_SECONDS:
            break
        # Positive inside, negative outside: how much they share, or how far they are apart.
        shared = min(end, span.end_seconds) - max(start, span.start_seconds)
        if shared >= -MAX_DRIFT_SECONDS and (best is None or shared >= best[0]):
            best = (shared, index)
    return best[1] if best else None


def _fit(parts: Sequence[Heard], start_seconds: float, end_seconds: float) -> list[Word]:
    """Times inside one stretch; in whole milliseconds, so that nothing is lost by rounding."""
    low = math.ceil(start_seconds * _MILLISECONDS)
    high = math.floor(end_seconds * _MILLISECONDS)
    parts = parts[: max(0, high - low)]  # a word takes a millisecond at least
    if not parts:
        return []
    least = max(1, min(round(MIN_WORD_SECONDS * _MILLISECONDS), (high - low) // len(parts)))
    starts: list[int] = []
    for index, part in enumerate(parts):
        wanted = round(part.span.start_seconds * _MILLISECONDS)
        free_from = starts[-1] + least if starts else low
        # The words that follow need their room too.
        starts.append(min(max(wanted, free_from), high - (len(parts) - index) * least))
    words = []
    for part, start, limit in zip(parts, starts, [*starts[1:], high], strict=True):
        end = min(max(round(part.span.end_seconds * _MILLISECONDS), start + least), limit)
        probability = min(1.0, max(0.0, part.probability))
        words.append(Word(part.text, start / _MILLISECONDS, end / _MILLISECONDS, probability))
    return words
