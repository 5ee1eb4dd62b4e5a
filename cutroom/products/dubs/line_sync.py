"""Fits synthesized lines to the timing of the source lines: the wording, the tempo and the start time of each.

A line keeps its source start. If it would be much longer than the source line, a shorter wording is used. Then its
tempo is adjusted between MIN_TEMPO and MAX_TEMPO to match the duration of the source line. If that is not enough, the
voice speaks it faster or slower. If that is not enough either, the line extends into the silence that follows, but
never into the next line.
"""

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from cutroom.media.cutting.spans import Span, clip_spans, total_seconds
from cutroom.text.speech_normalization import normalize_for_speech

MIN_NATURAL, MAX_NATURAL = 0.9, 1.2  # duration relative to the slot, before the tempo is changed
MIN_TEMPO, MAX_TEMPO = 0.85, 1.25
MIN_SPEAKING_RATE, MAX_SPEAKING_RATE = 0.9, 1.2  # of the voice, relative to its natural speed
GAP_SECONDS = 0.06  # kept free before the next line
MAX_DELAY_SECONDS = 0.1  # a line may start this much late if the previous line overruns
MAX_ADVANCE_SECONDS = 0.1  # a line may start this much early if it overruns itself
MAX_BORROWED_SECONDS = 3.0
SLOT_TOLERANCE = 0.1  # relative duration difference within which a line counts as fitting
FITTED_EXCESS = 0.07  # by which a line that the voice speaks faster may still exceed its slot
MIN_SLOT_SECONDS = 0.25
MAX_WORDINGS = 4  # candidate texts that are synthesized for one line

# Speaking rate at natural speed, measured with Kokoro: a constant overhead per utterance, which makes short lines
# relatively slower, plus a number of characters per second that depends on the language.
UTTERANCE_SECONDS = 0.25
CHARACTERS_PER_SECOND = {"en": 19.8, "pt": 18.6, "es": 18.6, "fr": 18.6, "it": 18.6}
DEFAULT_CHARACTERS_PER_SECOND = 18.8


@dataclass(frozen=True, slots=True)
class Slot:
    """The time range of a source line, and the latest time its replacement may end."""

    start_seconds: float
    end_seconds: float
    latest_end_seconds: float

    @property
    def seconds(self) -> float:
        return max(self.end_seconds - self.start_seconds, MIN_SLOT_SECONDS)

    @property
    def max_seconds(self) -> float:
        return max(self.latest_end_seconds - self.start_seconds, MIN_SLOT_SECONDS)


def line_slots(spans: Sequence[Span], *, until_seconds: float, deleted: Sequence[Span] = ()) -> list[Slot]:
    """Slots for source lines ordered by start; a slot is shortened where the next line overlaps it.

    The time of deleted words is not lent to a line, because it may be cut out.
    """
    slots = []
    for index, (start, end) in enumerate(spans):
        next_start = spans[index + 1][0] if index + 1 < len(spans) else until_seconds + GAP_SECONDS
        latest_end = min(next_start - GAP_SECONDS, end + MAX_BORROWED_SECONDS, until_seconds)
        slot_end = min(end, max(latest_end, start))
        if latest_end > slot_end:
            latest_end = max(slot_end, latest_end - _deleted_seconds(deleted, start, latest_end))
        slots.append(Slot(start, slot_end, max(latest_end, start)))
    return slots


def _deleted_seconds(deleted: Sequence[Span], start: float, end: float) -> float:
    """How much of a range of time is deleted; the spans are in order and apart."""
    first = max(0, bisect_right(deleted, (start, start)) - 1)
    last = bisect_right(deleted, (end, end))
    return total_seconds(clip_spans(deleted[first:last], start, end))


def is_natural_fit(seconds: float, slot_seconds: float) -> bool:
    """Whether speech at natural speed needs little or no change of tempo."""
    return MIN_NATURAL * slot_seconds <= seconds <= MAX_NATURAL * slot_seconds


def is_likely_too_long(text: str, slot: Slot, *, language: str, tempo: float = MAX_NATURAL) -> bool:
    """Whether the text is unlikely to fit its slot at a tempo, so that shorter wordings are worth preparing."""
    return natural_seconds(text, language=language) / tempo > slot.seconds


def natural_seconds(text: str, *, language: str) -> float:
    """Estimated duration at natural speed; numbers, symbols and abbreviations count as the words that are spoken."""
    return UTTERANCE_SECONDS + len(normalize_for_speech(text, language)) / characters_per_second(language)


def max_characters(slot: Slot, *, language: str) -> int:
    """Characters that fit a slot naturally: the inverse of the estimate above, for text without numbers."""
    return max(1, int(characters_per_second(language) * (slot.seconds * MAX_NATURAL - UTTERANCE_SECONDS)))


def characters_per_second(language: str) -> float:
    return CHARACTERS_PER_SECOND.get(language.partition("-")[0], DEFAULT_CHARACTERS_PER_SECOND)


@dataclass(frozen=True, slots=True)
class LineFit:
    """The tempo of a line and its resulting duration."""

    tempo: float
    seconds: float


def fit_line(natural_seconds: float, slot: Slot) -> LineFit:
    """Match the slot's duration; only extend into the following silence when MAX_TEMPO is not enough."""
    tempo = min(max(natural_seconds / slot.seconds, MIN_TEMPO), MAX_TEMPO)
    if natural_seconds / tempo > slot.max_seconds:
        tempo = min(max(natural_seconds / slot.max_seconds, MIN_TEMPO), MAX_TEMPO)
    return LineFit(round(tempo, 4), natural_seconds / tempo)


def fits_slot(natural_seconds: float, slot: Slot) -> bool:
    """Whether the tempo alone makes the duration that of the slot, within the tolerance."""
    return abs(fit_line(natural_seconds, slot).seconds / slot.seconds - 1) <= SLOT_TOLERANCE


def speaking_rate(natural_seconds: float, slot: Slot) -> float:
    """How fast the voice has to speak so that the tempo does the rest; 1 if the tempo is enough.

    Speech is the clearer the less it is sped up, so that the line is made to fit just within the tolerance.
    """
    ratio = natural_seconds / slot.seconds
    if MIN_TEMPO * (1 - SLOT_TOLERANCE) <= ratio <= MAX_TEMPO * (1 + SLOT_TOLERANCE):
        return 1.0
    rate = ratio / (MAX_TEMPO * (1 + FITTED_EXCESS) if ratio > 1 else MIN_TEMPO * (1 - FITTED_EXCESS))
    return round(min(max(rate, MIN_SPEAKING_RATE), MAX_SPEAKING_RATE), 2)


def next_wording(texts: Sequence[str], spoken_seconds: Mapping[int, float], slot: Slot, *, language: str) -> int | None:
    """Index of the candidate text to synthesize next, given the duration of those that were synthesized.

    Returns None as soon as one fits naturally, or if no other is expected to come closer. Expected durations are the
    estimates of `natural_seconds`, corrected by how the voice spoke the first text.
    """
    if not spoken_seconds:
        return 0
    closest = min(_tempo_excess(seconds, slot) for seconds in spoken_seconds.values())
    if closest == 1 or len(spoken_seconds) >= MAX_WORDINGS:
        return None
    correction = spoken_seconds[0] / natural_seconds(texts[0], language=language)
    expected = {
        index: _tempo_excess(correction * natural_seconds(text, language=language), slot)
        for index, text in enumerate(texts)
        if index not in spoken_seconds
    }
    best = min(expected, key=lambda index: (expected[index], index), default=None)
    return best if best is not None and expected[best] < closest else None


def best_wording(spoken_seconds: Mapping[int, float], slot: Slot) -> int:
    """Index of the synthesized text that needs the least change of tempo; the earlier one of equals."""
    return min(spoken_seconds, key=lambda index: (_tempo_excess(spoken_seconds[index], slot), index))


def _tempo_excess(seconds: float, slot: Slot) -> float:
    """How far speech at natural speed is from fitting: 1 if it fits, and more the more its tempo has to change."""
    ratio = seconds / slot.seconds
    return max(1.0, ratio / MAX_NATURAL, MIN_NATURAL / max(ratio, 0.01))


def line_starts(lines: Sequence[tuple[Slot, float]], *, fixed: Collection[int] = ()) -> list[float]:
    """Start time of each line, given its slot and duration: the source start, shifted only to prevent overlap.

    Lines at the indices in `fixed` are not shifted.
    """
    starts: list[float] = []
    free_from = 0.0
    for index, (slot, seconds) in enumerate(lines):
        if index in fixed:
            starts.append(slot.start_seconds)
            free_from = max(free_from, slot.start_seconds + seconds + GAP_SECONDS / 2)
            continue
        start = max(slot.start_seconds, free_from)
        next_start = lines[index + 1][0].start_seconds if index + 1 < len(lines) else float("inf")
        delay = 0.0 if index + 1 in fixed else MAX_DELAY_SECONDS
        overrun = start + seconds + GAP_SECONDS - next_start - delay
        if overrun > 0:
            start = max(free_from, start - min(overrun, MAX_ADVANCE_SECONDS))
        starts.append(round(start, 4))
        free_from = starts[-1] + seconds + (GAP_SECONDS / 2)
    return starts
