"""Transcript activities: progress moves while a chunk is transcribed."""

import asyncio
import json
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from temporalio.testing import ActivityEnvironment

from cutroom.engines.recognition.port import SpeechRecognizer, Transcription
from cutroom.engines.registry import Engines
from cutroom.engines.types import OnProgress, TimeSpan
from cutroom.jobs import step_progress
from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.service import get_job
from cutroom.library.rules import video_path
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.sandbox import Sandbox
from cutroom.platform.clock import system_clock
from cutroom.products.transcripts import service
from cutroom.products.transcripts.activities import TranscriptActivities, TranscriptChunkTask
from cutroom.products.transcripts.chunks import DETECTION_PROGRESS, TRANSCRIPTION_PROGRESS, TranscriptChunk
from cutroom.web.runtime import Runtime
from tests.products.conftest import TranscribedVideo

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

SECONDS = 4.0


class HalfwayRecognizer:
    """Stops halfway until it is released."""

    name = "halfway"

    def __init__(self) -> None:
        self.released = threading.Event()

    def transcribe(
        self,
        samples: "Samples",  # noqa: ARG002
        *,
        language: str | None,  # noqa: ARG002
        speech: Sequence[TimeSpan],  # noqa: ARG002
        on_progress: OnProgress | None = None,
    ) -> Transcription:
        assert on_progress is not None
        on_progress(0.5)
        assert self.released.wait(60)
        return Transcription("en", 1.0, ())


class FakeEngines(Engines):
    def __init__(self, recognizer: HalfwayRecognizer) -> None:
        self._fake = recognizer

    def recognizer(self) -> SpeechRecognizer:
        return self._fake

    def speaker_embedder(self) -> None:
        return None


async def test_progress_moves_while_the_only_chunk_is_transcribed(
    runtime: Runtime, transcribed: TranscribedVideo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(step_progress, "REPORT_SECONDS", 0.01)
    library_id, video_id = transcribed.library_id, transcribed.video_id
    await transcribed.job(status="processing", finished_at=None, progress=DETECTION_PROGRESS)
    sound = tmp_path / "speech.flac"
    subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", f"sine=300:r=16000:d={SECONDS}", sound], check=True)
    await runtime.storage.put(service.speech_path(library_id, video_id), sound)
    spans = video_path(library_id, video_id, "transcript/chunks/speech.json")
    await runtime.storage.put(spans, json.dumps([[0.0, SECONDS]]).encode())
    recognizer = HalfwayRecognizer()
    activities = TranscriptActivities(
        database=runtime.database,
        storage=runtime.storage,
        media_cache=LocalMediaCache(runtime.storage, tmp_path / "cache", max_bytes=10**8),
        sandbox=Sandbox(),
        engines=FakeEngines(recognizer),
        clock=system_clock,
        secret_box=runtime.secret_box,
    )
    job = JobRef(library_id, f"transcript_{video_id}", 1)
    task = TranscriptChunkTask(TranscriptChunk(0, 0.0, SECONDS, SECONDS), "en", total_chunks=1)
    running = asyncio.create_task(ActivityEnvironment().run(activities.transcribe_chunk, job, video_id, task))

    async def progress() -> int:
        async with runtime.database.transaction(library_id) as connection:
            return (await get_job(connection, library_id, job.job_id)).progress or 0

    halfway = (DETECTION_PROGRESS + TRANSCRIPTION_PROGRESS) // 2
    while await progress() < halfway:
        assert not running.done()
    assert halfway <= await progress() < TRANSCRIPTION_PROGRESS
    recognizer.released.set()
    assert await running == "en"
    assert await progress() == TRANSCRIPTION_PROGRESS
