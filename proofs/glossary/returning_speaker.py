"""A member of the cast is confirmed in one episode, named in the next, and keeps the voice in its dub."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from cutroom.engines.types import SAMPLE_RATE
from proofs.stage.transcript_stage import upload_file, wait_for_transcript, write_wav
from tests.support.dialogue import ALLISON, DICKENS, LEVEL, ROOM_LEVEL, Samples
from tests.support.dub_stage import api_client, dub
from tests.support.stage import Stage, wait_for_voices
from tests.support.voices.returning_voices import episode

NAME = "Ana Duarte"
LANGUAGE = "pt-BR"
PAUSE_SECONDS = 0.6
SPOKEN_SECONDS = 8.0  # by each person
WAIT_SECONDS, POLL_SECONDS = 300.0, 0.3
EPISODE_ONE = ((ALLISON, 0), (DICKENS, 0))
EPISODE_TWO = ((DICKENS, 1), (ALLISON, 1))
EARLIER = ((ALLISON, 2),)  # transcribed before there was a cast, and compared with it afterwards


@dataclass(frozen=True, slots=True)
class Episode:
    """A transcribed video, and who each speaker of its transcript is."""

    video_id: str
    people: Mapping[str, str]  # by speaker id
    speakers: Mapping[str, Mapping[str, Any]]  # as the API shows them

    def speaker_of(self, person: str) -> str:
        return next(speaker for speaker, each in self.people.items() if each == person)


@dataclass(frozen=True, slots=True)
class SeriesResult:
    """What was recognized in the episodes, and the voices of the dub."""

    named: tuple[str, ...]  # people who were given the member's name in new episodes, one for each speaker
    unknown: tuple[str, ...]  # people who were not
    recognized: Mapping[str, Any]  # the member's speaker in episode two, as the API shows it
    found_later: Mapping[str, Any]  # the member's speaker in the earlier episode, after it was compared again
    was_unknown: bool  # whether the earlier episode had no member before
    voices: Mapping[str, str]  # of the dub, by person
    cast_voice: str

    @property
    def wrong(self) -> int:
        """Speakers with the name of another person."""
        return sum(each != ALLISON for each in self.named)

    @property
    def trials(self) -> int:
        return len(self.named) + len(self.unknown)


async def run_series(stage: Stage, client: httpx.AsyncClient, folder: Path) -> SeriesResult:
    """Use the API as a caller would; the worker transcribes, tells speakers apart, and makes the voice print."""
    await wait_for_voices(stage)
    (await client.put("/v1/cast/recognition", json={"recognizeSpeakers": True})).raise_for_status()
    voice = await _unlikely_voice(client)
    earlier = await _transcribe(stage, client, folder / "earlier.wav", EARLIER)
    one = await _transcribe(stage, client, folder / "one.wav", EPISODE_ONE)
    body = {"name": NAME, "voices": {LANGUAGE: voice}}
    member = (await client.post("/v1/cast/members", json=body)).raise_for_status().json()
    await _confirm(client, member["id"], one)
    two = await _transcribe(stage, client, folder / "two.wav", EPISODE_TWO)
    before, compared = earlier.speakers, await _compare_again(client, earlier)
    named, unknown = _named((two, compared))
    recognized = two.speakers[two.speaker_of(ALLISON)]
    found = compared.speakers[compared.speaker_of(ALLISON)]
    was_unknown = all("castMemberId" not in each and each["label"] != NAME for each in before.values())
    return SeriesResult(
        named, unknown, recognized, found, was_unknown, await _dub_voices(stage, two.video_id, two.people), voice
    )


async def _unlikely_voice(client: httpx.AsyncClient) -> str:
    """A male voice: a dub chooses a female one for this speaker, unless it uses the cast."""
    voices = (await client.get("/v1/capabilities")).raise_for_status().json()["voices"]
    found: str = next(each["id"] for each in voices if each["language"] == LANGUAGE and each["gender"] == "male")
    return found


async def _transcribe(
    stage: Stage, client: httpx.AsyncClient, path: Path, spoken: tuple[tuple[str, int], ...]
) -> Episode:
    write_wav(path, _sound([_part(*each) for each in spoken]))
    video_id = await upload_file(client, path)
    found = (await wait_for_transcript(stage, client, video_id, seconds=WAIT_SECONDS)).transcript
    return Episode(video_id, _people(found, spoken), {each["id"]: each for each in found["speakers"]})


def _part(person: str, number: int) -> Samples:
    return episode(person, number)[: round(SPOKEN_SECONDS * SAMPLE_RATE)]


def _sound(parts: list[Samples]) -> Samples:
    """The parts at equal level with pauses between them, over room tone."""
    pause = np.zeros(round(PAUSE_SECONDS * SAMPLE_RATE), np.float32)
    level = [np.concatenate([each * np.float32(LEVEL / np.sqrt(np.square(each).mean())), pause]) for each in parts]
    sound = np.concatenate(level)
    return sound + np.random.default_rng(7).normal(0, ROOM_LEVEL, len(sound)).astype(np.float32)


def _people(transcript: Mapping[str, Any], spoken: tuple[tuple[str, int], ...]) -> dict[str, str]:
    """Who speaks for most of the time of each speaker of a transcript."""
    seconds: dict[str, Counter[str]] = {}
    for segment in transcript["segments"]:
        start = 0.0
        for person, number in spoken:
            end = start + len(_part(person, number)) / SAMPLE_RATE + PAUSE_SECONDS
            shared = max(0.0, min(end, segment["end"]) - max(start, segment["start"]))
            seconds.setdefault(segment["speaker"], Counter())[person] += round(shared * 1000)
            start = end
    return {speaker: counts.most_common(1)[0][0] for speaker, counts in seconds.items()}


async def _confirm(client: httpx.AsyncClient, member_id: str, one: Episode) -> None:
    path = f"/v1/cast/members/{member_id}"
    (await client.post(f"{path}/videos/{one.video_id}/speakers/{one.speaker_of(ALLISON)}")).raise_for_status()

    async def print_state() -> str | None:
        found = (await client.get(f"{path}/appearances")).raise_for_status().json()["appearances"]
        state: str = found[0]["embeddingStatus"]
        if state == "failed":
            raise RuntimeError(f"the voice print failed: {found}")
        return state if state == "ready" else None

    await _poll(print_state)


async def _compare_again(client: httpx.AsyncClient, earlier: Episode) -> Episode:
    """The episode after existing transcripts were compared with the cast."""
    (await client.post("/v1/cast/recognition/run", json={})).raise_for_status()

    async def finished() -> str | None:
        run = (await client.get("/v1/cast/recognition/run")).raise_for_status().json()
        return run["id"] if run["status"] == "finished" else None

    await _poll(finished)
    read = (await client.get(f"/v1/videos/{earlier.video_id}/transcript")).raise_for_status().json()
    return Episode(earlier.video_id, earlier.people, {each["id"]: each for each in read["speakers"]})


def _named(episodes: tuple[Episode, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """People with the member's name, and those without a name, for every speaker of the episodes."""
    named: list[str] = []
    unknown: list[str] = []
    for each in episodes:
        for speaker, person in each.people.items():
            shown = each.speakers[speaker]
            (named if "castMemberId" in shown or shown["label"] == NAME else unknown).append(person)
    return tuple(named), tuple(unknown)


async def _dub_voices(stage: Stage, video_id: str, people: Mapping[str, str]) -> dict[str, str]:
    """The voice of each person in the dub."""
    await dub(stage, video_id, [LANGUAGE])
    async with api_client(stage) as client:
        read = (await client.get(f"/v1/videos/{video_id}/dubs/{LANGUAGE}/segments")).raise_for_status().json()
    return {people[each["speaker"]]: each["voice"] for each in read["segments"]}


async def _poll(read: Callable[[], Awaitable[str | None]]) -> str:
    async with asyncio.timeout(WAIT_SECONDS):
        while (found := await read()) is None:
            await asyncio.sleep(POLL_SECONDS)
        return found
