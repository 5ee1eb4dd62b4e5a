"""Voices of the cast in dubs: stock voices in every dub, clones in premium dubs, and none twice without need."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from cutroom.cast.appearances import confirm_speaker
from cutroom.engines.registry import Engines
from cutroom.engines.synthesis.port import Gender, SpeechSynthesizer, StockVoice, SynthesizedSpeech
from cutroom.engines.translation.port import Quality
from cutroom.engines.voice_conversion.port import REFERENCE_RATE
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.sandbox import Sandbox
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Database, insert
from cutroom.platform.ids import new_id
from cutroom.products.dubs.artifacts import DubArtifacts, DubRef
from cutroom.products.dubs.cast.voices import CastChoice, CastClone, CastStockVoice, load_cast_voices
from cutroom.products.dubs.script import AssignedVoice, DubLine, DubScript
from cutroom.products.dubs.synthesis import assign_voices
from cutroom.products.speech.rules import fingerprint, new_voice_id, wav_header
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.products.conftest import TranscribedVideo
from tests.support.transcribed_videos import advertise_languages

VOICES = [StockVoice(name, name, "pt", Gender.FEMALE, "young", 200.0) for name in ("first", "second")]
PCM = b"\x01\x00" * 100


class FakeSynthesizer:
    """Has voices, and cannot speak."""

    name = "fake"

    def voices(self) -> Sequence[StockVoice]:
        return VOICES

    def synthesize(self, text: str, *, voice: str, language: str, speed: float = 1.0) -> SynthesizedSpeech:
        raise NotImplementedError


class FakeCloner(FakeSynthesizer):
    name = "fake-cloner"


class FakeEngines(Engines):
    def __init__(self) -> None:
        pass

    def synthesizers(self) -> Sequence[SpeechSynthesizer]:
        return [FakeSynthesizer()]

    def voice_cloner(self) -> FakeCloner:  # type: ignore[override]
        return FakeCloner()


def script(*speakers: str) -> DubScript:
    lines = tuple(
        DubLine(number, number * 2.0, number * 2 + 1.0, number * 2 + 1.5, speaker, "source", ("texto",))
        for number, speaker in enumerate(speakers)
    )
    return DubScript("pt", "plus", "en", Quality.PUBLISHABLE, (), 60.0, lines, "separated")


@pytest.fixture
def artifacts(runtime: Runtime, tmp_path: Path) -> DubArtifacts:
    cache = LocalMediaCache(runtime.storage, tmp_path / "cache", max_bytes=10**8)
    return DubArtifacts(runtime.storage, cache, Sandbox())


async def store_pitch(artifacts: DubArtifacts, dub: DubRef, lines: Sequence[DubLine]) -> None:
    """What an earlier assignment has measured."""
    spans = [(line.start_seconds, line.end_seconds) for line in lines]
    path = dub.shared_path(f"pitch/{fingerprint({'spans': spans})}.json")
    await artifacts.put(path, json.dumps({"pitch": 200.0}).encode())


async def assign(artifacts: DubArtifacts, cast: dict[str, CastChoice]) -> dict[str, AssignedVoice]:
    dub, lines = DubRef(new_id(), new_id(), "pt", "plus"), script("speaker_1", "speaker_2")
    for line in lines.lines:
        await store_pitch(artifacts, dub, [line])
    return await assign_voices(artifacts, FakeEngines(), dub=dub, script=lines, cast=cast)


@pytest.mark.parametrize(("given", "other"), [("first", "second"), ("second", "first")])
async def test_voice_of_the_cast_is_used_and_not_given_to_others(
    artifacts: DubArtifacts, given: str, other: str
) -> None:
    voices = await assign(artifacts, {"speaker_1": CastStockVoice("fake", given)})
    assert {speaker: each.voice for speaker, each in voices.items()} == {"speaker_1": given, "speaker_2": other}


async def test_voice_that_no_engine_has_is_passed_over(artifacts: DubArtifacts) -> None:
    voices = await assign(
        artifacts, {"speaker_1": CastStockVoice("fake", "gone"), "speaker_9": CastClone("x", "y", None)}
    )
    assert {each.voice for each in voices.values()} == {"first", "second"}


async def test_clone_is_used_with_its_reference_audio(artifacts: DubArtifacts) -> None:
    dub, path = DubRef(new_id(), new_id(), "pt", "premium"), f"libraries/{new_id()}/voices/reference.wav"
    await artifacts.put(path, wav_header(REFERENCE_RATE, len(PCM)) + PCM)
    cast: dict[str, CastChoice] = {"speaker_1": CastClone(path, "sha", 180.0)}
    voices = await assign_voices(artifacts, FakeEngines(), dub=dub, script=script("speaker_1"), cast=cast)
    assert voices["speaker_1"].identity == "fake-cloner sha"
    assert await artifacts.read(str(voices["speaker_1"].reference_path)) == PCM


async def test_clones_are_for_premium_dubs(
    transcribed: TranscribedVideo, accounts: Accounts, worker_database: Database, runtime: Runtime
) -> None:
    library_id, video_id, now = transcribed.library_id, transcribed.video_id, system_clock()
    await advertise_languages(accounts.connection, ["pt"])
    stock = await accounts.connection.fetchrow(
        "SELECT * FROM stock_voices WHERE engine = 'advertised' AND language = 'pt'"
    )
    assert stock is not None
    clone, job = new_voice_id(), new_id()
    base = {"library_id": library_id, "created_at": now}
    state = {"type": "voice", "status": "ready", "attempt": 1, "plan": {}, "depends_on": [], "progress": 100}
    await insert(
        accounts.connection, "jobs", {**base, **state, "id": f"voice_{job}", "updated_at": now, "finished_at": now}
    )
    voice = {
        "id": clone,
        "job_id": f"voice_{job}",
        "name": "Ana",
        "labels": {},
        "remove_noise": False,
        "sample_count": 1,
    }
    reference = {"reference_path": "reference.wav", "reference_sha256": "sha", "pitch_hz": 180.0}
    await insert(accounts.connection, "voices", {**base, **voice, **reference})
    member_id = new_id()
    member = {**base, "id": member_id, "name": "Ana", "voices": {"pt": stock["id"], "es": clone}}
    await insert(accounts.connection, "cast_members", member)
    async with runtime.database.transaction(library_id) as connection:
        await confirm_speaker(connection, library_id, member_id, video_id, speaker="speaker_1", now=now)

    async def voices(language: str, product: str) -> dict[str, CastChoice]:
        async with worker_database.transaction(library_id) as connection:
            return dict(await load_cast_voices(connection, DubRef(library_id, video_id, language, product)))

    assert await voices("pt-BR", "plus") == {"speaker_1": CastStockVoice("advertised", stock["name"])}
    assert await voices("es", "plus") == {}
    assert await voices("es", "premium") == {"speaker_1": CastClone("reference.wav", "sha", 180.0)}
    assert await voices("fr", "premium") == {}
