"""The relay starts each workflow once within the library cap; the sweep recovers stuck jobs."""

import asyncio
from datetime import timedelta
from typing import cast

import pytest
from temporalio.api.operatorservice.v1 import DeleteNamespaceRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode
from temporalio.testing import ActivityEnvironment

from cutroom.credits.pricing import load_prices
from cutroom.jobs import lifecycle, service
from cutroom.jobs.activities import JobActivities
from cutroom.jobs.ids import JobKey, JobType
from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.metrics import JobMetrics
from cutroom.jobs.service import NewJob
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Database
from cutroom.platform.ids import new_id
from cutroom.platform.relay import MAX_REFUSALS, Relay
from cutroom.platform.settings import Settings
from cutroom.platform.temporal import connect, connect_plainly
from cutroom.platform.temporal_setup import LIBRARY_ID, NamespaceSpec, has_library_attribute, set_up
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.jobs.conftest import JobContext


@pytest.fixture(scope="module")
async def client(settings: Settings) -> Client:
    return await connect(settings)


@pytest.fixture
async def _empty_outbox(accounts: Accounts) -> None:
    await accounts.connection.execute("DELETE FROM outbox")


async def request_shorts(runtime: Runtime, job_context: JobContext, number: int) -> list[str]:
    keys = [JobKey(JobType.SHORTS, new_id()) for _ in range(number)]
    async with runtime.database.transaction(job_context.library_id) as connection:
        new_jobs = [NewJob(key, job_context.video_id) for key in keys]
        await service.request_jobs(
            connection, job_context.principal, new_jobs, prices=load_prices(), now=system_clock()
        )
    return [key.id for key in keys]


@pytest.mark.usefixtures("_empty_outbox")
async def test_concurrent_jobs_per_library_are_capped(
    runtime: Runtime, job_context: JobContext, client: Client
) -> None:
    job_ids = await request_shorts(runtime, job_context, 5)
    relay = Relay(runtime.database, client, running_jobs_per_library=2)
    assert await relay.relay_once() == 2
    assert await relay.relay_once() == 0
    async with runtime.database.transaction(job_context.library_id) as connection:
        ref = JobRef(job_context.library_id, job_ids[0], 1)
        await lifecycle.complete(connection, ref, result={}, now=system_clock())
    assert await relay.relay_once() == 1
    started = [await client.get_workflow_handle(job_id).describe() for job_id in job_ids[:3]]
    assert {each.workflow_type for each in started} == {"shorts"}


@pytest.mark.usefixtures("_empty_outbox")
async def test_workflows_carry_their_library(runtime: Runtime, job_context: JobContext, settings: Settings) -> None:
    namespace = f"library-{new_id()}"
    await set_up(await connect_plainly(settings), NamespaceSpec(namespace, retention=timedelta(days=1)))
    client = await connect(settings.model_copy(update={"temporal_namespace": namespace}))
    [job_id] = await request_shorts(runtime, job_context, 1)
    relay = Relay(
        runtime.database,
        client,
        running_jobs_per_library=2,
        sets_library_attribute=await has_library_attribute(client),
    )
    assert await relay.relay_once() == 1
    started = await client.get_workflow_handle(job_id).describe()
    assert started.typed_search_attributes.get(LIBRARY_ID) == job_context.library_id
    await client.operator_service.delete_namespace(DeleteNamespaceRequest(namespace=namespace))


@pytest.mark.usefixtures("_empty_outbox")
async def test_concurrent_relays_start_each_workflow_once(
    runtime: Runtime, job_context: JobContext, client: Client
) -> None:
    job_ids = await request_shorts(runtime, job_context, 12)
    relays = [Relay(runtime.database, client, running_jobs_per_library=100) for _ in range(4)]
    counts = await asyncio.gather(*(relay.relay_once() for relay in relays))
    rest = await relays[0].relay_once()
    assert sum(counts) + rest == len(job_ids)
    for job_id in job_ids:
        await client.get_workflow_handle(job_id).describe()


@pytest.mark.usefixtures("_empty_outbox")
async def test_refused_start_does_not_block_others_and_ends_its_job(
    runtime: Runtime, job_context: JobContext, client: Client, accounts: Accounts
) -> None:
    refused, good = await request_shorts(runtime, job_context, 2)
    # Temporal rejects ids of more than a thousand characters.
    await accounts.connection.execute(
        "UPDATE outbox SET workflow_id = repeat('x', 2000) WHERE argument ->> 'job_id' = $1", refused
    )
    relay = Relay(runtime.database, client, running_jobs_per_library=100)
    assert await relay.relay_once() == 1
    await client.get_workflow_handle(good).describe()
    for _ in range(MAX_REFUSALS - 1):
        assert await relay.relay_once() == 0  # not yet due
        await accounts.connection.execute("UPDATE outbox SET retry_at = now()")
        assert await relay.relay_once() == 0
    assert await accounts.connection.fetchval("SELECT set_aside FROM outbox_backlog(100)") == 1
    await accounts.connection.execute("UPDATE jobs SET updated_at = now()")
    await _age(accounts, refused, timedelta(minutes=3))
    activities = JobActivities(
        database=runtime.database, client=client, prices=load_prices(), clock=system_clock, metrics=JobMetrics({})
    )
    assert await ActivityEnvironment().run(activities.sweep_jobs) == 1
    async with runtime.database.transaction(job_context.library_id) as connection:
        job = await service.get_job(connection, job_context.library_id, refused)
    assert job.error is not None
    assert job.error.message == "The job could not be started."
    assert await accounts.connection.fetchval("SELECT count(*) FROM outbox") == 0


class _FakeOutage:
    """A Temporal client without a server behind it."""

    async def start_workflow(self, *_arguments: object, **_options: object) -> None:
        raise RPCError("unavailable", RPCStatusCode.UNAVAILABLE, b"")


@pytest.mark.usefixtures("_empty_outbox")
async def test_outage_counts_as_no_refusal(runtime: Runtime, job_context: JobContext, accounts: Accounts) -> None:
    await request_shorts(runtime, job_context, 2)
    relay = Relay(runtime.database, cast("Client", _FakeOutage()), running_jobs_per_library=100)
    with pytest.raises(RPCError):
        await relay.relay_once()
    assert await accounts.connection.fetchval("SELECT max(refusals) FROM outbox") == 0


@pytest.mark.usefixtures("_empty_outbox")
async def test_relay_needs_no_rights_but_its_own(
    settings: Settings, runtime: Runtime, job_context: JobContext, client: Client, accounts: Accounts
) -> None:
    good, refused = await request_shorts(runtime, job_context, 2)
    await accounts.connection.execute(
        "UPDATE outbox SET workflow_id = repeat('x', 2000) WHERE argument ->> 'job_id' = $1", refused
    )
    database = await Database.connect(settings.relay_database, 2, application="cutroom-tests")
    try:
        assert await Relay(database, client, running_jobs_per_library=100).relay_once() == 1
        async with database.connection() as connection:
            assert await connection.fetchval("SELECT waiting FROM outbox_backlog(100)") == 1
    finally:
        await database.close()
    await client.get_workflow_handle(good).describe()


@pytest.mark.usefixtures("_empty_outbox")
async def test_running_relay_is_notified_of_new_rows(runtime: Runtime, job_context: JobContext, client: Client) -> None:
    running = asyncio.create_task(Relay(runtime.database, client, running_jobs_per_library=10).run())
    await asyncio.sleep(0.2)
    (job_id,) = await request_shorts(runtime, job_context, 1)
    statuses: list[str] = []
    while "processing" not in statuses and len(statuses) < 30:
        await asyncio.sleep(0.1)
        async with runtime.database.transaction(job_context.library_id) as connection:
            statuses.append((await service.get_job(connection, job_context.library_id, job_id)).status)
    running.cancel()
    assert statuses[-1] == "processing"


async def _age(accounts: Accounts, job_id: str, age: timedelta) -> None:
    await accounts.connection.execute("UPDATE jobs SET updated_at = $2 WHERE id = $1", job_id, system_clock() - age)


@pytest.mark.usefixtures("_empty_outbox")
async def test_sweep_restarts_lost_jobs_and_fails_stopped_ones(
    runtime: Runtime, job_context: JobContext, client: Client, accounts: Accounts
) -> None:
    # Jobs left by other tests are swept first, because a sweep is limited to one batch.
    await accounts.connection.execute("UPDATE jobs SET updated_at = now()")
    lost, stopped, fresh = await request_shorts(runtime, job_context, 3)
    relay = Relay(runtime.database, client, running_jobs_per_library=100)
    await relay.relay_once()
    await client.get_workflow_handle(stopped).terminate()
    await accounts.connection.execute("UPDATE jobs SET attempt = 7 WHERE id = $1", lost)  # unknown to Temporal
    for job_id in (lost, stopped):
        await _age(accounts, job_id, timedelta(minutes=3))
    activities = JobActivities(
        database=runtime.database, client=client, prices=load_prices(), clock=system_clock, metrics=JobMetrics({})
    )
    assert await ActivityEnvironment().run(activities.sweep_jobs) >= 2
    async with runtime.database.transaction(job_context.library_id) as connection:
        jobs = {
            job_id: await service.get_job(connection, job_context.library_id, job_id)
            for job_id in (lost, stopped, fresh)
        }
    error = jobs[stopped].error
    assert error is not None
    assert error.message == "The job stopped unexpectedly."
    assert jobs[fresh].status == "processing"
    queued = await accounts.connection.fetchval(
        "SELECT workflow_id FROM outbox WHERE library_id = $1", job_context.library_id
    )
    assert queued == f"{lost}.7"
