"""Transitions of jobs are recorded once, with those of the jobs that depend on them; traces follow the request."""

from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import format_trace_id
from temporalio.client import Client
from temporalio.runtime import MetricBuffer, TelemetryConfig
from temporalio.runtime import Runtime as TemporalRuntime
from temporalio.testing import ActivityEnvironment

from cutroom.credits.pricing import load_prices
from cutroom.jobs import service
from cutroom.jobs.activities import JobActivities
from cutroom.jobs.cancellation_activities import CancellationActivities
from cutroom.jobs.ids import JobKey, JobType
from cutroom.jobs.lifecycle import Failure, JobRef
from cutroom.jobs.metrics import JobMetrics
from cutroom.jobs.service import NewJob
from cutroom.platform.clock import system_clock
from cutroom.platform.settings import Settings
from cutroom.platform.temporal import connect
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.jobs.conftest import JobContext

FAILURE = Failure("UNSUPPORTED_SOURCE", "It is not a video.")
PRODUCTS = {"import": "ingest", "transcript": "transcripts"}


@pytest.fixture(scope="module")
async def client(settings: Settings) -> Client:
    return await connect(settings)


@pytest.fixture
def activities(runtime: Runtime, client: Client) -> JobActivities:
    return JobActivities(
        database=runtime.database,
        client=client,
        prices=load_prices(),
        clock=system_clock,
        metrics=JobMetrics(PRODUCTS),
    )


class Recorder:
    """Runs activities and returns the metrics that they record."""

    def __init__(self) -> None:
        self._buffer = MetricBuffer(1_000)
        self._environment = ActivityEnvironment()
        self._environment.metric_meter = TemporalRuntime(telemetry=TelemetryConfig(metrics=self._buffer)).metric_meter

    async def run(self, function: Any, *arguments: object) -> list[tuple[str, dict[str, str]]]:  # noqa: ANN401
        await self._environment.run(function, *arguments)
        own = [update for update in self._buffer.retrieve_updates() if update.metric.name.startswith("cutroom_")]
        labels = ("product", "job_type", "outcome", "code")
        return [
            (update.metric.name, {key: str(value) for key, value in update.attributes.items() if key in labels})
            for update in own
        ]


async def request(runtime: Runtime, job_context: JobContext, key: JobKey, *, depends_on: tuple[str, ...] = ()) -> None:
    async with runtime.database.transaction(job_context.library_id) as connection:
        new_job = NewJob(key, job_context.video_id, depends_on=depends_on)
        await service.create_jobs(
            connection, job_context.principal, [new_job], prices=load_prices(), now=system_clock()
        )


async def test_each_transition_is_recorded_once(
    runtime: Runtime, job_context: JobContext, activities: JobActivities
) -> None:
    first, second = JobKey(JobType.IMPORT, job_context.video_id), JobKey(JobType.TRANSCRIPT, job_context.video_id)
    await request(runtime, job_context, first)
    await request(runtime, job_context, second, depends_on=(first.id,))
    recorder, ref = Recorder(), JobRef(job_context.library_id, first.id, 1)
    ingest, transcripts = (
        {"product": "ingest", "job_type": "import"},
        {"product": "transcripts", "job_type": "transcript"},
    )
    assert await recorder.run(activities.start_job, ref) == [("cutroom_job_queue_seconds", ingest)]
    assert await recorder.run(activities.start_job, ref) == []
    recorded = await recorder.run(activities.fail_job, ref, FAILURE)
    assert sorted(recorded, key=lambda one: (one[0], one[1]["product"])) == [
        ("cutroom_job_failures_total", {**ingest, "code": "UNSUPPORTED_SOURCE"}),
        ("cutroom_job_failures_total", {**transcripts, "code": "FAILED_PRECONDITION"}),
        ("cutroom_job_run_seconds", {**ingest, "outcome": "failed"}),
    ]
    assert await recorder.run(activities.fail_job, ref, FAILURE) == []


async def test_released_job_continues_the_trace_of_its_own_request(
    runtime: Runtime, job_context: JobContext, activities: JobActivities, accounts: Accounts
) -> None:
    tracer = TracerProvider().get_tracer("test")
    first, second = JobKey(JobType.IMPORT, job_context.video_id), JobKey(JobType.TRANSCRIPT, job_context.video_id)
    trace_ids = {}
    for key, depends_on in ((first, ()), (second, (first.id,))):
        with tracer.start_as_current_span(key.id) as span:
            await request(runtime, job_context, key, depends_on=depends_on)
        trace_ids[key.id] = format_trace_id(span.get_span_context().trace_id)
    ref = JobRef(job_context.library_id, first.id, 1)
    await ActivityEnvironment().run(activities.start_job, ref)
    with tracer.start_as_current_span("complete"):
        await ActivityEnvironment().run(activities.complete_job, ref, {})
    rows = await accounts.connection.fetch(
        "SELECT workflow_id, trace_context FROM outbox WHERE library_id = $1 AND is_job", job_context.library_id
    )
    assert {row["workflow_id"]: row["trace_context"]["traceparent"].split("-")[1] for row in rows} == trace_ids


async def test_canceled_job_is_counted_as_a_failure_with_its_code(
    runtime: Runtime, client: Client, job_context: JobContext
) -> None:
    activities = CancellationActivities(
        database=runtime.database,
        client=client,
        storage=runtime.storage,
        metrics=JobMetrics(PRODUCTS),
        output_prefixes={},
    )
    ref = JobRef(job_context.library_id, JobKey(JobType.IMPORT, job_context.video_id).id, 1)
    assert await Recorder().run(activities.stop_canceled_job, ref) == [
        ("cutroom_job_failures_total", {"product": "ingest", "job_type": "import", "code": "CANCELLED"})
    ]
