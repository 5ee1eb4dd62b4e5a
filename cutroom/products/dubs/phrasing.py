"""Merges adjacent sentences of one speaker when one of them is too long for its own slot.

Translations rarely match the length of their source. If a sentence does not fit, and the same speaker continues right
away with a sentence that leaves time, both become one line that starts with the first.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from cutroom.products.dubs.line_sync import MAX_TEMPO, SLOT_TOLERANCE, natural_seconds
from cutroom.products.dubs.script import SourceSegment

MAX_GAP_SECONDS = 0.8
MAX_LINE_SECONDS = 11.0
MAX_OVERLAP_SECONDS = 0.2
# A line above this tempo ends up longer than its slot. Half of the tolerance is kept for estimation error.
MAX_REQUIRED_TEMPO = MAX_TEMPO * (1 + SLOT_TOLERANCE / 2)


@dataclass(frozen=True, slots=True)
class DubPhrase:
    """A source sentence, or several, with its translation."""

    start_seconds: float
    end_seconds: float
    speaker: str
    source: str
    text: str
    reasons: tuple[str, ...] = ()  # for which its translation should be reviewed
    segments: tuple[SourceSegment, ...] = ()  # that it is made of
    is_given: bool = False  # its text is one of captions, which a line says as it is

    @property
    def seconds(self) -> float:
        return self.end_seconds - self.start_seconds


def merge_phrases(phrases: Sequence[DubPhrase], *, language: str) -> list[DubPhrase]:
    """The same sentences in order, with some of them merged."""
    merged: list[DubPhrase] = []
    remaining = list(phrases)
    while remaining:
        phrase = remaining.pop(0)
        while remaining and _merge_helps(phrase, remaining[0], too_long=phrase, language=language):
            phrase = _merge(phrase, remaining.pop(0))
        if merged and _merge_helps(merged[-1], phrase, too_long=phrase, language=language):
            phrase = _merge(merged.pop(), phrase)
        merged.append(phrase)
    return merged


def _merge_helps(first: DubPhrase, second: DubPhrase, *, too_long: DubPhrase, language: str) -> bool:
    """Whether merging two neighbors gives the phrase that is too long enough time."""
    if first.is_given != second.is_given:
        return False
    if first.speaker != second.speaker or second.start_seconds - first.end_seconds > MAX_GAP_SECONDS:
        return False
    both = _merge(first, second)
    if both.seconds > MAX_LINE_SECONDS or second.start_seconds < first.end_seconds - MAX_OVERLAP_SECONDS:
        return False
    return _required_tempo(both, language) <= MAX_REQUIRED_TEMPO < _required_tempo(too_long, language)


def _required_tempo(phrase: DubPhrase, language: str) -> float:
    return natural_seconds(phrase.text, language=language) / max(phrase.seconds, 0.1)


def _merge(first: DubPhrase, second: DubPhrase) -> DubPhrase:
    return DubPhrase(
        first.start_seconds,
        max(first.end_seconds, second.end_seconds),
        first.speaker,
        f"{first.source} {second.source}",
        f"{first.text} {second.text}",
        tuple(dict.fromkeys((*first.reasons, *second.reasons))),
        (*first.segments, *second.segments),
        first.is_given,
    )
