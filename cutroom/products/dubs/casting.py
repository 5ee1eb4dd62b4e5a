"""Assigns stock voices to speakers: a distinct voice for each, of the same gender and age, and close in pitch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import log2

from cutroom.engines.synthesis.port import Gender, StockVoice
from cutroom.text.language_tags import language_of

MAX_EXHAUSTIVE = 5  # search all assignments up to this many speakers and voices
UNKNOWN_PITCH_HZ = 150.0

# Pitch tells the gender of most adults; between the two values it could be either.
MAX_MALE_PITCH_HZ, MIN_FEMALE_PITCH_HZ = 150.0, 170.0
# Among voices of one gender, higher ones sound younger; the ages of stock voices are estimated in the same way.
YOUNG_PITCH_HZ = {Gender.MALE: 115.0, Gender.FEMALE: 168.0}

# Penalties in octaves of pitch: another gender is worse than any distance in pitch.
GENDER_PENALTY = 2.0
AGE_PENALTY = 0.1
OLD_PENALTY = 0.5  # an old voice is the last choice, because pitch does not tell that a speaker is old


@dataclass(frozen=True, slots=True)
class SpeakerProfile:
    """A speaker's median pitch and total speaking time."""

    speaker: str
    pitch_hz: float | None
    seconds: float

    @property
    def gender(self) -> Gender | None:
        """None if the pitch is unknown, or could be of either."""
        if self.pitch_hz is None or MAX_MALE_PITCH_HZ < self.pitch_hz < MIN_FEMALE_PITCH_HZ:
            return None
        return Gender.MALE if self.pitch_hz <= MAX_MALE_PITCH_HZ else Gender.FEMALE

    @property
    def is_young(self) -> bool | None:
        """None if the gender is unknown."""
        if self.gender is None or self.pitch_hz is None:
            return None
        return self.pitch_hz >= YOUNG_PITCH_HZ[self.gender]


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
        assigned[profile.speaker] = min(voices, key=lambda voice: (_distance(profile, voice), voice.name))
    return assigned


def _assign_distinct(profiles: Sequence[SpeakerProfile], voices: Sequence[StockVoice]) -> dict[str, StockVoice]:
    if len(profiles) <= MAX_EXHAUSTIVE and len(voices) <= MAX_EXHAUSTIVE:
        best = min(
            permutations(voices, len(profiles)),
            key=lambda order: sum(
                _distance(profile, voice) * profile.seconds for profile, voice in zip(profiles, order, strict=True)
            ),
        )
        return {profile.speaker: voice for profile, voice in zip(profiles, best, strict=True)}
    unused, assigned = list(voices), {}
    for profile in profiles:
        voice = min(unused, key=lambda each: (_distance(profile, each), each.name))
        unused.remove(voice)
        assigned[profile.speaker] = voice
    return assigned


def _distance(profile: SpeakerProfile, voice: StockVoice) -> float:
    """In octaves of pitch, with penalties for another gender and age."""
    distance = abs(log2((profile.pitch_hz or UNKNOWN_PITCH_HZ) / voice.pitch_hz))
    if profile.gender is not None and voice.gender not in {profile.gender, Gender.NEUTRAL}:
        distance += GENDER_PENALTY
    if voice.age == "old":
        distance += OLD_PENALTY
    elif profile.is_young is not None and profile.is_young != (voice.age == "young"):
        distance += AGE_PENALTY
    return distance
