"""Assigns times to the units of a segment's text: exact word times, or an interpolation for translated text."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from cutroom.media.subtitles import clean_text
from cutroom.products.transcripts.segmentation import TimedWord, TranscriptSegment
from cutroom.products.transcripts.subtitling.line_breaking import BreakPoint, break_points
from cutroom.products.transcripts.text_units import display_width, split_word

PAUSE_SECONDS = 0.2  # shorter silences count as speech
# A pause is dropped if keeping it would speed up the text on either side by more than this factor.
MAX_SPEEDUP = 1.4
SEARCH_UNITS = 8  # units searched on both sides of a pause for a good break
# Penalty of each break quality, as a share of the segment's duration.
_BREAK_PENALTY = {
    BreakPoint.SENTENCE: 0.0,
    BreakPoint.CLAUSE: 0.01,
    BreakPoint.PHRASE: 0.05,
    BreakPoint.WORD: 0.08,
    BreakPoint.AVOID: 0.15,
    BreakPoint.NEVER: 1.0,
}


@dataclass(frozen=True, slots=True)
class TimedText:
    """The smallest unit of text that can be on its own line; a glued unit has no space before it."""

    text: str
    start_seconds: float
    end_seconds: float
    glued: bool = False


def timed_texts(segment: TranscriptSegment, *, language: str, max_columns: int) -> list[TimedText]:
    """A segment's text with times: exact if the text matches the recognized words, otherwise interpolated."""
    units = split_text(segment.text, max_columns)
    exact = _exact_times(units, segment.words)
    if exact is not None:
        return exact
    pauses = [(left.end_seconds, right.start_seconds) for left, right in pairwise(segment.words)]
    return _interpolate(units, (segment.start_seconds, segment.end_seconds), pauses=pauses, language=language)


def interpolate_text(
    text: str,
    span: tuple[float, float],
    *,
    pauses: Sequence[tuple[float, float]],
    language: str,
    max_columns: int,
) -> list[TimedText]:
    """Times in proportion to text width; the source's pauses are kept at good break points."""
    return _interpolate(split_text(text, max_columns), span, pauses=pauses, language=language)


def split_text(text: str, max_columns: int) -> list[tuple[str, bool]]:
    """The units of a text, and whether each is glued to the previous one."""
    words = clean_text(text).split(" ")
    return [
        (unit, at > 0) for word in words for at, unit in enumerate(split_word(word, max_columns=max_columns)) if unit
    ]


def _exact_times(units: Sequence[tuple[str, bool]], words: Sequence[TimedWord]) -> list[TimedText] | None:
    """Units with the times of their words, or None if the text differs from the words."""
    times: list[tuple[float, float]] = []  # per character
    spoken = []
    for word in words:
        text = clean_text(word.text).replace(" ", "")
        spoken.append(text)
        step = max(0.0, word.end_seconds - word.start_seconds) / max(1, len(text))
        times += [(word.start_seconds + at * step, word.start_seconds + (at + 1) * step) for at in range(len(text))]
    if "".join(spoken) != "".join(unit for unit, _ in units):
        return None
    timed = []
    at = 0
    for unit, glued in units:
        timed.append(TimedText(unit, times[at][0], times[at + len(unit) - 1][1], glued=glued))
        at += len(unit)
    return timed


def _interpolate(
    units: Sequence[tuple[str, bool]],
    span: tuple[float, float],
    *,
    pauses: Sequence[tuple[float, float]],
    language: str,
) -> list[TimedText]:
    if not units:
        return []
    # Speaking time is proportional to width, plus one column for the space.
    ends = list(accumulate(max(1, display_width(unit)) + (not glued) for unit, glued in units))
    timed: list[TimedText] = []
    first, start, weight = 0, span[0], 0
    for last, pause in [
        *_place_pauses(units, ends, span, pauses=pauses, language=language),
        (len(units) - 1, (span[1],) * 2),
    ]:
        share = max(0.0, pause[0] - start) / max(1, ends[last] - weight)
        for at in range(first, last + 1):
            text, glued = units[at]
            before = ends[at - 1] if at > first else weight
            timed.append(
                TimedText(text, start + share * (before - weight), start + share * (ends[at] - weight), glued=glued)
            )
        first, start, weight = last + 1, pause[1], ends[last]
    return timed


def _place_pauses(
    units: Sequence[tuple[str, bool]],
    ends: Sequence[int],
    span: tuple[float, float],
    *,
    pauses: Sequence[tuple[float, float]],
    language: str,
) -> list[tuple[int, tuple[float, float]]]:
    """The pauses that can be kept, each with the index of the unit before it."""
    silences = [
        (start, end) for start, end in pauses if end - start >= PAUSE_SECONDS and span[0] < start < end < span[1]
    ]
    speech = span[1] - span[0] - sum(end - start for start, end in silences)
    if not silences or speech <= 0:
        return []
    total = ends[-1]
    found = break_points([text for text, _ in units], glued=[glued for _, glued in units], language=language)
    placed: list[tuple[int, tuple[float, float]]] = []
    silent, last, last_share, last_time = 0.0, -1, 0.0, 0.0
    for start, end in silences:
        time = (start - span[0] - silent) / speech  # share of the speech before this pause
        silent += end - start
        middle = bisect_left(ends, time * total)
        near = range(max(last + 1, middle - SEARCH_UNITS), min(len(units) - 1, middle + SEARCH_UNITS))
        if not near:
            continue
        _, best = min((abs(ends[at] / total - time) + _BREAK_PENALTY[found[at]], at) for at in near)
        share = ends[best] / total
        if share - last_share <= MAX_SPEEDUP * (time - last_time) and 1 - share <= MAX_SPEEDUP * (1 - time):
            placed.append((best, (start, end)))
            last, last_share, last_time = best, share, time
    return placed
