"""Voice prints and recognition with the real embedder: a confirmed speaker is named in the next episode."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from temporalio.testing import ActivityEnvironment

from cutroom.cast.appearances import members_of
from cutroom.engines.diarization.embeddings import WeSpeakerEmbedder
from cutroom.engines.recognition.port import Transcription, Word
from cutroom.engines.types import SAMPLE_RATE, TimeSpan
from cutroom.jobs.lifecycle import JobRef
from cutroom.library.rules import video_path
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.sandbox import Sandbox
from cutroom.platform.clock import system_clock
from cutroom.products.transcripts import service
from cutroom.products.transcripts.activities import SpeechPlan, TranscriptActivities
from cutroom.products.transcripts.alignment import transcribed_chunk, write_chunk
from cutroom.products.transcripts.chunks import TranscriptChunk
from cutroom.products.transcripts.speaker_recognition.activities import SpeakerEmbeddingActivities
from cutroom.products.transcripts.speaker_recognition.embedding import SpeechEmbedding
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.engines.recognition.recognizer_suite import model_folder
from tests.products.conftest import TranscribedVideo
from tests.support.dialogue import ALLISON, AUSTEN, DICKENS, Samples, recording
from tests.support.transcribed_videos import insert_video
from tests.support.voices.voice_prints import OnlyEmbedder, confirm, excerpt, store_sound


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
    embedding = SpeechEmbedding(
        runtime.database, runtime.storage, cache, Sandbox(), engines, secret_box=runtime.secret_box
    )
    prints = SpeakerEmbeddingActivities(embedding)
    transcripts = TranscriptActivities(
        runtime.database, runtime.storage, cache, Sandbox(), engines, system_clock, runtime.secret_box
    )
    return Worker(prints, transcripts)


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
        engines = OnlyEmbedder(None) if reason == "no_embedder" else worker.prints.speech.engines
        prints = SpeakerEmbeddingActivities(replace(worker.prints.speech, engines=engines))
        await environment.run(prints.embed_speaker, ref)
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
