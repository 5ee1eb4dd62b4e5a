"""Voice prints and recognition with the real embedder: a confirmed speaker is named in the next episode."""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from temporalio.testing import ActivityEnvironment

from cutroom.cast.appearances import confirm_speaker, members_of
from cutroom.engines.diarization.embeddings import WeSpeakerEmbedder
from cutroom.engines.diarization.port import SpeakerEmbedder
from cutroom.engines.recognition.port import Transcription, Word
from cutroom.engines.registry import Engines
from cutroom.engines.types import SAMPLE_RATE, TimeSpan
from cutroom.jobs.lifecycle import JobRef
from cutroom.library.rules import video_path
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.sandbox import Sandbox
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from cutroom.products.transcripts import service
from cutroom.products.transcripts.activities import SpeechPlan, TranscriptActivities
from cutroom.products.transcripts.alignment import transcribed_chunk, write_chunk
from cutroom.products.transcripts.chunks import TranscriptChunk
from cutroom.products.transcripts.speaker_recognition.activities import SpeakerEmbeddingActivities
from cutroom.products.transcripts.speaker_recognition.service import SpeakerEmbeddingRef
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.engines.recognition.recognizer_suite import model_folder
from tests.products.conftest import TranscribedVideo
from tests.support.dialogue import ALLISON, AUSTEN, DICKENS, Samples, recording
from tests.support.transcribed_videos import insert_video

SECONDS = 9.0


class OnlyEmbedder(Engines):
    """The engines of a worker with one speaker embedder, or with none."""

    def __init__(self, embedder: SpeakerEmbedder | None) -> None:
        self._only = embedder

    def speaker_embedder(self) -> SpeakerEmbedder | None:
        return self._only


@dataclass(frozen=True)
class Worker:
    """Activities with the real embedder."""

    prints: SpeakerEmbeddingActivities
    transcripts: TranscriptActivities


@pytest.fixture(scope="module")
def embedder() -> WeSpeakerEmbedder:
    return WeSpeakerEmbedder(model_folder("wespeaker-resnet34"), cpu_threads=2)


@pytest.fixture
def worker(runtime: Runtime, tmp_path: Path, embedder: WeSpeakerEmbedder) -> Worker:
    cache, engines = LocalMediaCache(runtime.storage, tmp_path / "cache", max_bytes=10**8), OnlyEmbedder(embedder)
    prints = SpeakerEmbeddingActivities(
        runtime.database, runtime.storage, cache, Sandbox(), engines, secret_box=runtime.secret_box
    )
    transcripts = TranscriptActivities(
        runtime.database, runtime.storage, cache, Sandbox(), engines, system_clock, runtime.secret_box
    )
    return Worker(prints, transcripts)


def excerpt(speaker: str, name: str, start: float = 0.2) -> Samples:
    first = round(start * SAMPLE_RATE)
    return recording(speaker, name)[first : first + round(SECONDS * SAMPLE_RATE)]


async def store_sound(runtime: Runtime, transcribed: TranscribedVideo, tmp_path: Path, samples: Samples) -> None:
    """Store the speech of the video, and one segment over it."""
    raw, sound = tmp_path / "speech.raw", tmp_path / "speech.flac"
    raw.write_bytes(np.asarray(samples, "<f4").tobytes())
    options = ["-f", "f32le", "-ar", str(SAMPLE_RATE), "-ac", "1", "-i", str(raw), "-y", str(sound)]
    subprocess.run(["ffmpeg", "-v", "error", *options], check=True)
    await runtime.storage.put(service.speech_path(transcribed.library_id, transcribed.video_id), sound)
    seconds = len(samples) / SAMPLE_RATE
    segment = {"start": 0.0, "end": seconds, "speaker": "speaker_1", "text": "Words.", "deleted": False, "words": 1}
    await transcribed.accounts.connection.execute(
        "UPDATE transcripts SET segments = $2 WHERE video_id = $1", transcribed.video_id, [segment]
    )


async def confirm(
    runtime: Runtime, transcribed: TranscribedVideo, *, opts_in: bool = True
) -> tuple[str, SpeakerEmbeddingRef]:
    """A member of the cast who is the speaker of the video, and the voice print to make."""
    library_id, base = transcribed.library_id, {"library_id": transcribed.library_id, "created_at": system_clock()}
    member_id = new_id()
    await insert(transcribed.accounts.connection, "cast_members", {**base, "id": member_id, "name": "Ana"})
    if opts_in:
        await insert(transcribed.accounts.connection, "cast_scopes", {**base, "id": new_id(), "folder_id": None})
    async with runtime.database.transaction(library_id) as connection:
        found = await confirm_speaker(
            connection, library_id, member_id, transcribed.video_id, speaker="speaker_1", now=system_clock()
        )
    return member_id, SpeakerEmbeddingRef(library_id, found.id)


async def transcribe(
    runtime: Runtime,
    worker: Worker,
    embedder: WeSpeakerEmbedder,
    accounts: Accounts,
    *,
    library_id: str,
    spoken: Sequence[Samples],
) -> tuple[str, dict[str, str]]:
    """Assemble the transcript of another video with these speakers; its id, and their labels by id."""
    video_id = await insert_video(accounts.connection, library_id, duration_seconds=60.0, transcript="processing")
    samples = np.concatenate(spoken)
    seconds = len(samples) / SAMPLE_RATE
    starts = np.cumsum([0, *(len(each) for each in spoken)]) / SAMPLE_RATE
    speech = [TimeSpan(float(a), float(b)) for a, b in pairwise(starts)]
    words = tuple(Word("word", at + 0.1, at + 0.8, 1.0) for at in range(int(seconds)))
    chunk = transcribed_chunk(
        Transcription("en", 1.0, words), embedder.embed(samples, speech=speech), engine="none", offset_seconds=0.0
    )
    path = video_path(library_id, video_id, "transcript/chunks/chunk-00000.json")
    await runtime.storage.put(path, write_chunk(chunk))
    job = JobRef(library_id, f"transcript_{video_id}", 1)
    plan = SpeechPlan(seconds, [TranscriptChunk(0, 0.0, seconds, seconds)])
    await ActivityEnvironment().run(worker.transcripts.assemble_transcript, job, video_id, plan, "en")
    async with runtime.database.transaction(library_id) as connection:
        transcript = await service.load_transcript(connection, library_id, video_id)
    return video_id, {each["id"]: each["label"] for each in transcript.speakers}


async def test_a_confirmed_speaker_is_named_in_the_next_episode(
    runtime: Runtime, worker: Worker, embedder: WeSpeakerEmbedder, transcribed: TranscribedVideo, tmp_path: Path
) -> None:
    await store_sound(runtime, transcribed, tmp_path, excerpt(ALLISON, "demo-congrats"))
    member_id, ref = await confirm(runtime, transcribed)
    await ActivityEnvironment().run(worker.prints.embed_speaker, ref)
    row = await transcribed.accounts.connection.fetchrow(
        "SELECT embedding_status, engine, sealed_embedding FROM cast_appearances WHERE id = $1", ref.appearance_id
    )
    assert row is not None
    assert (row["embedding_status"], row["engine"]) == ("ready", "wespeaker")
    assert len(row["sealed_embedding"]) > 512
    spoken = [
        excerpt(DICKENS, "two_cities", 1.0),
        excerpt(ALLISON, "demo-instruct"),
        excerpt(DICKENS, "two_cities", 11.0),
    ]
    video_id, labels = await transcribe(
        runtime, worker, embedder, transcribed.accounts, library_id=transcribed.library_id, spoken=spoken
    )
    assert labels == {"speaker_1": "Speaker 1", "speaker_2": "Ana"}
    async with runtime.database.transaction(transcribed.library_id) as connection:
        assert await members_of(connection, transcribed.library_id, video_id) == {"speaker_2": member_id}
    stored = await transcribed.accounts.connection.fetchrow(
        "SELECT source, embedding_status, sealed_embedding FROM cast_appearances WHERE video_id = $1", video_id
    )
    assert stored is not None
    assert tuple(stored) == ("recognized", "none", None)


async def test_no_speaker_is_recognized_after_opting_out(
    runtime: Runtime, worker: Worker, embedder: WeSpeakerEmbedder, transcribed: TranscribedVideo, tmp_path: Path
) -> None:
    await store_sound(runtime, transcribed, tmp_path, excerpt(ALLISON, "demo-congrats"))
    _, ref = await confirm(runtime, transcribed)
    await ActivityEnvironment().run(worker.prints.embed_speaker, ref)
    await transcribed.accounts.connection.execute(
        "DELETE FROM cast_scopes WHERE library_id = $1", transcribed.library_id
    )
    _, labels = await transcribe(
        runtime, worker, embedder, transcribed.accounts,
        library_id=transcribed.library_id, spoken=[excerpt(ALLISON, "demo-instruct")],
    )  # fmt: skip
    assert labels == {"speaker_1": "Speaker 1"}


@pytest.mark.parametrize("reason", ["too_little_speech", "no_embedder", "unusable"])
async def test_a_embedding_that_cannot_be_made_says_why(
    runtime: Runtime, worker: Worker, transcribed: TranscribedVideo, tmp_path: Path, reason: str
) -> None:
    await store_sound(runtime, transcribed, tmp_path, recording(AUSTEN, "0880"))
    _, ref = await confirm(runtime, transcribed)
    environment = ActivityEnvironment()
    if reason == "unusable":
        await environment.run(worker.prints.fail_speaker_embedding, ref)
    else:
        engines = OnlyEmbedder(None) if reason == "no_embedder" else worker.prints.engines
        await environment.run(replace(worker.prints, engines=engines).embed_speaker, ref)
    row = await transcribed.accounts.connection.fetchrow(
        "SELECT embedding_status, failure, sealed_embedding FROM cast_appearances WHERE id = $1", ref.appearance_id
    )
    assert row is not None
    assert tuple(row) == ("failed", reason, None)


async def test_a_embedding_that_is_no_longer_wanted_is_not_made(
    runtime: Runtime, worker: Worker, transcribed: TranscribedVideo
) -> None:
    """Where recognition is off, and after the member was deleted."""
    member_id, ref = await confirm(runtime, transcribed, opts_in=False)
    await ActivityEnvironment().run(worker.prints.embed_speaker, ref)
    states = "SELECT embedding_status FROM cast_appearances WHERE library_id = $1"
    assert await transcribed.accounts.connection.fetchval(states, transcribed.library_id) == "none"
    await transcribed.accounts.connection.execute("DELETE FROM cast_members WHERE id = $1", member_id)
    await ActivityEnvironment().run(worker.prints.embed_speaker, ref)
    assert await transcribed.accounts.connection.fetchval(states, transcribed.library_id) is None
