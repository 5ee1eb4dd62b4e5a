"""How spoken lines fit the times of the lines they replace: how fast each is spoken, and where it is laid.

A line keeps its start. It is spoken between MIN_STRETCH and MAX_STRETCH of its natural speed so that it lasts as long
as the line it replaces; where that is not enough it borrows the silence after it, and never reaches into the next line.
"""

from collections.abc import Sequence
from dataclasses import dataclass

MIN_STRETCH, MAX_STRETCH = 0.85, 1.25
GAP_SECONDS = 0.06  # kept free before the next line
LATE_SECONDS = 0.1  # how much later than its source a line may start, where the one before it needs the room
EARLY_SECONDS = 0.1  # how much earlier, where it needs the room itself
MAX_BORROWED_SECONDS = 3.0
CLOSE = 0.1  # within this share of its slot a line counts as fitting
MIN_SLOT_SECONDS = 0.25

# How long a line takes at an engine's natural speed, measured with Kokoro: each takes a little whatever its length,
# so that short lines are slower than long ones; and then so many characters are read in a second, by language.
UTTERANCE_SECONDS = 0.25
CHARACTERS_PER_SECOND = {"en": 19.8, "pt": 18.6, "es": 18.6, "fr": 18.6, "it": 18.6}
DEFAULT_CHARACTERS_PER_SECOND = 18.8


@dataclass(frozen=True, slots=True)
class Slot:
    """The times of a source line, and what is free around it."""

    start_seconds: float
    end_seconds: float
    latest_end_seconds: float  # the latest that it may end

    @property
    def seconds(self) -> float:
        return max(self.end_seconds - self.start_seconds, MIN_SLOT_SECONDS)

    @property
    def room_seconds(self) -> float:
        return max(self.latest_end_seconds - self.start_seconds, MIN_SLOT_SECONDS)


def slots(spans: Sequence[tuple[float, float]], *, until_seconds: float) -> list[Slot]:
    """Of lines in the order of their starts; lines that overlap in the source get what is left to each."""
    found = []
    for at, (start, end) in enumerate(spans):
        following = spans[at + 1][0] if at + 1 < len(spans) else until_seconds + GAP_SECONDS
        room_end = min(following - GAP_SECONDS, end + MAX_BORROWED_SECONDS, until_seconds)
        found.append(Slot(start, min(end, max(room_end, start)), max(room_end, start)))
    return found


def is_likely_too_long(text: str, slot: Slot, *, language: str) -> bool:
    """Whether a text would hardly be spoken in its slot, however fast; then a shorter one is worth asking for."""
    return natural_seconds(text, language=language) / MAX_STRETCH > slot.seconds


def natural_seconds(text: str, *, language: str) -> float:
    """About how long a text takes to say."""
    pace = CHARACTERS_PER_SECOND.get(language.partition("-")[0], DEFAULT_CHARACTERS_PER_SECOND)
    return UTTERANCE_SECONDS + len(text) / pace


@dataclass(frozen=True, slots=True)
class Fitted:
    """How a line is spoken: its stretch beside the voice's natural speed, and how long it then is."""

    stretch: float
    seconds: float
    is_close: bool  # to its slot, or not longer than it


def fit(natural_seconds: float, slot: Slot) -> Fitted:
    """As long as its slot; longer only where it must be, and then into the silence after it."""
    stretch = min(max(natural_seconds / slot.seconds, MIN_STRETCH), MAX_STRETCH)
    if natural_seconds / stretch > slot.room_seconds:
        stretch = min(max(natural_seconds / slot.room_seconds, MIN_STRETCH), MAX_STRETCH)
    seconds = natural_seconds / stretch
    return Fitted(round(stretch, 4), seconds, seconds <= slot.seconds * (1 + CLOSE))


def place(lines: Sequence[tuple[Slot, float]]) -> list[float]:
    """Where each line starts, given how long each is: at its source's start, moved only so that none overlap."""
    starts: list[float] = []
    free_from = 0.0
    for at, (slot, seconds) in enumerate(lines):
        start = max(slot.start_seconds, free_from)
        following = lines[at + 1][0].start_seconds if at + 1 < len(lines) else float("inf")
        overrun = start + seconds + GAP_SECONDS - following - LATE_SECONDS
        if overrun > 0:
            start = max(free_from, start - min(overrun, EARLY_SECONDS))
        starts.append(round(start, 4))
        free_from = starts[-1] + seconds + (GAP_SECONDS / 2)
    return starts
