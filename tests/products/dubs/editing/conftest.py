"""Stages of dubs whose jobs are run by the real workflows with stub engines."""

import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import numpy as np
import pytest
from temporalio.client import Client
from temporalio.worker import Worker

from cutroom.capabilities.rules import AdvertisedTranslator
from cutroom.capabilities.service import publish_routes, publish_voices
from cutroom.credits import ledger
from cutroom.credits.pricing import load_prices
from cutroom.engines.translation.port import Quality, Route
from cutroom.jobs.activities import JobActivities
from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.metrics import JobMetrics
from cutroom.library.rules import video_path
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.sandbox import Sandbox
from cutroom.platform.clock import system_clock
from cutroom.platform.settings import Settings
from cutroom.platform.task_queues import TaskQueue
from cutroom.platform.temporal import connect
from cutroom.products.dubs.activities import DubActivities
from cutroom.products.dubs.artifacts import DubArtifacts, DubRef
from cutroom.products.dubs.editing.activities import RedubActivities
from cutroom.products.dubs.editing.takes.activities import TakeActivities
from cutroom.products.dubs.editing.takes.workflow import TakesWorkflow
from cutroom.products.dubs.mixing import MIX_RATE
from cutroom.products.dubs.workflow import DubWorkflow, RedubWorkflow
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.products.conftest import TranscribedVideo
from tests.products.dubs.editing.published import DubbedVideo
from tests.products.dubs.editing.stub_engines import DubbingEngines
from tests.products.dubs.test_activities import SECONDS, no_pause, write_source
from tests.support.dub_stage import decode_samples

if TYPE_CHECKING:
    from tests.support.dub_stage import AudioSamples

FUNDS = 50_000
INSERTED = [(10.0, 13.0, "A third line."), (30.0, 34.0, "A fourth line."), (64.0, 68.0, "The last line.")]


@dataclass(frozen=True)
class Regenerator(DubbedVideo):
    """A dub whose jobs are run by workers with stub engines."""

    runtime: Runtime
    client: Client
    engines: DubbingEngines
    artifacts: DubArtifacts

    @property
    def dub(self) -> DubRef:
        return DubRef(self.video.library_id, self.video.video_id, "pt", "plus")

    async def run(self, job_id: str, workflow: Any) -> None:  # noqa: ANN401 (a workflow's run method)
        ref = JobRef(self.video.library_id, job_id, await self._attempt(job_id))
        name = job_id if ref.attempt == 1 else f"{job_id}.{ref.attempt}"
        await self.client.execute_workflow(workflow, ref, id=name, task_queue=TaskQueue.CONTROL)

    async def _attempt(self, job_id: str) -> int:
        found: int = await self.video.accounts.connection.fetchval("SELECT attempt FROM jobs WHERE id = $1", job_id)
        return found

    async def make(self) -> None:
        response = await self.api.post(f"/videos/{self.video.video_id}/dubs", json={"languages": ["pt"]})
        assert response.status_code == 202, response.text
        await self.rerun()

    async def rerun(self) -> None:
        """Make the dub that was requested."""
        await self.run(self.job_id, DubWorkflow.run)

    async def regenerate(self, **body: Any) -> dict[str, Any]:  # noqa: ANN401 (fields of the body)
        revision = (await self.read())["revision"]
        response = await self.api.post(f"{self.path}/regenerate", json={"revision": revision, **body})
        assert response.status_code == 202, response.text
        job_id = response.json()["job"]["id"]
        await self.run(job_id, RedubWorkflow.run)
        found: dict[str, Any] = (await self.read())["job"]
        assert found["id"] == job_id
        return found

    async def mixed(self) -> "AudioSamples":
        """The lossless mix of the published track."""
        generation = await self.video.accounts.connection.fetchval(
            "SELECT generation FROM dubs WHERE video_id = $1", self.video.video_id
        )
        dub, artifacts = replace(self.dub, generation=generation), self.artifacts
        script, schedule = await artifacts.script(dub), await artifacts.schedule(dub, "schedule")
        paths = [dub.mixed_path(script, schedule, at) for at in range(script.chunk_count)]
        return np.concatenate(
            [decode_samples(await artifacts.read(path), rate=MIX_RATE, channels=2) for path in paths], axis=1
        )

    async def balance(self) -> int:
        return await ledger.wallet_balance(self.video.accounts.connection, self.video.library_id)

    async def audio_path(self) -> str:
        found: str = await self.video.accounts.connection.fetchval(
            "SELECT audio_path FROM dubs WHERE video_id = $1", self.video.video_id
        )
        return found

    @asynccontextmanager
    async def workers(self) -> AsyncIterator[None]:
        """Workers of all queues that a dub needs, in this process."""
        database, artifacts, engines = self.runtime.database, self.artifacts, self.engines
        dubs = DubActivities(database, artifacts, engines, system_clock, no_pause)
        redubs = RedubActivities(database, artifacts, engines, system_clock)
        takes = TakeActivities(database, artifacts, engines, system_clock)
        jobs = JobActivities(database, self.client, load_prices(None), system_clock, JobMetrics({}))
        control = Worker(
            self.client,
            task_queue=TaskQueue.CONTROL,
            workflows=[DubWorkflow, RedubWorkflow, TakesWorkflow],
            activities=[jobs.start_job, jobs.complete_job, jobs.fail_job],
        )
        speech = Worker(
            self.client,
            task_queue=TaskQueue.SPEECH,
            activities=[
                dubs.plan_dub,
                dubs.plan_dub_texts,
                dubs.separate_dub_chunks,
                dubs.assign_voices,
                dubs.synthesize_lines,
                dubs.schedule_lines,
                dubs.mix_dub_chunks,
                dubs.finish_dub_chunks,
                dubs.publish_dub_preview,
                dubs.publish_dub,
                redubs.plan_redub,
                redubs.assign_redub_voices,
                redubs.schedule_redub_lines,
                redubs.transcribe_redub_lines,
                redubs.publish_redub,
            ],
        )
        voice = Worker(self.client, task_queue=TaskQueue.VOICE, activities=[takes.speak_takes])
        async with control, speech, voice:
            yield


@pytest.fixture
async def dub_stage(
    api: httpx.AsyncClient,
    runtime: Runtime,
    settings: Settings,
    accounts: Accounts,
    transcribed: TranscribedVideo,
    tmp_path: Path,
) -> Regenerator:
    engines, now = DubbingEngines(), system_clock()
    await accounts.connection.execute("DELETE FROM translation_routes")
    await accounts.connection.execute("DELETE FROM stock_voices")
    routes = (Route("en", "pt", Quality.PUBLISHABLE),)
    async with runtime.database.connection() as connection, connection.transaction():
        await publish_routes(connection, [AdvertisedTranslator("one", routes)], now=now)
        await publish_voices(connection, engines.voice, now=now)
    await ledger.grant(accounts.connection, transcribed.library_id, millicredits=FUNDS, reference="tests", now=now)
    await accounts.connection.execute(
        "UPDATE videos SET duration_seconds = $2 WHERE id = $1", transcribed.video_id, SECONDS
    )
    write_source(tmp_path / "mix.mka")
    encoded = ("-ac", "1", "-ar", "16000", str(tmp_path / "speech.flac"))
    subprocess.run(["ffmpeg", "-v", "error", "-i", str(tmp_path / "mix.mka"), *encoded], check=True)
    for name in ("mix.mka", "speech.flac"):
        path = video_path(transcribed.library_id, transcribed.video_id, name)
        await runtime.storage.put(path, tmp_path / name)
    cache = LocalMediaCache(runtime.storage, tmp_path / "cache", max_bytes=10**8)
    artifacts = DubArtifacts(runtime.storage, cache, Sandbox())
    client = await connect(settings)
    video = Regenerator(transcribed, api, runtime, client, engines, artifacts)
    inserts = [
        {"op": "insert", "start": start, "end": end, "text": text, "speaker": "speaker_1"}
        for start, end, text in INSERTED
    ]
    await video.edit_transcript(1, *inserts)
    return video


@pytest.fixture
async def regenerator(dub_stage: Regenerator) -> AsyncIterator[Regenerator]:
    """A finished dub, with the workers that made it."""
    async with dub_stage.workers():
        await dub_stage.make()
        dub_stage.engines.forget()
        yield dub_stage
