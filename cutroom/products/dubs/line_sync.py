"""Fits synthesized lines to the timing of the source lines: the tempo and the start time of each.

A line keeps its source start. Its tempo is adjusted between MIN_TEMPO and MAX_TEMPO to match the duration of the source
line. If that is not enough, the line extends into the silence that follows, but never into the next line.
"""

from collections.abc import Sequence
from dataclasses import dataclass

MIN_TEMPO, MAX_TEMPO = 0.85, 1.25
GAP_SECONDS = 0.06  # kept free before the next line
MAX_DELAY_SECONDS = 0.1  # a line may start this much late if the previous line overruns
MAX_ADVANCE_SECONDS = 0.1  # a line may start this much early if it overruns itself
MAX_BORROWED_SECONDS = 3.0
SLOT_TOLERANCE = 0.1  # relative duration difference within which a line counts as fitting
MIN_SLOT_SECONDS = 0.25

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


def line_slots(spans: Sequence[tuple[float, float]], *, until_seconds: float) -> list[Slot]:
    """Slots for source lines ordered by start; a slot is shortened where the next line overlaps it."""
    slots = []
    for index, (start, end) in enumerate(spans):
        next_start = spans[index + 1][0] if index + 1 < len(spans) else until_seconds + GAP_SECONDS
        latest_end = min(next_start - GAP_SECONDS, end + MAX_BORROWED_SECONDS, until_seconds)
        slots.append(Slot(start, min(end, max(latest_end, start)), max(latest_end, start)))
    return slots


def is_likely_too_long(text: str, slot: Slot, *, language: str) -> bool:
    """Whether the text is unlikely to fit its slot at MAX_TEMPO, so that shorter variants are worth preparing."""
    return natural_seconds(text, language=language) / MAX_TEMPO > slot.seconds


def natural_seconds(text: str, *, language: str) -> float:
    """Estimated duration of a text at natural speed."""
    rate = CHARACTERS_PER_SECOND.get(language.partition("-")[0], DEFAULT_CHARACTERS_PER_SECOND)
    return UTTERANCE_SECONDS + len(text) / rate


def max_characters(slot: Slot, *, language: str) -> int:
    """Characters that fit a slot at MAX_TEMPO: the inverse of the estimate above."""
    rate = CHARACTERS_PER_SECOND.get(language.partition("-")[0], DEFAULT_CHARACTERS_PER_SECOND)
    return max(1, int(rate * (slot.seconds * MAX_TEMPO - UTTERANCE_SECONDS)))


@dataclass(frozen=True, slots=True)
class LineFit:
    """The tempo of a line and its resulting duration."""

    tempo: float
    seconds: float
    fits: bool  # not longer than its slot, within SLOT_TOLERANCE


def fit_line(natural_seconds: float, slot: Slot) -> LineFit:
    """Match the slot's duration; only extend into the following silence when MAX_TEMPO is not enough."""
    tempo = min(max(natural_seconds / slot.seconds, MIN_TEMPO), MAX_TEMPO)
    if natural_seconds / tempo > slot.max_seconds:
        tempo = min(max(natural_seconds / slot.max_seconds, MIN_TEMPO), MAX_TEMPO)
    seconds = natural_seconds / tempo
    return LineFit(round(tempo, 4), seconds, seconds <= slot.seconds * (1 + SLOT_TOLERANCE))


def line_starts(lines: Sequence[tuple[Slot, float]]) -> list[float]:
    """Start time of each line, given its slot and duration: the source start, shifted only to prevent overlap."""
    starts: list[float] = []
    free_from = 0.0
    for index, (slot, seconds) in enumerate(lines):
        start = max(slot.start_seconds, free_from)
        next_start = lines[index + 1][0].start_seconds if index + 1 < len(lines) else float("inf")
        overrun = start + seconds + GAP_SECONDS - next_start - MAX_DELAY_SECONDS
        if overrun > 0:
            start = max(free_from, start - min(overrun, MAX_ADVANCE_SECONDS))
        starts.append(round(start, 4))
        free_from = starts[-1] + seconds + (GAP_SECONDS / 2)
    return starts
