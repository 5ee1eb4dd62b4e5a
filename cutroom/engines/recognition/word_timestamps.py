"""Builds words with consistent timestamps from recognizer tokens: whole, ordered and inside speech."""

import math
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from cutroom.engines.recognition.port import Word
from cutroom.engines.types import TimeSpan

MIN_WORD_SECONDS = 0.04  # minimum duration of a word, where it fits
# Recognizers err by tenths of a second: words this close to speech are kept, words farther away are hallucinated.
MAX_DRIFT_SECONDS = 0.3
INTERPOLATED_FACTOR = 0.5  # confidence penalty for interpolated timestamps

_MILLISECONDS = 1000
_MAX_SKIP = 40  # characters between consecutive words; matches farther off are another occurrence
# Languages written without spaces, where each token is a word.
_UNSPACED_LANGUAGES = frozenset({"zh", "ja", "th", "lo", "my", "yue"})


@dataclass(frozen=True, slots=True)
class RecognizedToken:
    """A token as the recognizer emits it; a leading space marks a word start."""

    text: str
    span: TimeSpan
    probability: float


def uses_spaces(language: str) -> bool:
    return language.partition("-")[0].lower() not in _UNSPACED_LANGUAGES


def align_words(
    tokens: Iterable[RecognizedToken], *, speech: Sequence[TimeSpan], spaced: bool = True
) -> tuple[Word, ...]:
    """Words inside speech, ordered and non-overlapping, with millisecond precision."""
    spans = _merged(speech)
    placed: list[tuple[int, RecognizedToken]] = []
    for token in merge_tokens(tokens, spaced=spaced):
        # Tokens arrive in spoken order, so a start that goes back is wrong.
        earliest, last = (placed[-1][0], placed[-1][1].span) if placed else (0, token.span)
        start = max(token.span.start_seconds, last.start_seconds)
        span = TimeSpan(start, max(token.span.end_seconds, start))
        index = _span_index(span, spans, earliest=earliest)
        if index is not None:
            placed.append((index, replace(token, span=span)))
    words: list[Word] = []
    for index, group in groupby(placed, key=lambda pair: pair[0]):
        words += _fit_to_span([token for _, token in group], *spans[index])
    return tuple(words)


def merge_tokens(tokens: Iterable[RecognizedToken], *, spaced: bool) -> list[RecognizedToken]:
    """Merges tokens to whole words; standalone punctuation attaches to its neighbor."""
    merged: list[RecognizedToken] = []
    opening: RecognizedToken | None = None
    for token in tokens:
        text = token.text.strip()
        if not text or not _is_finite(token):
            continue
        starts_word = token.text[0].isspace() or not merged
        punctuation = not any(character.isalnum() for character in text)
        if punctuation and _is_opening(text[0]):
            opening = replace(token, text=text)
            continue
        if opening is not None:
            text, opening, starts_word = opening.text + text, None, True
        if merged and (_is_silent(text) or (spaced and not starts_word)):
            merged[-1] = _extend(merged[-1], text, token)
        elif not _is_silent(text):
            merged.append(replace(token, text=text))
    return merged


def attach_punctuation(tokens: Sequence[RecognizedToken], text: str) -> list[RecognizedToken]:
    """Restores punctuation from the full text: some servers strip it from the word list."""
    starts: list[int | None] = []
    cursor = 0
    folded = text.lower()
    for token in tokens:
        word = token.text.strip().lower()
        at = folded.find(word, cursor) if word and len(folded) == len(text) else -1
        if at < 0 or at - cursor > _MAX_SKIP:
            starts.append(None)
            continue
        starts.append(at)
        cursor = at + len(word)
    return [_written_form(token, text, starts, index) for index, token in enumerate(tokens)]


def _written_form(token: RecognizedToken, text: str, starts: Sequence[int | None], index: int) -> RecognizedToken:
    start = starts[index]
    if start is None:
        return token
    end = start + len(token.text.strip())
    following = next((each for each in starts[index + 1 :] if each is not None), len(text))
    while end < following and not text[end].isspace() and not _is_opening(text[end]) and not text[end].isalnum():
        end += 1
    while start > 0 and _is_opening(text[start - 1]):
        start -= 1
    # A leading space marks a word start; without one the token continues the previous word.
    space = " " if start == 0 or text[start - 1].isspace() else ""
    return replace(token, text=space + text[start:end])


def uncovered_speech(
    tokens: Iterable[RecognizedToken], *, speech: Sequence[TimeSpan], min_seconds: float
) -> list[TimeSpan]:
    """Speech spans of at least `min_seconds` without any word, which the recognizer skipped."""
    uncovered = []
    words = _merged([token.span for token in tokens if _is_finite(token)])
    for start, end in _merged(speech):
        at = start
        for word_start, word_end in [*words, (end, end)]:
            if min(word_start, end) - at >= min_seconds:
                uncovered.append(TimeSpan(at, min(word_start, end)))
            at = max(at, min(word_end, end))
    return uncovered


def interpolate_words(
    text: str, span: TimeSpan, *, speech: Sequence[TimeSpan], probability: float
) -> list[RecognizedToken]:
    """Distributes words over the speech in `span` in proportion to their length, with a lower probability."""
    spans = [
        (max(start, span.start_seconds), min(end, span.end_seconds))
        for start, end in _merged(speech)
        if start < span.end_seconds and end > span.start_seconds
    ] or [(span.start_seconds, span.end_seconds)]
    total = sum(end - start for start, end in spans)
    words = text.split()
    weights = [len(word) + 1 for word in words]
    scale = total / max(1, sum(weights))
    tokens = []
    elapsed = 0.0
    for word, weight in zip(words, weights, strict=True):
        middle = elapsed + weight * scale / 2
        shift = _shift_at(middle, spans)
        tokens.append(
            RecognizedToken(
                " " + word,
                TimeSpan(elapsed + shift, elapsed + weight * scale + shift),
                probability * INTERPOLATED_FACTOR,
            )
        )
        elapsed += weight * scale
    return tokens


def _shift_at(elapsed: float, spans: Sequence[tuple[float, float]]) -> float:
    """Offset from `elapsed` seconds of speech to recording time."""
    before = 0.0
    for start, end in spans:
        if elapsed <= before + end - start:
            return start - before
        before += end - start
    return spans[-1][1] - before


def _is_finite(token: RecognizedToken) -> bool:
    return all(math.isfinite(each) for each in (token.span.start_seconds, token.span.end_seconds, token.probability))


def _is_opening(character: str) -> bool:
    """Opening brackets and quotation marks, which belong to the next word."""
    return unicodedata.category(character) in {"Ps", "Pi"} or character in "¿¡"


def _is_silent(text: str) -> bool:
    """Punctuation; digits and symbols such as % or & are spoken."""
    return all(not character.isalnum() and character not in "%&@#+=$€£°" for character in text)


def _extend(word: RecognizedToken, text: str, token: RecognizedToken) -> RecognizedToken:
    """Appends text; only spoken text extends the time span."""
    if _is_silent(text):
        return replace(word, text=word.text + text)
    span = TimeSpan(word.span.start_seconds, max(word.span.end_seconds, token.span.end_seconds))
    return RecognizedToken(word.text + text, span, min(word.probability, token.probability))


def _merged(speech: Sequence[TimeSpan]) -> list[tuple[float, float]]:
    merged: list[tuple[float, float]] = []
    for span in sorted(speech, key=lambda each: each.start_seconds):
        if merged and span.start_seconds <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], span.end_seconds))
        elif span.start_seconds < span.end_seconds:
            merged.append((span.start_seconds, span.end_seconds))
    return merged


def _span_index(span: TimeSpan, spans: Sequence[tuple[float, float]], *, earliest: int) -> int | None:
    """Index of the span that overlaps the word most, or of the nearest; ties go to the later, as words start early."""
    best: tuple[float, int] | None = None
    first = bisect_right(spans, (span.start_seconds - MAX_DRIFT_SECONDS, -math.inf)) - 1
    for index in range(max(first, earliest), len(spans)):
        start, end = spans[index]
        if start > span.end_seconds + MAX_DRIFT_SECONDS:
            break
        # Overlap if positive, distance if negative.
        overlap = min(end, span.end_seconds) - max(start, span.start_seconds)
        if overlap >= -MAX_DRIFT_SECONDS and (best is None or overlap >= best[0]):
            best = (overlap, index)
    return best[1] if best else None


def _fit_to_span(tokens: Sequence[RecognizedToken], start_seconds: float, end_seconds: float) -> list[Word]:
    """Fits word times into one span, in integer milliseconds to avoid rounding overlaps."""
    low = math.ceil(start_seconds * _MILLISECONDS)
    high = math.floor(end_seconds * _MILLISECONDS)
    tokens = tokens[: max(0, high - low)]  # at least one millisecond per word
    if not tokens:
        return []
    least = max(1, min(round(MIN_WORD_SECONDS * _MILLISECONDS), (high - low) // len(tokens)))
    starts: list[int] = []
    for index, token in enumerate(tokens):
        preferred = round(token.span.start_seconds * _MILLISECONDS)
        free_from = starts[-1] + least if starts else low
        # Leave the minimum duration for the words that follow.
        starts.append(min(max(preferred, free_from), high - (len(tokens) - index) * least))
    words = []
    for token, start, limit in zip(tokens, starts, [*starts[1:], high], strict=True):
        end = min(max(round(token.span.end_seconds * _MILLISECONDS), start + least), limit)
        probability = min(1.0, max(0.0, token.probability))
        words.append(Word(token.text, start / _MILLISECONDS, end / _MILLISECONDS, probability))
    return words
