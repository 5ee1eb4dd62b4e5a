"""Assigns stock voices to speakers: a distinct voice for each, as close in pitch as possible."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import log2

from cutroom.engines.synthesis.port import StockVoice
from cutroom.text.language_tags import language_of

MAX_EXHAUSTIVE = 5  # search all assignments up to this many speakers and voices
UNKNOWN_PITCH_HZ = 150.0


@dataclass(frozen=True, slots=True)
class SpeakerProfile:
    """A speaker's median pitch and total speaking time."""

    speaker: str
    pitch_hz: float | None
    seconds: float


def voices_for(language: str, voices: Sequence[StockVoice]) -> list[StockVoice]:
    """Voices of the exact locale if there are any, otherwise of the base language."""
    same_language = [voice for voice in voices if language_of(voice.language) == language_of(language)]
    same_locale = [voice for voice in same_language if voice.language.lower() == language.lower()]
    return sorted(same_locale or same_language, key=lambda voice: voice.name)


def cast_voices(profiles: Sequence[SpeakerProfile], voices: Sequence[StockVoice]) -> Mapping[str, StockVoice]:
    """A distinct voice per speaker while voices last, weighted by speaking time.

    With more speakers than voices, the speakers with the least speech share a voice.
    """
    ordered = sorted(profiles, key=lambda profile: (-profile.seconds, profile.speaker))
    distinct, sharing = ordered[: len(voices)], ordered[len(voices) :]
    assigned = _assign_distinct(distinct, voices)
    for profile in sharing:
        assigned[profile.speaker] = min(voices, key=lambda voice: (_pitch_distance(profile, voice), voice.name))
    return assigned


def _assign_distinct(profiles: Sequence[SpeakerProfile], voices: Sequence[StockVoice]) -> dict[str, StockVoice]:
    if len(profiles) <= MAX_EXHAUSTIVE and len(voices) <= MAX_EXHAUSTIVE:
        best = min(
            permutations(voices, len(profiles)),
            key=lambda order: sum(
                _pitch_distance(profile, voice) * profile.seconds
                for profile, voice in zip(profiles, order, strict=True)
            ),
        )
        return {profile.speaker: voice for profile, voice in zip(profiles, best, strict=True)}
    unused, assigned = list(voices), {}
    for profile in profiles:
        voice = min(unused, key=lambda each: (_pitch_distance(profile, each), each.name))
        unused.remove(voice)
        assigned[profile.speaker] = voice
    return assigned


def _pitch_distance(profile: SpeakerProfile, voice: StockVoice) -> float:
    """In octaves."""
    return abs(log2((profile.pitch_hz or UNKNOWN_PITCH_HZ) / voice.pitch_hz))
