"""Dubs of 24 hours on real Temporal, with fake activities: the size of the history, cancellation and fair sharing."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import EventType
from temporalio.api.workflowservice.v1 import DescribeWorkflowExecutionRequest
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowHandle
from temporalio.common import Priority
from temporalio.testing import ActivityEnvironment
from temporalio.worker import Worker

from cutroom.entrypoints.worker import MAX_HEARTBEAT_INTERVAL, PRODUCTS_BY_WORKFLOW
from cutroom.jobs.cancellation_activities import CancellationActivities
from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.metrics import JobMetrics
from cutroom.media.probe import MAX_DURATION_SECONDS
from cutroom.platform.ids import new_id
from cutroom.platform.settings import Settings
from cutroom.platform.task_queues import TaskQueue
from cutroom.platform.temporal import connect
from cutroom.products.dubs import script
from cutroom.products.dubs.script import CHUNK_SECONDS, DubBatch, chunk_batches, line_batches
from cutroom.products.dubs.workflow import DubWorkflow
from cutroom.web.runtime import Runtime
from tests.products.dubs.fake_activities import FakeDubs, FakeJobs, hold_until_canceled, spoken_lines

MAX_EVENTS, MAX_BYTES = 51_200, 50 * 2**20  # of a history, at which Temporal terminates a workflow
EVENTS_PER_ACTIVITY = 6  # scheduled, started, completed; and the same of the workflow task that its result needs
LINE_SECONDS = 4.0
SCALE = 5
OTHER_ACTIVITIES = 8  # plan, first chunk, voices, preview (3), schedule and publication
LONG_CHUNKS = round(MAX_DURATION_SECONDS / CHUNK_SECONDS)
LONG_LINES = round(MAX_DURATION_SECONDS / LINE_SECONDS)


@dataclass
class FakeStage:
    """A worker with fake activities, in a namespace of its own."""

    client: Client
    dubs: FakeDubs = field(default_factory=lambda: FakeDubs({}, {}))
    jobs: FakeJobs = field(default_factory=FakeJobs)

    @asynccontextmanager
    async def worker(self, *, slots: int = 16) -> AsyncIterator[None]:
        control = Worker(
            self.client, task_queue=TaskQueue.CONTROL, workflows=[DubWorkflow], activities=self.jobs.activities()
        )
        speech = Worker(
            self.client,
            task_queue=TaskQueue.SPEECH,
            activities=self.dubs.activities(),
            max_concurrent_activities=slots,
            max_heartbeat_throttle_interval=MAX_HEARTBEAT_INTERVAL,
        )
        async with control, speech:
            yield

    async def start(
        self, *, lines: int, chunks: int, product: str = "plus"
    ) -> tuple[JobRef, WorkflowHandle[DubWorkflow, None]]:
        job = JobRef(new_id(), f"dub_{new_id()}_pt_{product}", 1)
        self.dubs.lines[job.job_id] = spoken_lines(lines, seconds=LINE_SECONDS)
        self.dubs.chunk_counts[job.job_id] = chunks
        handle = await self.client.start_workflow(
            DubWorkflow.run,
            job,
            id=job.job_id,
            task_queue=TaskQueue.CONTROL,
            priority=Priority(fairness_key=job.library_id),
        )
        return job, handle


@pytest.fixture
async def stage(settings: Settings) -> FakeStage:
    return FakeStage(await connect(settings))


async def history_size(client: Client, workflow_id: str) -> tuple[int, int]:
    """Events and bytes, as Temporal counts them."""
    request = DescribeWorkflowExecutionRequest(
        namespace=client.namespace, execution=WorkflowExecution(workflow_id=workflow_id)
    )
    info = (await client.workflow_service.describe_workflow_execution(request)).workflow_execution_info
    return info.history_length, info.history_size_bytes


def numbers_of(batches: list[DubBatch]) -> list[int]:
    return sorted(number for batch in batches for number in batch.numbers)


@pytest.fixture
def _fewer_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fifth of the batches, each of five times the lines: a dub of 24 hours in seconds."""
    for name in ("MAX_LINE_BATCHES", "MAX_CHUNK_BATCHES"):
        monkeypatch.setattr(script, name, getattr(script, name) // SCALE)


def planned_activities() -> int:
    """Of a dub of 24 hours, with the present limits."""
    lines = line_batches(spoken_lines(LONG_LINES, seconds=LINE_SECONDS))
    separated, processed = chunk_batches(range(1, LONG_CHUNKS)), chunk_batches(range(LONG_CHUNKS))
    return len(lines) + len(separated) + len(processed) + OTHER_ACTIVITIES


def test_history_of_24_hours_stays_below_half_of_the_limit() -> None:
    assert EVENTS_PER_ACTIVITY * planned_activities() < MAX_EVENTS / 2


@pytest.mark.usefixtures("_fewer_batches")
async def test_history_has_one_activity_per_batch(stage: FakeStage) -> None:
    async with stage.worker():
        job, handle = await stage.start(lines=LONG_LINES, chunks=LONG_CHUNKS)
        await handle.result()
    assert stage.jobs.failures == []
    assert stage.jobs.results == [{"job_id": job.job_id, "mixed": LONG_CHUNKS, "transcribed": LONG_CHUNKS}]
    assert numbers_of(stage.dubs.batches("synthesize_lines", job.job_id)) == list(range(LONG_LINES))
    assert numbers_of(stage.dubs.batches("separate_dub_chunks", job.job_id)) == list(range(LONG_CHUNKS))
    types = Counter([each.event_type async for each in handle.fetch_history_events()])
    activities = types[EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED]
    assert activities == planned_activities()
    events, size = await history_size(stage.client, job.job_id)
    # Results that arrive together share a workflow task. When each arrives alone, as in production, there are more.
    assert events <= EVENTS_PER_ACTIVITY * activities
    assert SCALE * size < MAX_BYTES / 2


@pytest.mark.usefixtures("_fewer_batches")
async def test_dub_of_24_hours_is_canceled_in_the_middle(stage: FakeStage, runtime: Runtime) -> None:
    held, canceled = asyncio.Event(), asyncio.Event()

    async def synthesize(_job: JobRef, batch: DubBatch) -> int:
        if batch.first < LONG_LINES / 2:
            return batch.end
        held.set()
        try:
            await hold_until_canceled()
        finally:
            canceled.set()
        return batch.end

    stage.dubs.synthesize = synthesize
    stop = CancellationActivities(
        runtime.database, stage.client, runtime.storage, JobMetrics(PRODUCTS_BY_WORKFLOW), output_prefixes={}
    )
    async with stage.worker():
        job, handle = await stage.start(lines=LONG_LINES, chunks=LONG_CHUNKS)
        await held.wait()
        await ActivityEnvironment().run(stop.stop_canceled_job, job)
        await canceled.wait()  # by a heartbeat, not by the end of the worker
        assert (await handle.describe()).status is WorkflowExecutionStatus.TERMINATED
    done = numbers_of(stage.dubs.batches("synthesize_lines", job.job_id))
    assert 0.4 * LONG_LINES < len(done) < 0.6 * LONG_LINES  # batches run 16 at a time, in any order
    assert stage.jobs.results == []


async def test_batches_that_are_cut_short_are_continued(stage: FakeStage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script, "MAX_LINE_BATCHES", 20)
    done: list[int] = []

    async def synthesize(_job: JobRef, batch: DubBatch) -> int:
        end = batch.first + max(1, len(batch.numbers) // 2)
        done.extend(range(batch.first, end))
        return end

    stage.dubs.synthesize = synthesize
    async with stage.worker():
        job, handle = await stage.start(lines=200, chunks=14)
        await handle.result()
    assert len(stage.dubs.batches("synthesize_lines", job.job_id)) > len(line_batches(stage.dubs.lines[job.job_id]))
    assert sorted(done) == list(range(200))
    assert len(stage.jobs.results) == 1


@pytest.mark.parametrize("product", ["plus", "premium"])
async def test_each_chunk_is_separated_once(stage: FakeStage, product: str) -> None:
    async with stage.worker():
        job, handle = await stage.start(lines=60, chunks=4, product=product)
        await handle.result()
    assert numbers_of(stage.dubs.batches("separate_dub_chunks", job.job_id)) == [0, 1, 2, 3]
    assert stage.dubs.batches("schedule_lines", job.job_id) == [DubBatch(0, 15), DubBatch(0, 60)]
    assert stage.jobs.results == [{"job_id": job.job_id, "mixed": 4, "transcribed": 4}]


async def test_short_dub_does_not_wait_for_a_long_one(stage: FakeStage) -> None:
    """On a single slot, a dub of another library is ready long before the long one."""
    is_long_at_work = asyncio.Event()

    async def synthesize(_job: JobRef, batch: DubBatch) -> int:
        if batch.first > 100:
            is_long_at_work.set()
        return batch.end

    stage.dubs.synthesize = synthesize
    async with stage.worker(slots=1):
        long, _ = await stage.start(lines=2_000, chunks=20)
        await is_long_at_work.wait()
        _, handle = await stage.start(lines=20, chunks=2)
        await handle.result()
        turns = [job_id for job_id, _, _ in stage.dubs.calls]
        await stage.client.get_workflow_handle(long.job_id).terminate()
    batches = len(line_batches(stage.dubs.lines[long.job_id]))
    assert turns.count(long.job_id) < batches / 2
