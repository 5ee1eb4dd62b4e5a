"""Decides which speakers of a video are members of the cast, by the similarity of their voices.

A wrong name is worse than none: a speaker stays unknown unless one member is close, and no other speaker or member
is nearly as close.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cutroom.engines.types import Vector

MIN_SPEECH_SECONDS = 6.0  # of a voice, below which it is neither recognized nor stored
# Cosine similarities of mean embeddings, measured on twelve voices (docs/cast.md): one speaker in the same room is
# at 0.83 or more, and with noise at about 0.8; different recorded speakers are at 0.28 or less, and different synthetic
# voices of one family at 0.69 or less.
MIN_SIMILARITY = 0.72
MIN_MARGIN = 0.1  # to every other member, and to every other speaker of the video


@dataclass(frozen=True, slots=True)
class SpeakerVoice:
    """The mean embedding of a speaker of one video, as a unit vector, and how long they speak."""

    speaker: str
    seconds: float
    vector: "Vector"


@dataclass(frozen=True, slots=True)
class CastVoice:
    """A member of the cast, and the mean embeddings of speakers who were confirmed to be this person."""

    member_id: str
    name: str
    vectors: tuple["Vector", ...]


@dataclass(frozen=True, slots=True)
class RecognizedSpeaker:
    """A speaker who is a member of the cast."""

    speaker: str
    member_id: str
    name: str
    similarity: float


def recognize(speakers: Sequence[SpeakerVoice], cast: Sequence[CastVoice]) -> list[RecognizedSpeaker]:
    """The speakers that are certain, in the order given; a member is at most one of them."""
    audible = [each for each in speakers if each.seconds >= MIN_SPEECH_SECONDS]
    known = [each for each in cast if each.vectors]
    similarities = {
        (speaker.speaker, member.member_id): _similarity(speaker, member) for speaker in audible for member in known
    }
    return [
        RecognizedSpeaker(speaker.speaker, member.member_id, member.name, round(similarity, 4))
        for speaker in audible
        for member in known
        if _is_certain(similarities, similarity := similarities[speaker.speaker, member.member_id], speaker, member)
    ]


def _similarity(speaker: SpeakerVoice, member: CastVoice) -> float:
    """To the most similar confirmed speaker, because one person sounds different in different rooms."""
    return max(float(speaker.vector @ vector) for vector in member.vectors)


def _is_certain(
    similarities: Mapping[tuple[str, str], float], similarity: float, speaker: SpeakerVoice, member: CastVoice
) -> bool:
    rivals = [
        other
        for (other_speaker, other_member), other in similarities.items()
        if (other_speaker == speaker.speaker) != (other_member == member.member_id)
    ]
    return similarity >= MIN_SIMILARITY and similarity - max(rivals, default=-1.0) >= MIN_MARGIN
