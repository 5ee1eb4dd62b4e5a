"""The relay starts each workflow once and keeps every library under its cap; the sweep mends what is stuck."""

import asyncio
from datetime import timedelta

import pytest
from temporalio.client import Client
from temporalio.testing import ActivityEnvironment

from cutroom.credits.pricing import load_prices
from cutroom.jobs import lifecycle, service
from cutroom.jobs.activities import JobActivities
from cutroom.jobs.ids import JobKey, JobType
from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.service import NewJob
from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.platform.relay import Relay
from cutroom.platform.settings import Settings
from cutroom.platform.temporal import connect
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.jobs.conftest import Stage


@pytest.fixture(scope="module")
async def client(settings: Settings) -> Client:
    return await connect(settings)


@pytest.fixture
async def _empty_outbox(accounts: Accounts) -> None:
    await accounts.connection.execute("DELETE FROM outbox")


async def ask_for_shorts(runtime: Runtime, stage: Stage, number: int) -> list[str]:
    keys = [JobKey(JobType.SHORTS, new_id()) for _ in range(number)]
    async with runtime.database.transaction(stage.library_id) as connection:
        wanted = [NewJob(key, stage.video_id) for key in keys]
        await service.request_jobs(connection, stage.principal, wanted, prices=load_prices(), now=system_clock())
    return [key.id for key in keys]


@pytest.mark.usefixtures("_empty_outbox")
async def test_a_library_runs_so_many_jobs_at_once_and_the_rest_follow(
    runtime: Runtime, stage: Stage, client: Client
) -> None:
    job_ids = await ask_for_shorts(runtime, stage, 5)
    relay = Relay(runtime.database, client, running_jobs_per_library=2)
    assert await relay.relay_once() == 2
    assert await relay.relay_once() == 0
    async with runtime.database.transaction(stage.library_id) as connection:
        ref = JobRef(stage.library_id, job_ids[0], 1)
        await lifecycle.finish(connection, ref, result={}, now=system_clock())
    assert await relay.relay_once() == 1
    started = [await client.get_workflow_handle(job_id).describe() for job_id in job_ids[:3]]
    assert {each.workflow_type for each in started} == {"shorts"}


@pytest.mark.usefixtures("_empty_outbox")
async def test_relays_side_by_side_start_everything_once(runtime: Runtime, stage: Stage, client: Client) -> None:
    job_ids = await ask_for_shorts(runtime, stage, 12)
    relays = [Relay(runtime.database, client, running_jobs_per_library=100) for _ in range(4)]
    counts = await asyncio.gather(*(relay.relay_once() for relay in relays))
    rest = await relays[0].relay_once()
    assert sum(counts) + rest == len(job_ids)
    for job_id in job_ids:
        await client.get_workflow_handle(job_id).describe()


@pytest.mark.usefixtures("_empty_outbox")
async def test_the_running_relay_wakes_up_by_itself(runtime: Runtime, stage: Stage, client: Client) -> None:
    running = asyncio.create_task(Relay(runtime.database, client, running_jobs_per_library=10).run())
    await asyncio.sleep(0.2)
    (job_id,) = await ask_for_shorts(runtime, stage, 1)
    statuses: list[str] = []
    while "processing" not in statuses and len(statuses) < 30:
        await asyncio.sleep(0.1)
        async with runtime.database.transaction(stage.library_id) as connection:
            statuses.append((await service.get_job(connection, stage.library_id, job_id)).status)
    running.cancel()
    assert statuses[-1] == "processing"


async def _age(accounts: Accounts, job_id: str, age: timedelta) -> None:
    await accounts.connection.execute("UPDATE jobs SET updated_at = $2 WHERE id = $1", job_id, system_clock() - age)


@pytest.mark.usefixtures("_empty_outbox")
async def test_the_sweep_starts_what_was_lost_and_fails_what_has_stopped(
    runtime: Runtime, stage: Stage, client: Client, accounts: Accounts
) -> None:
    # What other tests have left lying is swept first, and a sweep takes only so many.
    await accounts.connection.execute("UPDATE jobs SET updated_at = now()")
    lost, stopped, fresh = await ask_for_shorts(runtime, stage, 3)
    relay = Relay(runtime.database, client, running_jobs_per_library=100)
    await relay.relay_once()
    await client.get_workflow_handle(stopped).terminate()
    await accounts.connection.execute("UPDATE jobs SET attempt = 7 WHERE id = $1", lost)  # Temporal never saw this one
    for job_id in (lost, stopped):
        await _age(accounts, job_id, timedelta(minutes=3))
    activities = JobActivities(database=runtime.database, client=client, prices=load_prices(), clock=system_clock)
    assert await ActivityEnvironment().run(activities.sweep_jobs) >= 2
    async with runtime.database.transaction(stage.library_id) as connection:
        jobs = {
            job_id: await service.get_job(connection, stage.library_id, job_id) for job_id in (lost, stopped, fresh)
        }
    error = jobs[stopped].error
    assert error is not None
    assert error.message == "The work stopped without an end."
    assert jobs[fresh].status == "processing"
    queued = await accounts.connection.fetchval(
        "SELECT workflow_id FROM outbox WHERE library_id = $1", stage.library_id
    )
    assert queued == f"{lost}.7"
