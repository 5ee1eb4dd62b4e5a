"""Job lifecycle: creation, start, progress, completion, failure and dependents."""

import asyncio
from dataclasses import replace
from typing import Any

import httpx
import pytest

from cutroom.credits.pricing import load_prices
from cutroom.errors import Code, CutroomError
from cutroom.jobs import lifecycle, progress, service
from cutroom.jobs.ids import DubProduct, JobKey, JobType
from cutroom.jobs.lifecycle import Failure, JobRef
from cutroom.jobs.schemas import Job
from cutroom.jobs.service import NewJob
from cutroom.platform.clock import system_clock
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.jobs.conftest import JobContext

FAILURE = Failure("UNSUPPORTED_SOURCE", "It is not a video.", details={"found": "text/html"})


async def request(
    runtime: Runtime, job_context: JobContext, key: JobKey, *, depends_on: tuple[str, ...] = ()
) -> tuple[Job, bool]:
    async with runtime.database.transaction(job_context.library_id) as connection:
        new_job = NewJob(key, job_context.video_id, plan={"a": 1}, depends_on=depends_on)
        (requested,) = await service.request_jobs(
            connection, job_context.principal, [new_job], prices=load_prices(), now=system_clock()
        )
        return requested


async def transition(runtime: Runtime, context: JobContext, step: str, job_id: str, **named: Any) -> Any:  # noqa: ANN401
    """Call a lifecycle function in its own transaction."""
    attempt = named.pop("attempt", 1)
    async with runtime.database.transaction(context.library_id) as connection:
        ref = JobRef(context.library_id, job_id, attempt)
        if step == "report_progress":
            return await progress.report_progress(connection, ref, now=system_clock(), **named)
        if step == "start":
            named["prices"] = load_prices()
        return await getattr(lifecycle, step)(connection, ref, now=system_clock(), **named)


async def read(runtime: Runtime, job_context: JobContext, job_id: str) -> Job:
    async with runtime.database.transaction(job_context.library_id) as connection:
        return await service.get_job(connection, job_context.library_id, job_id)


async def outbox(accounts: Accounts, job_context: JobContext) -> list[str]:
    rows = await accounts.connection.fetch(
        "SELECT workflow_id FROM outbox WHERE library_id = $1 AND is_job ORDER BY id", job_context.library_id
    )
    return [row["workflow_id"] for row in rows]


async def test_repeated_request_returns_existing_job(
    runtime: Runtime, job_context: JobContext, accounts: Accounts
) -> None:
    key = JobKey(JobType.IMPORT, job_context.video_id)
    job, is_new = await request(runtime, job_context, key)
    again, is_new_again = await request(runtime, job_context, key)
    assert (job, is_new, is_new_again) == (again, True, False)
    assert job.model_dump(by_alias=True) == {
        "id": key.id,
        "type": "import",
        "status": "queued",
        "videoId": job_context.video_id,
    }
    assert await outbox(accounts, job_context) == [key.id]


async def test_completed_job_releases_dependents(runtime: Runtime, job_context: JobContext, accounts: Accounts) -> None:
    first, second = JobKey(JobType.IMPORT, job_context.video_id), JobKey(JobType.TRANSCRIPT, job_context.video_id)
    await request(runtime, job_context, first)
    await request(runtime, job_context, second, depends_on=(first.id,))
    assert await outbox(accounts, job_context) == [first.id]
    assert await transition(runtime, job_context, "start", first.id) == {"a": 1, "video_id": job_context.video_id}
    await transition(runtime, job_context, "report_progress", first.id, stage="reading", progress=40)
    running = await read(runtime, job_context, first.id)
    assert (running.status, running.stage, running.progress) == ("processing", "reading", 40)
    await transition(runtime, job_context, "report_progress", first.id, stage="reading", progress=30)
    assert (await read(runtime, job_context, first.id)).progress == 40
    assert await transition(runtime, job_context, "complete", first.id, result={"x": 1}) is True
    assert await transition(runtime, job_context, "complete", first.id, result={"x": 2}) is False
    done = await read(runtime, job_context, first.id)
    assert (done.status, done.result, done.progress) == ("ready", {"x": 1}, None)
    assert await outbox(accounts, job_context) == [first.id, second.id]


@pytest.mark.parametrize("ends", ["ready", "failed"])
async def test_dependency_may_end_while_a_job_is_requested(
    runtime: Runtime, job_context: JobContext, accounts: Accounts, ends: str
) -> None:
    first, second = JobKey(JobType.IMPORT, job_context.video_id), JobKey(JobType.TRANSCRIPT, job_context.video_id)
    await request(runtime, job_context, first)
    await transition(runtime, job_context, "start", first.id)
    ref = JobRef(job_context.library_id, first.id, 1)
    async with runtime.database.transaction(job_context.library_id) as connection:
        if ends == "ready":
            await lifecycle.complete(connection, ref, result={}, now=system_clock())
        else:
            await lifecycle.fail(connection, ref, failure=FAILURE, now=system_clock())
        requested = asyncio.create_task(request(runtime, job_context, second, depends_on=(first.id,)))
        while not requested.done() and not await accounts.connection.fetchval(
            "SELECT count(*) FROM pg_locks WHERE NOT granted"
        ):
            await asyncio.sleep(0)  # until the request reaches the row that is about to change
    if ends == "ready":
        await requested
        assert await outbox(accounts, job_context) == [first.id, second.id]
    else:
        with pytest.raises(CutroomError) as refused:
            await requested
        assert (refused.value.code, refused.value.details) == (Code.FAILED_PRECONDITION, {"jobId": first.id})


async def test_failure_propagates_to_all_dependents(runtime: Runtime, job_context: JobContext) -> None:
    first, second = JobKey(JobType.IMPORT, job_context.video_id), JobKey(JobType.TRANSCRIPT, job_context.video_id)
    third = JobKey(JobType.DUB, job_context.video_id, language="de", product=DubProduct.PLUS)
    await request(runtime, job_context, first)
    await request(runtime, job_context, second, depends_on=(first.id,))
    await request(runtime, job_context, third, depends_on=(second.id,))
    await transition(runtime, job_context, "start", first.id)
    await transition(runtime, job_context, "fail", first.id, failure=FAILURE)
    failed = [(await read(runtime, job_context, key.id)).error for key in (first, second, third)]
    assert [(error.code, error.details) for error in failed if error is not None] == [
        ("UNSUPPORTED_SOURCE", {"found": "text/html"}),
        ("FAILED_PRECONDITION", {"jobId": first.id}),
        ("FAILED_PRECONDITION", {"jobId": second.id}),
    ]


async def test_failed_job_reruns_and_old_attempt_is_ignored(
    runtime: Runtime, job_context: JobContext, accounts: Accounts
) -> None:
    key = JobKey(JobType.IMPORT, job_context.video_id)
    await request(runtime, job_context, key)
    await transition(runtime, job_context, "start", key.id)
    await transition(runtime, job_context, "fail", key.id, failure=FAILURE)
    job, is_new = await request(runtime, job_context, key)
    assert (job.status, job.error, is_new) == ("queued", None, True)
    assert await outbox(accounts, job_context) == [key.id, f"{key.id}.2"]
    assert await transition(runtime, job_context, "start", key.id, attempt=1) is None
    assert await transition(runtime, job_context, "start", key.id, attempt=2) is not None
    assert await transition(runtime, job_context, "complete", key.id, attempt=1, result={}) is False


async def test_unfinished_jobs_per_key_are_limited(runtime: Runtime, job_context: JobContext) -> None:
    plan = replace(job_context.principal.plan, unfinished_jobs=1)
    tight = JobContext(replace(job_context.principal, plan=plan), job_context.video_id)
    await request(runtime, tight, JobKey(JobType.IMPORT, job_context.video_id))
    with pytest.raises(CutroomError) as refused:
        await request(runtime, tight, JobKey(JobType.TRANSCRIPT, job_context.video_id))
    assert refused.value.code is Code.RATE_LIMITED
    assert refused.value.details == {"limit": "unfinished_jobs"}
    assert refused.value.headers["Retry-After"] == "5"


async def test_import_updates_video_and_publishes_event(
    runtime: Runtime, job_context: JobContext, api: httpx.AsyncClient, accounts: Accounts
) -> None:
    key = JobKey(JobType.IMPORT, job_context.video_id)
    await request(runtime, job_context, key)
    states = []
    life: list[tuple[str, dict[str, Any]]] = [("start", {}), ("complete", {"result": {}})]
    for step, named in life:
        await transition(runtime, job_context, step, key.id, **named)
        video = (await api.get(f"/videos/{job_context.video_id}")).json()
        states.append((video["status"], video["import"]["status"]))
    assert states == [("processing", "processing"), ("ready", "ready")]
    rows = await accounts.connection.fetch(
        "SELECT type, payload FROM events WHERE library_id = $1 ORDER BY type", job_context.library_id
    )
    assert [row["type"] for row in rows] == ["job.ready", "video.ready"]


async def test_jobs_are_listed_newest_first(runtime: Runtime, job_context: JobContext, api: httpx.AsyncClient) -> None:
    keys = [JobKey(JobType.IMPORT, job_context.video_id), JobKey(JobType.CAPTIONS, job_context.video_id, language="de")]
    for key in keys:
        await request(runtime, job_context, key)
    listed = (await api.get(f"/videos/{job_context.video_id}/jobs")).json()["jobs"]
    assert [job["id"] for job in listed] == [keys[1].id, keys[0].id]
    assert (await api.get(f"/jobs/{keys[1].id}")).json() == listed[0]
    assert listed[0]["language"] == "de"
    for unknown in ("import_none", f"import_{job_context.library_id}", "x"):
        assert (await api.get(f"/jobs/{unknown}")).status_code == 404
