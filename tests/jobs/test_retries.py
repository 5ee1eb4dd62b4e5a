"""POST /jobs/{jobId}/retry: a failed job runs again under its id, charged at the current price."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import httpx
import pytest

from cutroom.accounts.scopes import ALL_SCOPES, Scope
from cutroom.credits.pricing import Action, BillableItem
from cutroom.credits.rules import Charge
from cutroom.jobs import lifecycle, service
from cutroom.jobs.ids import JobKey, JobType
from cutroom.jobs.lifecycle import Failure, JobRef
from cutroom.jobs.retries import CREATION_SCOPES, price_retry
from cutroom.jobs.service import NewJob
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from tests.conftest import MovableClock
from tests.credits.conftest import PRICES, charge_for
from tests.credits.job_harness import JobHarness, open_harness, totals
from tests.jobs.conftest import JobContext

DE = BillableItem(Action.DUB, "plus", "de")


@pytest.fixture
async def harness(
    runtime: Runtime, accounts: Accounts, job_context: JobContext, clock: MovableClock
) -> AsyncIterator[JobHarness]:
    assert not clock.shift
    async with open_harness(runtime, accounts, job_context) as opened:
        await opened.set_duration(60)
        yield opened


async def retry(api: httpx.AsyncClient, job_id: str, **options: Any) -> httpx.Response:  # noqa: ANN401
    return await api.post(f"/jobs/{job_id}/retry", **options)


async def starts(accounts: Accounts, library_id: str) -> list[str]:
    rows = await accounts.connection.fetch(
        "SELECT workflow_id FROM outbox WHERE library_id = $1 AND is_job ORDER BY id", library_id
    )
    return [row["workflow_id"] for row in rows]


async def create(runtime: Runtime, context: JobContext, *jobs: NewJob) -> None:
    async with runtime.database.transaction(context.library_id) as connection:
        await service.create_jobs(connection, context.principal, jobs, prices=PRICES, now=system_clock())


async def end(runtime: Runtime, context: JobContext, job_id: str, *, attempt: int = 1, ready: bool) -> None:
    ref, now = JobRef(context.library_id, job_id, attempt), system_clock()
    async with runtime.database.transaction(context.library_id) as connection:
        await lifecycle.start(connection, ref, prices=PRICES, now=now)
        if ready:
            await lifecycle.complete(connection, ref, result={}, now=now)
        else:
            await lifecycle.fail(connection, ref, failure=Failure("INTERNAL", "It broke."), now=now)


def code(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["code"]


def import_and_transcript(context: JobContext, *, import_needs: Sequence[str] = ()) -> tuple[NewJob, NewJob]:
    first, second = JobKey(JobType.IMPORT, context.video_id), JobKey(JobType.TRANSCRIPT, context.video_id)
    return (
        NewJob(first, context.video_id, depends_on=import_needs),
        NewJob(second, context.video_id, depends_on=[first.id]),
    )


def test_every_exposed_job_has_the_scope_that_creates_it() -> None:
    assert set(CREATION_SCOPES) == set(JobType)


@pytest.mark.parametrize("how", ["fail", "cancel"])
async def test_failed_job_is_charged_again_and_runs_as_the_next_attempt(
    harness: JobHarness, api: httpx.AsyncClient, accounts: Accounts, how: str
) -> None:
    await harness.request(charge_for(DE))
    await harness.start()
    if how == "fail":
        await harness.fail()
    else:
        await api.post(f"/jobs/{harness.key().id}/cancel")
    await harness.set_duration(90)  # the current price is that of the current duration
    assert await harness.balances() == (10_000, 0, 0)
    response = await retry(api, harness.key().id)
    assert response.status_code == 202, response.text
    assert response.json() == {
        "id": harness.key().id,
        "type": "dub",
        "status": "queued",
        "videoId": harness.context.video_id,
        "language": "de",
        "product": "plus",
    }
    assert await harness.balances() == (7_000, 3_000, 0)
    job_id = harness.key().id
    assert await starts(accounts, harness.context.library_id) == [job_id, f"{job_id}.2"]
    assert not await harness.complete(attempt=1)
    assert await harness.start(attempt=2)
    assert await harness.complete(attempt=2)
    assert await harness.balances() == (7_000, 0, 3_000)
    assert totals(await harness.job()) == {"quoted": 3, "held": 3, "captured": 3, "returned": 0}


async def test_reserved_lines_of_the_first_attempt_are_not_used_again(
    harness: JobHarness, api: httpx.AsyncClient, runtime: Runtime
) -> None:
    charge = Charge((DE,), is_subscriber=True, reservation_id="gone", line_ids=("gone",))
    await harness.request(charge_for(DE))
    await harness.fail()
    await harness.library_ledger.owner.execute(
        "UPDATE jobs SET charge = $2 WHERE id = $1", harness.key().id, charge.as_json()
    )
    assert (await retry(api, harness.key().id)).status_code == 202
    async with runtime.database.transaction(harness.context.library_id) as connection:
        stored = await connection.fetchval("SELECT charge FROM jobs WHERE id = $1", harness.key().id)
    assert (stored["reservationId"], stored["lineIds"]) == (None, [])
    assert await harness.balances() == (8_000, 2_000, 0)


async def test_concurrent_retries_start_one_attempt(
    harness: JobHarness, api: httpx.AsyncClient, accounts: Accounts
) -> None:
    await harness.request(charge_for(DE))
    await harness.fail()
    responses = await asyncio.gather(*(retry(api, harness.key().id) for _ in range(5)))
    assert {each.status_code for each in responses} == {202}
    assert await harness.balances() == (8_000, 2_000, 0)
    assert len(await starts(accounts, harness.context.library_id)) == 2


async def test_cancellations_and_retries_in_any_order_keep_the_ledger_balanced(
    harness: JobHarness, api: httpx.AsyncClient
) -> None:
    job_id = harness.key().id
    await harness.request(charge_for(DE))
    for _ in range(6):
        calls = [api.post(f"/jobs/{job_id}/{operation}") for operation in ("cancel", "retry", "cancel", "retry")]
        statuses = [each.status_code for each in await asyncio.gather(*calls)]
        assert set(statuses) <= {200, 202}, statuses
        job = await harness.job()
        expected = (8_000, 2_000, 0) if job.status == "queued" else (10_000, 0, 0)
        assert await harness.balances() == expected
        await retry(api, job_id)
    assert (await harness.job()).status == "queued"


async def test_unfinished_job_is_returned_and_a_ready_one_is_refused(
    harness: JobHarness, api: httpx.AsyncClient
) -> None:
    await harness.request(charge_for(DE))
    for expected in ("queued", "processing"):
        response = await retry(api, harness.key().id)
        assert (response.status_code, response.json()["status"]) == (202, expected)
        await harness.start()
    assert await harness.balances() == (8_000, 2_000, 0)
    await harness.complete()
    refused = await retry(api, harness.key().id)
    assert code(refused) == (409, "FAILED_PRECONDITION")
    assert refused.json()["error"]["details"] == {"jobId": harness.key().id, "status": "ready"}


async def test_unaffordable_retry_leaves_the_job_failed(harness: JobHarness, api: httpx.AsyncClient) -> None:
    await harness.request(charge_for(DE))
    await harness.fail()
    failed = await harness.job()
    await harness.set_duration(3_600)
    assert code(await retry(api, harness.key().id)) == (429, "INSUFFICIENT_CREDITS")
    assert await harness.job() == failed


async def test_retry_needs_the_scope_that_creates_the_job(
    harness: JobHarness, api: httpx.AsyncClient, accounts: Accounts, person: Person
) -> None:
    await harness.request(charge_for(DE))
    await harness.fail()
    lacking = await accounts.key(person, scopes=ALL_SCOPES - {Scope.DUBS_WRITE})
    refused = await retry(api, harness.key().id, headers=lacking.headers)
    assert code(refused) == (403, "INSUFFICIENT_SCOPE")
    assert refused.json()["error"]["details"] == {"required": ["dubs:write"]}


async def test_suspended_library_cannot_retry(harness: JobHarness, api: httpx.AsyncClient, accounts: Accounts) -> None:
    await harness.request(charge_for(DE))
    await harness.fail()
    await accounts.connection.execute(
        "UPDATE libraries SET suspended_at = now() WHERE id = $1", harness.context.library_id
    )
    assert code(await retry(api, harness.key().id)) == (403, "PERMISSION_DENIED")


async def test_dependent_starts_after_the_retried_dependency(
    runtime: Runtime, job_context: JobContext, api: httpx.AsyncClient, accounts: Accounts
) -> None:
    first, second = import_and_transcript(job_context)
    await create(runtime, job_context, first, second)
    await end(runtime, job_context, first.key.id, ready=False)
    refused = await retry(api, second.key.id)
    assert code(refused) == (409, "FAILED_PRECONDITION")
    assert refused.json()["error"]["details"] == {"jobId": first.key.id}
    assert (await retry(api, first.key.id)).status_code == 202
    assert (await api.get(f"/videos/{job_context.video_id}")).json()["import"]["status"] == "queued"
    assert (await retry(api, second.key.id)).json()["status"] == "queued"
    assert await starts(accounts, job_context.library_id) == [first.key.id, f"{first.key.id}.2"]
    await end(runtime, job_context, first.key.id, attempt=2, ready=True)
    assert (await starts(accounts, job_context.library_id))[2:] == [f"{second.key.id}.2"]


async def test_dependency_that_finishes_during_the_retry_is_not_missed(
    runtime: Runtime, job_context: JobContext, api: httpx.AsyncClient, accounts: Accounts
) -> None:
    first, second = import_and_transcript(job_context)
    await create(runtime, job_context, first, second)
    for attempt in range(1, 9):
        await end(runtime, job_context, first.key.id, attempt=attempt, ready=False)
        await retry(api, first.key.id)
        ref, now = JobRef(job_context.library_id, first.key.id, attempt + 1), system_clock()
        async with runtime.database.transaction(job_context.library_id) as connection:
            await lifecycle.start(connection, ref, prices=PRICES, now=now)
        response, _ = await asyncio.gather(
            retry(api, second.key.id), end(runtime, job_context, first.key.id, attempt=attempt + 1, ready=True)
        )
        assert response.status_code == 202, response.text
        assert (await starts(accounts, job_context.library_id))[-1] == f"{second.key.id}.{attempt + 1}"
        await accounts.connection.execute(
            """UPDATE jobs SET status = 'processing', finished_at = NULL, depends_on = '{}' WHERE id = $1""",
            first.key.id,
        )
        await accounts.connection.execute(
            "UPDATE jobs SET depends_on = $2 WHERE id = $1", second.key.id, [first.key.id]
        )


async def test_import_whose_file_never_arrived_cannot_be_retried(
    runtime: Runtime, job_context: JobContext, api: httpx.AsyncClient
) -> None:
    first, _ = import_and_transcript(job_context, import_needs=[f"upload_{job_context.video_id}"])
    await create(runtime, job_context, first)
    await api.post(f"/jobs/{first.key.id}/cancel")
    refused = await retry(api, first.key.id)
    assert code(refused) == (409, "FAILED_PRECONDITION")
    assert refused.json()["error"]["details"] == {"reason": "missing_input"}


async def test_source_that_was_imported_again_is_not_imported_twice(
    runtime: Runtime, job_context: JobContext, api: httpx.AsyncClient, accounts: Accounts
) -> None:
    first, _ = import_and_transcript(job_context)
    await create(runtime, job_context, first)
    await end(runtime, job_context, first.key.id, ready=False)
    source = {
        "library_id": job_context.library_id,
        "video_id": job_context.video_id,
        "type": "https",
        "storage_path": "source",
        "fingerprint": "same",
        "is_active": False,
        "created_at": system_clock(),
    }
    other_id = new_id()
    await insert(accounts.connection, "sources", source)
    await insert(accounts.connection, "sources", {**source, "video_id": other_id, "is_active": True})
    refused = await retry(api, first.key.id)
    assert code(refused) == (409, "ALREADY_EXISTS")
    assert refused.json()["error"]["details"] == {"videoId": other_id}
    await accounts.connection.execute("UPDATE sources SET is_active = false WHERE video_id = $1", other_id)
    assert (await retry(api, first.key.id)).status_code == 202
    sql = "SELECT is_active FROM sources WHERE video_id = $1"
    assert await accounts.connection.fetchval(sql, job_context.video_id)


async def test_price_of_a_retry_is_the_current_one(harness: JobHarness, runtime: Runtime) -> None:
    await harness.request(charge_for(DE))
    await harness.fail()
    await harness.set_duration(90)
    async with runtime.database.transaction(harness.context.library_id) as connection:
        principal = harness.context.principal
        assert await price_retry(connection, principal, harness.key().id, prices=PRICES) == 3_000
