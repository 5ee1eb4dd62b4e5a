"""Which sentences are spoken in one go: one that is too long for its time is lent some by its neighbour.

A translation is seldom as long as its source. Where a sentence would not fit, and the same speaker goes on at once
with one beside which it does, both become one line, with the start of the first.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from cutroom.products.dubs.line_sync import CLOSE, MAX_STRETCH, natural_seconds

MAX_GAP_SECONDS = 0.8
MAX_LINE_SECONDS = 11.0
JOINT_SECONDS = 0.2  # that a speaker needs between two sentences
MAX_PRESSURE = MAX_STRETCH * (1 + CLOSE / 2)  # more would leave a line longer than its slot; half is kept for surprises


@dataclass(frozen=True, slots=True)
class Phrase:
    """What one speaker says, and how it is said in the other language."""

    start_seconds: float
    end_seconds: float
    speaker: str
    source: str
    text: str

    @property
    def seconds(self) -> float:
        return self.end_seconds - self.start_seconds


def phrases(found: Sequence[Phrase], *, language: str) -> list[Phrase]:
    """The same sentences in the same order, some of them together."""
    joined: list[Phrase] = []
    waiting = list(found)
    while waiting:
        phrase = waiting.pop(0)
        while waiting and _helps(phrase, waiting[0], pressed=phrase, language=language):
            phrase = _together(phrase, waiting.pop(0))
        if joined and _helps(joined[-1], phrase, pressed=phrase, language=language):
            phrase = _together(joined.pop(), phrase)
        joined.append(phrase)
    return joined


def _helps(one: Phrase, two: Phrase, *, pressed: Phrase, language: str) -> bool:
    """Whether two neighbours can be one line in which the one that is pressed for time has enough of it."""
    if one.speaker != two.speaker or two.start_seconds - one.end_seconds > MAX_GAP_SECONDS:
        return False
    both = _together(one, two)
    if both.seconds > MAX_LINE_SECONDS or two.start_seconds < one.end_seconds - JOINT_SECONDS:
        return False
    return _pressure(both, language) <= MAX_PRESSURE < _pressure(pressed, language)


def _pressure(phrase: Phrase, language: str) -> float:
    """How much faster than is natural it would have to be spoken."""
    return natural_seconds(phrase.text, language=language) / max(phrase.seconds, 0.1)


def _together(one: Phrase, two: Phrase) -> Phrase:
    return Phrase(
        one.start_seconds,
        max(one.end_seconds, two.end_seconds),
        one.speaker,
        f"{one.source} {two.source}",
        f"{one.text} {two.text}",
    )
