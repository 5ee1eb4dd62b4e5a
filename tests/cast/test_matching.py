"""Matching of speakers with the cast: certain ones only, and each member once."""

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutroom.cast.matching import MIN_MARGIN, MIN_SIMILARITY, CastVoice, SpeakerVoice, recognize

if TYPE_CHECKING:
    from cutroom.engines.types import Vector

SURE = MIN_SIMILARITY + MIN_MARGIN + 0.05


def unit(*similarities: float) -> "Vector":
    """A vector with these cosine similarities to the first axes."""
    rest = 1 - sum(each**2 for each in similarities)
    assert rest >= -1e-6
    padded = [*similarities, *[0.0] * (7 - len(similarities)), max(0.0, rest) ** 0.5]
    return np.array(padded, np.float32)


def speaker(name: str, *similarities: float, seconds: float = 30.0) -> SpeakerVoice:
    return SpeakerVoice(name, seconds, unit(*similarities))


ANA, BEN = CastVoice("ana", "Ana", (unit(1.0),)), CastVoice("ben", "Ben", (unit(0.0, 1.0),))


def names(*speakers: SpeakerVoice, cast: tuple[CastVoice, ...] = (ANA, BEN)) -> dict[str, str]:
    return {each.speaker: each.name for each in recognize(speakers, cast)}


def test_close_speakers_are_recognized_and_others_stay_unknown() -> None:
    found = names(speaker("s1", 0.0, SURE), speaker("s2", SURE), speaker("s3", 0.1, 0.2))
    assert found == {"s1": "Ben", "s2": "Ana"}


@pytest.mark.parametrize(
    ("speakers", "reason"),
    [
        ([speaker("s1", MIN_SIMILARITY - 0.01)], "too far"),
        ([speaker("s1", SURE, seconds=3.0)], "too little speech"),
        ([speaker("s1", 0.8), speaker("s2", 0.8 - MIN_MARGIN / 2)], "two speakers are as close"),
    ],
)
def test_uncertain_speakers_stay_unknown(speakers: list[SpeakerVoice], reason: str) -> None:
    assert names(*speakers) == {}, reason


def test_a_speaker_between_two_similar_members_stays_unknown() -> None:
    sister = CastVoice("cleo", "Cleo", (unit(0.95),))
    assert names(speaker("s1", 0.98), cast=(ANA,)) == {"s1": "Ana"}
    assert names(speaker("s1", 0.98), cast=(ANA, sister)) == {}


def test_the_most_similar_embedding_of_a_member_counts() -> None:
    studio, telephone = unit(1.0), unit(0.5, 0.5)
    ana = CastVoice("ana", "Ana", (studio, telephone))
    assert names(SpeakerVoice("s1", 30.0, telephone), cast=(ana,)) == {"s1": "Ana"}
    assert names(SpeakerVoice("s1", 30.0, telephone), cast=(CastVoice("ana", "Ana", (studio,)),)) == {}


def test_nothing_is_recognized_without_embeddings() -> None:
    assert names(speaker("s1", SURE), cast=(CastVoice("ana", "Ana", ()),)) == {}
    assert names(speaker("s1", SURE), cast=()) == {}


vectors = st.lists(st.floats(-1, 1), min_size=6, max_size=6).filter(lambda each: sum(abs(x) for x in each) > 0.1)


@given(st.lists(vectors, max_size=6), st.lists(st.lists(vectors, min_size=1, max_size=3), max_size=5))
def test_each_member_is_at_most_one_speaker(found: list[list[float]], cast: list[list[list[float]]]) -> None:
    def normal(values: list[float]) -> "Vector":
        vector = np.array(values, np.float32)
        return np.asarray(vector / np.linalg.norm(vector), np.float32)

    speakers = [SpeakerVoice(f"s{at}", 30.0, normal(each)) for at, each in enumerate(found)]
    members = [CastVoice(f"m{at}", f"M{at}", tuple(map(normal, each))) for at, each in enumerate(cast)]
    recognized = recognize(speakers, members)
    assert len({each.member_id for each in recognized}) == len({each.speaker for each in recognized}) == len(recognized)
    assert all(each.similarity >= MIN_SIMILARITY - 1e-4 for each in recognized)
    reordered = recognize(speakers[::-1], members[::-1])
    assert {(each.speaker, each.member_id) for each in reordered} == {
        (each.speaker, each.member_id) for each in recognized
    }
