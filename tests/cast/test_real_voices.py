"""Recognition with the real embedder: recorded people return in another recording, and others stay unknown."""

from functools import cache

import numpy as np
import pytest

from cutroom.cast.matching import CastVoice, SpeakerVoice, recognize
from cutroom.engines.diarization.embeddings import WeSpeakerEmbedder
from cutroom.engines.types import SAMPLE_RATE, TimeSpan
from cutroom.products.transcripts.speaker_recognition.voices import speaker_voice
from tests.engines.recognition.recognizer_suite import model_folder
from tests.support.dialogue import ALLISON, AUSTEN, CARLO, DICKENS, JUNE, RUSSIAN, Samples, recording

EPISODE_SECONDS = 10.0
SPEAKERS = (ALLISON, AUSTEN, CARLO, DICKENS, JUNE, RUSSIAN)
ANNOUNCERS = (ALLISON, CARLO, JUNE, RUSSIAN)


@pytest.fixture(scope="module")
def embedder() -> WeSpeakerEmbedder:
    return WeSpeakerEmbedder(model_folder("wespeaker-resnet34"))


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


@pytest.fixture(scope="module")
def voices(embedder: WeSpeakerEmbedder) -> dict[tuple[str, int], SpeakerVoice]:
    """The voice of each speaker in each episode."""
    found = {}
    for speaker in SPEAKERS:
        for number in range(3):
            samples = episode(speaker, number)
            speech = [TimeSpan(0.0, len(samples) / SAMPLE_RATE)]
            voice = speaker_voice(speaker, embedder.embed(samples, speech=speech))
            assert voice is not None
            found[speaker, number] = voice
    return found


def test_returning_speakers_are_recognized_and_unknown_people_are_not(
    voices: dict[tuple[str, int], SpeakerVoice],
) -> None:
    """Each speaker returns in two episodes, with the cast of the first, and with a cast from which they are missing."""
    cast = [CastVoice(speaker, speaker, (voices[speaker, 0].vector,)) for speaker in SPEAKERS]
    recognized, wrong, trials = 0, [], 0
    for number in (1, 2):
        for speaker in SPEAKERS:
            for known in (cast, [each for each in cast if each.member_id != speaker]):
                trials += 1
                names = [each.member_id for each in recognize([voices[speaker, number]], known)]
                recognized += names == [speaker]
                wrong += [(speaker, number, name) for name in names if name != speaker]
    assert trials >= 20
    assert wrong == []
    assert recognized >= len(SPEAKERS) * 2 - 1


def test_speakers_of_one_video_are_recognized_together(voices: dict[tuple[str, int], SpeakerVoice]) -> None:
    cast = [CastVoice(speaker, speaker, (voices[speaker, 0].vector,)) for speaker in ANNOUNCERS[:3]]
    found = recognize([voices[speaker, 1] for speaker in (*ANNOUNCERS, DICKENS)], cast)
    assert {each.speaker: each.member_id for each in found} == {each: each for each in ANNOUNCERS[:3]}
