"""Recognition with the real embedder: recorded people return in another recording, and others stay unknown."""

import pytest

from cutroom.cast.matching import CastVoice, SpeakerVoice, recognize
from cutroom.engines.diarization.embeddings import WeSpeakerEmbedder
from tests.engines.recognition.recognizer_suite import model_folder
from tests.support.dialogue import ALLISON, CARLO, DICKENS, JUNE, RUSSIAN
from tests.support.voices.returning_voices import (
    SPEAKERS,
    RecognitionTrial,
    embed_episodes,
    exchange_names,
    first_episode_cast,
    lone_rival_trials,
    returning_trials,
)

ANNOUNCERS = (ALLISON, CARLO, JUNE, RUSSIAN)
Voices = dict[tuple[str, int], SpeakerVoice]


@pytest.fixture(scope="module")
def voices() -> Voices:
    return embed_episodes(WeSpeakerEmbedder(model_folder("wespeaker-resnet34")))


def wrong(trials: list[RecognitionTrial]) -> list[RecognitionTrial]:
    return [each for each in trials if each.is_wrong]


def test_returning_speakers_are_recognized_and_unknown_people_are_not(voices: Voices) -> None:
    trials = list(returning_trials(voices, first_episode_cast(voices)))
    assert len(trials) >= 20
    assert wrong(trials) == []
    assert sum(each.is_missed for each in trials) <= 1


def test_no_one_is_taken_for_the_only_member_of_a_cast(voices: Voices) -> None:
    trials = list(lone_rival_trials(voices, first_episode_cast(voices)))
    assert len(trials) == 2 * len(SPEAKERS) * (len(SPEAKERS) - 1)
    assert wrong(trials) == []


def test_exchanged_names_are_counted_as_wrong(voices: Voices) -> None:
    trials = list(returning_trials(voices, exchange_names(first_episode_cast(voices))))
    assert len(wrong(trials)) >= len(SPEAKERS)


def test_speakers_of_one_video_are_recognized_together(voices: Voices) -> None:
    cast = [CastVoice(speaker, speaker, (voices[speaker, 0].vector,)) for speaker in ANNOUNCERS[:3]]
    found = recognize([voices[speaker, 1] for speaker in (*ANNOUNCERS, DICKENS)], cast)
    assert {each.speaker: each.member_id for each in found} == {each: each for each in ANNOUNCERS[:3]}
