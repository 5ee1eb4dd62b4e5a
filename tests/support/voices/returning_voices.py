"""Recorded people who speak in several episodes, and trials that compare them with a cast."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from cutroom.cast.matching import CastVoice, SpeakerVoice, recognize
from cutroom.engines.diarization.port import SpeakerEmbedder
from cutroom.engines.types import SAMPLE_RATE, TimeSpan
from cutroom.products.transcripts.speaker_recognition.voices import speaker_voice
from tests.support.dialogue import ALLISON, AUSTEN, CARLO, DICKENS, JUNE, RUSSIAN, Samples, recording

EPISODE_SECONDS = 10.0
EPISODES = 3
SPEAKERS = (ALLISON, AUSTEN, CARLO, DICKENS, JUNE, RUSSIAN)
Voices = Mapping[tuple[str, int], SpeakerVoice]  # by speaker and episode


@dataclass(frozen=True, slots=True)
class RecognitionTrial:
    """A voice that was compared with a cast: who it is, who it should be recognized as, and as whom it was."""

    speaker: str
    episode: int
    expected: str | None  # none where the person is not in the cast
    found: tuple[str, ...]

    @property
    def is_wrong(self) -> bool:
        return any(each != self.expected for each in self.found)

    @property
    def is_missed(self) -> bool:
        return self.expected is not None and self.expected not in self.found


@cache
def episode(speaker: str, number: int) -> Samples:
    """The speech of a speaker in one of three episodes; the first is another recording if there are two."""
    if speaker == AUSTEN:
        names = (("0870", "0880"), ("0890", "0920"), ("0920", "0930"))[number]
        return np.concatenate([recording(speaker, name) for name in names])
    if speaker == DICKENS:
        name, start = "two_cities", 1.0 + number * EPISODE_SECONDS
    else:
        name, start = (("demo-congrats", 0.2), ("demo-instruct", 0.2), ("demo-instruct", 10.2))[number]
    first = round(start * SAMPLE_RATE)
    return recording(speaker, name)[first : first + round(EPISODE_SECONDS * SAMPLE_RATE)]


def embed_episodes(embedder: SpeakerEmbedder, *, episodes: int = EPISODES) -> dict[tuple[str, int], SpeakerVoice]:
    """The voice of each speaker in each of the first episodes."""
    found = {}
    for speaker in SPEAKERS:
        for number in range(episodes):
            samples = episode(speaker, number)
            speech = [TimeSpan(0.0, len(samples) / SAMPLE_RATE)]
            voice = speaker_voice(speaker, embedder.embed(samples, speech=speech))
            assert voice is not None
            found[speaker, number] = voice
    return found


def first_episode_cast(voices: Voices) -> list[CastVoice]:
    """Everyone as a member of the cast, confirmed in the first episode."""
    return [CastVoice(each, each, (voices[each, 0].vector,)) for each in SPEAKERS]


def exchange_names(cast: Sequence[CastVoice]) -> list[CastVoice]:
    """The cast with each voice under the name of the next: a check that counts no wrong name here counts nothing."""
    named = [*cast[1:], cast[0]]
    return [replace(each, member_id=other.member_id) for each, other in zip(cast, named, strict=True)]


def returning_trials(voices: Voices, cast: Sequence[CastVoice]) -> Iterator[RecognitionTrial]:
    """Each speaker returns in later episodes, with the whole cast, and with a cast from which they are missing."""
    for speaker, number in _returning(voices):
        yield _trial(voices, speaker, number, cast, expected=speaker)
        yield _trial(voices, speaker, number, [each for each in cast if each.name != speaker], expected=None)


def lone_rival_trials(voices: Voices, cast: Sequence[CastVoice]) -> Iterator[RecognitionTrial]:
    """Each speaker is compared with each other person alone, so that no third voice helps to tell them apart."""
    for speaker, number in _returning(voices):
        for other in (each for each in cast if each.name != speaker):
            yield _trial(voices, speaker, number, [other], expected=None)


def _returning(voices: Voices) -> list[tuple[str, int]]:
    return [(speaker, number) for speaker, number in voices if number > 0]


def _trial(
    voices: Voices, speaker: str, number: int, cast: Sequence[CastVoice], *, expected: str | None
) -> RecognitionTrial:
    found = recognize([voices[speaker, number]], cast)
    return RecognitionTrial(speaker, number, expected, tuple(each.member_id for each in found))
