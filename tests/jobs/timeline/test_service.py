"""GET /jobs/{jobId}/timeline: what happened to real jobs."""

import dataclasses
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from cutroom.credits.pricing import Action, BillableItem
from cutroom.engines.errors import EngineUnavailableError
from cutroom.jobs.ids import InternalJobType, JobKey
from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.steps import job_step
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.credits.conftest import charge_for
from tests.credits.job_harness import JobHarness, open_harness
from tests.jobs.conftest import JobContext

DE = BillableItem(Action.DUB, "plus", "de")


@pytest.fixture
async def harness(runtime: Runtime, accounts: Accounts, job_context: JobContext) -> AsyncIterator[JobHarness]:
    async with open_harness(runtime, accounts, job_context) as opened:
        await opened.set_duration(60)
        yield opened


async def timeline(api: httpx.AsyncClient, job_id: str) -> dict[str, Any]:
    response = await api.get(f"/jobs/{job_id}/timeline")
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    times = [entry["at"] for entry in found["entries"]]
    assert times == sorted(times)
    return found


def kinds(found: dict[str, Any]) -> list[tuple[int, str]]:
    return [(entry["attempt"], entry["kind"]) for entry in found["entries"]]


async def run_step(
    runtime: Runtime, ref: JobRef, stage: str, *, attempt: int = 1, error: Exception | None = None
) -> None:
    """Run an activity of a job as a worker does."""

    async def step() -> None:
        async with job_step(runtime.database, system_clock, ref, stage, progress=50):
            if error is not None:
                raise error

    environment = ActivityEnvironment()
    environment.info = dataclasses.replace(environment.info, attempt=attempt)
    await environment.run(step)


def ref_of(harness: JobHarness, attempt: int = 1) -> JobRef:
    return JobRef(harness.context.library_id, harness.key().id, attempt)


async def test_ready_job_with_a_retried_step(
    harness: JobHarness, api: httpx.AsyncClient, runtime: Runtime, accounts: Accounts
) -> None:
    await harness.request(charge_for(DE))
    await harness.start()
    with pytest.raises(ApplicationError):
        await run_step(runtime, ref_of(harness), "mixing", error=EngineUnavailableError("/opt/secret is missing"))
    await run_step(runtime, ref_of(harness), "mixing", attempt=2)
    await run_step(runtime, ref_of(harness), "publishing")
    await harness.complete()
    await deliver(harness, accounts)
    found = await timeline(api, harness.key().id)
    assert kinds(found) == [
        (1, "requested"),
        (1, "creditsHeld"),
        (1, "started"),
        (1, "step"),
        (1, "step"),
        (1, "ready"),
        (1, "creditsCharged"),
        (1, "delivery"),
    ]
    assert (found["status"], found["charged"], found["attempts"]) == ("ready", 2, 1)
    mixing, publishing = [entry for entry in found["entries"] if entry["kind"] == "step"]
    assert (mixing["step"], mixing["retries"], publishing["retries"]) == ("mixing", 1, 0)
    assert "repeated once after an error: This installation cannot do this at the moment." in mixing["text"]
    assert "secret" not in str(found)


async def deliver(harness: JobHarness, accounts: Accounts) -> None:
    """Record a delivery of the job's event, as the worker does."""
    library_id = harness.context.library_id
    event_id = await accounts.connection.fetchval(
        "SELECT id FROM events WHERE library_id = $1 AND type = 'job.ready'", library_id
    )
    attempt = {"event_id": event_id, "endpoint_id": new_id(), "number": 1, "at": system_clock()}
    outcome = {"status": 200, "outcome": "delivered", "milliseconds": 12}
    await insert(accounts.connection, "delivery_attempts", {"library_id": library_id, **attempt, **outcome})


async def test_failed_job_that_is_run_again(harness: JobHarness, api: httpx.AsyncClient, runtime: Runtime) -> None:
    await harness.request(charge_for(DE))
    await harness.start()
    await run_step(runtime, ref_of(harness), "mixing")
    await harness.fail()
    failed = await timeline(api, harness.key().id)
    assert kinds(failed)[-3:] == [(1, "step"), (1, "failed"), (1, "creditsReturned")]
    assert failed["summary"].endswith("It broke. 2 credits were returned.")
    await harness.request(charge_for(DE))
    await harness.start(attempt=2)
    await harness.complete(attempt=2)
    found = await timeline(api, harness.key().id)
    assert [kind for kind in kinds(found) if kind[0] == 1] == kinds(failed)
    assert [kind for kind in kinds(found) if kind[0] == 2] == [
        (2, "requested"),
        (2, "creditsHeld"),
        (2, "started"),
        (2, "ready"),
        (2, "creditsCharged"),
    ]
    assert (found["attempts"], found["charged"]) == (2, 2)
    assert "in attempt 2, for 2 credits." in found["summary"]


async def test_canceled_job(harness: JobHarness, api: httpx.AsyncClient) -> None:
    await harness.request(charge_for(DE))
    assert (await api.post(f"/jobs/{harness.key().id}/cancel")).status_code == 200
    found = await timeline(api, harness.key().id)
    assert kinds(found) == [(1, "requested"), (1, "creditsHeld"), (1, "canceled"), (1, "creditsReturned")]
    assert found["summary"].startswith("Canceled after")
    assert found["entries"][2]["code"] == "CANCELLED"


async def test_only_the_latest_attempts_are_kept(harness: JobHarness, api: httpx.AsyncClient) -> None:
    for attempt in range(1, 14):
        await harness.request(None)
        await harness.start(attempt=attempt)
        await harness.fail(attempt=attempt)
    found = await timeline(api, harness.key().id)
    assert found["attempts"] == 13
    assert sorted({attempt for attempt, _ in kinds(found)}) == list(range(3, 14))


async def test_job_of_an_earlier_version_has_no_steps(
    harness: JobHarness, api: httpx.AsyncClient, accounts: Accounts
) -> None:
    await harness.request(None)
    await harness.start()
    await accounts.connection.execute(
        "UPDATE jobs SET requested_at = NULL, steps = NULL WHERE library_id = $1", harness.context.library_id
    )
    assert kinds(await timeline(api, harness.key().id)) == [(1, "requested"), (1, "started")]


async def test_jobs_of_others_and_internal_jobs_are_not_found(
    harness: JobHarness, api: httpx.AsyncClient, accounts: Accounts
) -> None:
    await harness.request(None)
    outsider = await accounts.key(await accounts.person())
    internal = JobKey(InternalJobType.VOICE, new_id()).id
    for headers, job_id in ((outsider.headers, harness.key().id), ({}, internal), ({}, "x")):
        assert (await api.get(f"/jobs/{job_id}/timeline", headers=headers)).status_code == 404
