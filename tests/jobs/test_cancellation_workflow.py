"""Canceled jobs on real Temporal: FFmpeg ends, the worker is free again, and nothing restarts."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from temporalio import activity, workflow
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.worker import Worker

from cutroom.entrypoints.worker import MAX_HEARTBEAT_INTERVAL, core_activities
from cutroom.jobs import service
from cutroom.jobs.ids import JobKey, JobType
from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.service import NewJob
from cutroom.jobs.steps import job_step
from cutroom.jobs.worker import WorkerContext, media_sandbox
from cutroom.jobs.workflow import ActivityRunner, CancelJobWorkflow, run_job
from cutroom.media.sandbox import Sandbox
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Database
from cutroom.platform.egress.client import Egress
from cutroom.platform.ids import new_id
from cutroom.platform.relay import Relay
from cutroom.platform.settings import Settings
from cutroom.platform.task_queues import TaskQueue
from cutroom.platform.temporal import connect
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.credits.conftest import PRICES
from tests.jobs.conftest import JobContext

LONG_SECONDS = 300
CANCEL_SECONDS = 10.0  # in which a canceled job has to free its worker

media = ActivityRunner(TaskQueue.MEDIA, start_to_close=timedelta(minutes=30))


@dataclass
class LongEncoder:
    """An activity that runs FFmpeg for minutes, and a thread that reports progress like an engine."""

    database: Database
    sandbox: Sandbox
    folder: Path
    started: list[str] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    thread_steps: int = 0
    thread_ended: bool = False

    @activity.defn(name="encode_for_long")
    async def encode(self, ref: JobRef) -> None:
        self.started.append(ref.job_id)
        try:
            async with job_step(self.database, system_clock, ref, "encoding", progress=90) as report:
                thread = asyncio.create_task(asyncio.to_thread(self._compute, report))
                await asyncio.gather(self._ffmpeg(ref), thread)
        finally:
            self.ended.append(ref.job_id)

    async def _ffmpeg(self, ref: JobRef) -> None:
        source = ["-re", "-f", "lavfi", "-i", f"sine=440:d={LONG_SECONDS}"]
        arguments = [*source, "-metadata", f"title={ref.job_id}", "-f", "wav", f"{ref.attempt}.wav"]
        await self.sandbox.run("ffmpeg", ["-v", "error", "-y", *arguments], inputs={}, output=self.folder)

    def _compute(self, report: Any) -> None:  # noqa: ANN401 (a progress function)
        try:
            while True:
                time.sleep(0.05)
                self.thread_steps += 1
                report(0.1)
        finally:
            self.thread_ended = True


@workflow.defn(name="shorts", sandboxed=False)
class LongWorkflow:
    @workflow.run
    async def run(self, job: JobRef) -> None:
        await run_job(job, partial(self._encode, job))

    async def _encode(self, job: JobRef, _plan: dict[str, Any]) -> dict[str, Any]:
        await media.run(LongEncoder.encode, job)
        return {}


@dataclass(frozen=True)
class Stage:
    """A worker that can be stopped, and a relay that is run by hand."""

    context: WorkerContext
    encoder: LongEncoder
    runtime: Runtime
    job_context: JobContext
    relay: Relay

    @property
    def client(self) -> Client:
        return self.context.client

    @asynccontextmanager
    async def worker(self) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            control = core_activities(self.context)[TaskQueue.CONTROL]
            workflows = [LongWorkflow, CancelJobWorkflow]
            await stack.enter_async_context(
                Worker(self.client, task_queue=TaskQueue.CONTROL, workflows=workflows, activities=control)
            )
            await stack.enter_async_context(
                Worker(
                    self.client,
                    task_queue=TaskQueue.MEDIA,
                    activities=[self.encoder.encode],
                    max_concurrent_activities=1,
                    max_heartbeat_throttle_interval=MAX_HEARTBEAT_INTERVAL,
                )
            )
            yield

    async def request(self) -> str:
        key = JobKey(JobType.SHORTS, new_id())
        async with self.runtime.database.transaction(self.job_context.library_id) as connection:
            job = NewJob(key, self.job_context.video_id, plan={"kind": "shorts"})
            await service.create_jobs(connection, self.job_context.principal, [job], prices=PRICES, now=system_clock())
        await self.relay.relay_once()
        return key.id


@pytest.fixture
async def stage(
    settings: Settings,
    runtime: Runtime,
    worker_database: Database,
    accounts: Accounts,
    job_context: JobContext,
    tmp_path: Path,
) -> AsyncIterator[Stage]:
    await accounts.connection.execute("DELETE FROM outbox")
    changed = settings.model_copy(update={"cache_dir": tmp_path / "cache"})
    context = WorkerContext.of(changed, await connect(changed), worker_database, egress=Egress())
    output = tmp_path / "output"
    output.mkdir()
    encoder = LongEncoder(runtime.database, media_sandbox(settings), output)
    relay = Relay(runtime.database, context.client, running_jobs_per_library=10)
    yield Stage(context, encoder, runtime, job_context, relay)
    await context.multipart.close()


def running_ffmpeg(marker: str) -> int:
    """How many FFmpeg processes carry the marker in their arguments."""
    found = 0
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            arguments = path.read_bytes().split(b"\0")
        except OSError:  # it has exited
            continue
        found += arguments[0].endswith(b"ffmpeg") and f"title={marker}".encode() in arguments
    return found


async def wait_until(condition: Any, seconds: float) -> float:  # noqa: ANN401 (a function)
    """The seconds until the condition holds; fails after the given time."""
    started = time.monotonic()
    while not condition():
        assert time.monotonic() - started < seconds, "the condition does not hold"
        await asyncio.sleep(0.05)
    return time.monotonic() - started


async def test_canceled_job_ends_its_programs_and_threads_and_frees_the_worker(
    stage: Stage, api: httpx.AsyncClient
) -> None:
    async with stage.worker():
        first = await stage.request()
        await wait_until(lambda: running_ffmpeg(first) == 1, 30)
        await asyncio.sleep(1)  # past the first heartbeat, so that the next one is throttled
        response = await api.post(f"/jobs/{first}/cancel")
        assert response.json()["error"]["code"] == "CANCELLED"
        await stage.relay.relay_once()
        encoder = stage.encoder
        seconds = await wait_until(lambda: not running_ffmpeg(first) and encoder.ended == [first], CANCEL_SECONDS)
        assert encoder.thread_steps > 0
        await wait_until(lambda: encoder.thread_ended, max(CANCEL_SECONDS - seconds, 0.5))
        described = await stage.client.get_workflow_handle(first).describe()
        assert described.status is WorkflowExecutionStatus.TERMINATED
        second = await stage.request()  # the only slot of the worker is free
        await wait_until(lambda: running_ffmpeg(second) == 1, CANCEL_SECONDS)
        await api.post(f"/jobs/{second}/cancel")
        await stage.relay.relay_once()
        await wait_until(lambda: not running_ffmpeg(second), CANCEL_SECONDS)
    assert stage.encoder.started == [first, second]


async def test_job_canceled_without_a_worker_never_runs(stage: Stage, api: httpx.AsyncClient) -> None:
    """As after a crash: the job ends at once, and its work is not taken up again by the next worker."""
    job_id = await stage.request()
    assert (await api.post(f"/jobs/{job_id}/cancel")).status_code == 200
    await stage.relay.relay_once()
    async with stage.worker():
        handle = stage.client.get_workflow_handle(job_id)
        status = WorkflowExecutionStatus.RUNNING
        async with asyncio.timeout(20):
            while status is WorkflowExecutionStatus.RUNNING:
                status = (await handle.describe()).status or status
                await asyncio.sleep(0.1)
        assert status in {WorkflowExecutionStatus.TERMINATED, WorkflowExecutionStatus.COMPLETED}
        await asyncio.sleep(1)
    assert stage.encoder.started == []
    assert (await api.get(f"/jobs/{job_id}")).json()["error"]["code"] == "CANCELLED"


async def test_retry_runs_while_the_canceled_attempt_ends(stage: Stage, api: httpx.AsyncClient) -> None:
    async with stage.worker():
        job_id = await stage.request()
        await wait_until(lambda: stage.encoder.started == [job_id], 30)
        await api.post(f"/jobs/{job_id}/cancel")
        assert (await api.post(f"/jobs/{job_id}/retry")).status_code == 202
        await stage.relay.relay_once()
        await wait_until(lambda: stage.encoder.started == [job_id, job_id], 2 * CANCEL_SECONDS)
        assert (await api.get(f"/jobs/{job_id}")).json()["status"] == "processing"
        await api.post(f"/jobs/{job_id}/cancel")
        await stage.relay.relay_once()
        await wait_until(lambda: len(stage.encoder.ended) == 2 and not running_ffmpeg(job_id), CANCEL_SECONDS)
