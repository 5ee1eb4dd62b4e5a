"""Which voice speaks for whom: one of its own for each speaker, as near in pitch as there is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import log2

from cutroom.engines.synthesis.port import StockVoice
from cutroom.engines.translation.routing import language_of

MAX_EXACT = 5  # speakers and voices, up to which every way is tried
UNKNOWN_PITCH_HZ = 150.0


@dataclass(frozen=True, slots=True)
class Part:
    """A speaker, how high the voice is, and how much of the video it speaks."""

    speaker: str
    pitch_hz: float | None
    seconds: float


def voices_for(language: str, voices: Sequence[StockVoice]) -> list[StockVoice]:
    """Those of the language; of the very region where there are some."""
    near = [voice for voice in voices if language_of(voice.language) == language_of(language)]
    same = [voice for voice in near if voice.language.lower() == language.lower()]
    return sorted(same or near, key=lambda voice: voice.name)


def cast(parts: Sequence[Part], voices: Sequence[StockVoice]) -> Mapping[str, StockVoice]:
    """A distinct voice for each speaker while there are voices; who speaks most is served best.

    Where there are more speakers than voices, those who speak least share one with somebody.
    """
    ordered = sorted(parts, key=lambda part: (-part.seconds, part.speaker))
    first, rest = ordered[: len(voices)], ordered[len(voices) :]
    chosen = _distinct(first, voices)
    for part in rest:
        chosen[part.speaker] = min(voices, key=lambda voice: (_far(part, voice), voice.name))
    return chosen


def _distinct(parts: Sequence[Part], voices: Sequence[StockVoice]) -> dict[str, StockVoice]:
    if len(parts) <= MAX_EXACT and len(voices) <= MAX_EXACT:
        best = min(
            permutations(voices, len(parts)),
            key=lambda way: sum(_far(part, voice) * part.seconds for part, voice in zip(parts, way, strict=True)),
        )
        return {part.speaker: voice for part, voice in zip(parts, best, strict=True)}
    left, chosen = list(voices), {}
    for part in parts:
        voice = min(left, key=lambda each: (_far(part, each), each.name))
        left.remove(voice)
        chosen[part.speaker] = voice
    return chosen


def _far(part: Part, voice: StockVoice) -> float:
    """In octaves."""
    return abs(log2((part.pitch_hz or UNKNOWN_PITCH_HZ) / voice.pitch_hz))
