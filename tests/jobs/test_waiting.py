"""GET /jobs/{jobId}?wait=: returns when the job ends, or when the time is up."""

import asyncio
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from cutroom.credits.pricing import load_prices
from cutroom.jobs import lifecycle
from cutroom.jobs import service as jobs
from cutroom.jobs.ids import JobKey, JobType
from cutroom.jobs.lifecycle import Failure, JobRef
from cutroom.jobs.service import NewJob
from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.web.outer_middleware import RequestMiddleware
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.jobs.conftest import JobContext

FAILURE = Failure("INTERNAL", "It broke.")


async def start(runtime: Runtime, context: JobContext) -> JobRef:
    key = JobKey(JobType.SHORTS, new_id())
    async with runtime.database.transaction(context.library_id) as connection:
        new_job = NewJob(key, context.video_id)
        await jobs.create_jobs(connection, context.principal, [new_job], prices=load_prices(), now=system_clock())
        ref = JobRef(context.library_id, key.id, 1)
        await lifecycle.start(connection, ref, prices=load_prices(), now=system_clock())
    return ref


async def end(runtime: Runtime, ref: JobRef, how: str) -> None:
    async with runtime.database.transaction(ref.library_id) as connection:
        if how == "ready":
            await lifecycle.complete(connection, ref, result={"clips": 1}, now=system_clock())
        else:
            await lifecycle.fail(connection, ref, failure=FAILURE, now=system_clock())


async def waiting(service: RequestMiddleware, response: "asyncio.Task[httpx.Response]") -> None:
    """Until a request waits."""
    app: Any = service._app
    assert isinstance(app, FastAPI)
    while not app.state.runtime.events.subscriptions and not response.done():
        await asyncio.sleep(0)


@pytest.mark.parametrize("how", ["ready", "failed"])
async def test_response_comes_with_the_end_of_the_job(
    service: RequestMiddleware, runtime: Runtime, job_context: JobContext, api: httpx.AsyncClient, how: str
) -> None:
    ref, other = await start(runtime, job_context), await start(runtime, job_context)
    response = asyncio.create_task(api.get(f"/jobs/{ref.job_id}", params={"wait": 60}))
    await waiting(service, response)
    await end(runtime, other, "ready")  # does not end the wait
    await end(runtime, ref, how)
    assert (await response).json() == (await api.get(f"/jobs/{ref.job_id}")).json()
    assert (await response).json()["status"] == how


async def test_canceling_ends_the_wait(
    service: RequestMiddleware, runtime: Runtime, job_context: JobContext, api: httpx.AsyncClient
) -> None:
    ref = await start(runtime, job_context)
    response = asyncio.create_task(api.get(f"/jobs/{ref.job_id}", params={"wait": 60}))
    await waiting(service, response)
    assert (await api.post(f"/jobs/{ref.job_id}/cancel")).status_code == 200
    assert (await response).json()["error"]["code"] == "CANCELLED"


async def test_unfinished_job_is_returned_when_the_time_is_up(
    runtime: Runtime, job_context: JobContext, api: httpx.AsyncClient
) -> None:
    ref = await start(runtime, job_context)
    response = await api.get(f"/jobs/{ref.job_id}", params={"wait": 1})
    assert (response.status_code, response.json()["status"]) == (200, "processing")
    assert "ratelimit-limit" in response.headers


async def test_finished_job_is_returned_at_once(
    runtime: Runtime, job_context: JobContext, api: httpx.AsyncClient
) -> None:
    ref = await start(runtime, job_context)
    await end(runtime, ref, "ready")
    response = await api.get(f"/jobs/{ref.job_id}", params={"wait": 60})
    assert response.json() == (await api.get(f"/jobs/{ref.job_id}")).json()


@pytest.mark.parametrize("wait", ["-1", "61", "1.5", "x", ""])
async def test_wait_has_bounds(runtime: Runtime, job_context: JobContext, api: httpx.AsyncClient, wait: str) -> None:
    ref = await start(runtime, job_context)
    response = await api.get(f"/jobs/{ref.job_id}", params={"wait": wait})
    assert (response.status_code, response.json()["error"]["code"]) == (400, "INVALID_ARGUMENT")
    assert [each["path"] for each in response.json()["error"]["details"]["fields"]] == ["wait"]


async def test_jobs_of_others_are_not_found(
    runtime: Runtime, job_context: JobContext, api: httpx.AsyncClient, accounts: Accounts
) -> None:
    ref, outsider = await start(runtime, job_context), await accounts.key(await accounts.person())
    for job_id in (ref.job_id, "x"):
        response = await api.get(f"/jobs/{job_id}", params={"wait": 60}, headers=outsider.headers)
        assert response.status_code == 404
