"""A job's life: asked for, begun, reported, finished or failed, and what waits for it."""

from dataclasses import replace
from typing import Any

import httpx
import pytest

from cutroom.credits.pricing import load_prices
from cutroom.errors import Code, CutroomError
from cutroom.jobs import lifecycle, service
from cutroom.jobs.ids import DubProduct, JobKey, JobType
from cutroom.jobs.lifecycle import Failure, JobRef
from cutroom.jobs.schemas import Job
from cutroom.jobs.service import NewJob
from cutroom.platform.clock import system_clock
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.jobs.conftest import Stage

FAILURE = Failure("UNSUPPORTED_SOURCE", "It is not a video.", details={"found": "text/html"})


async def ask(runtime: Runtime, stage: Stage, key: JobKey, *, depends_on: tuple[str, ...] = ()) -> tuple[Job, bool]:
    async with runtime.database.transaction(stage.library_id) as connection:
        wanted = NewJob(key, stage.video_id, plan={"a": 1}, depends_on=depends_on)
        (asked,) = await service.request_jobs(
            connection, stage.principal, [wanted], prices=load_prices(), now=system_clock()
        )
        return asked


async def live(runtime: Runtime, on: Stage, step: str, job_id: str, **named: Any) -> Any:  # noqa: ANN401
    """Take one step of a job's life in a transaction of its own."""
    attempt = named.pop("attempt", 1)
    async with runtime.database.transaction(on.library_id) as connection:
        ref = JobRef(on.library_id, job_id, attempt)
        if step == "begin":
            named["prices"] = load_prices()
        return await getattr(lifecycle, step)(connection, ref, now=system_clock(), **named)


async def read(runtime: Runtime, stage: Stage, job_id: str) -> Job:
    async with runtime.database.transaction(stage.library_id) as connection:
        return await service.get_job(connection, stage.library_id, job_id)


async def outbox(accounts: Accounts, stage: Stage) -> list[str]:
    rows = await accounts.connection.fetch(
        "SELECT workflow_id FROM outbox WHERE library_id = $1 AND is_job ORDER BY id", stage.library_id
    )
    return [row["workflow_id"] for row in rows]


async def test_asking_again_converges_and_starts_nothing(runtime: Runtime, stage: Stage, accounts: Accounts) -> None:
    key = JobKey(JobType.IMPORT, stage.video_id)
    job, begun = await ask(runtime, stage, key)
    again, begun_again = await ask(runtime, stage, key)
    assert (job, begun, begun_again) == (again, True, False)
    assert job.model_dump(by_alias=True) == {
        "id": key.id,
        "type": "import",
        "status": "queued",
        "videoId": stage.video_id,
    }
    assert await outbox(accounts, stage) == [key.id]


async def test_a_job_that_is_done_reads_so_and_its_waiters_start(
    runtime: Runtime, stage: Stage, accounts: Accounts
) -> None:
    first, second = JobKey(JobType.IMPORT, stage.video_id), JobKey(JobType.TRANSCRIPT, stage.video_id)
    await ask(runtime, stage, first)
    await ask(runtime, stage, second, depends_on=(first.id,))
    assert await outbox(accounts, stage) == [first.id]
    assert await live(runtime, stage, "begin", first.id) == {"a": 1, "video_id": stage.video_id}
    await live(runtime, stage, "report", first.id, stage="reading", progress=40)
    running = await read(runtime, stage, first.id)
    assert (running.status, running.stage, running.progress) == ("processing", "reading", 40)
    await live(runtime, stage, "report", first.id, stage="reading", progress=30)
    assert (await read(runtime, stage, first.id)).progress == 40
    assert await live(runtime, stage, "finish", first.id, result={"x": 1}) is True
    assert await live(runtime, stage, "finish", first.id, result={"x": 2}) is False
    done = await read(runtime, stage, first.id)
    assert (done.status, done.result, done.progress) == ("ready", {"x": 1}, None)
    assert await outbox(accounts, stage) == [first.id, second.id]


async def test_what_waits_for_a_failed_job_fails_with_it_all_the_way(runtime: Runtime, stage: Stage) -> None:
    first, second = JobKey(JobType.IMPORT, stage.video_id), JobKey(JobType.TRANSCRIPT, stage.video_id)
    third = JobKey(JobType.DUB, stage.video_id, language="de", product=DubProduct.PLUS)
    await ask(runtime, stage, first)
    await ask(runtime, stage, second, depends_on=(first.id,))
    await ask(runtime, stage, third, depends_on=(second.id,))
    await live(runtime, stage, "begin", first.id)
    await live(runtime, stage, "fail", first.id, failure=FAILURE)
    failed = [(await read(runtime, stage, key.id)).error for key in (first, second, third)]
    assert [(error.code, error.details) for error in failed if error is not None] == [
        ("UNSUPPORTED_SOURCE", {"found": "text/html"}),
        ("FAILED_PRECONDITION", {"jobId": first.id}),
        ("FAILED_PRECONDITION", {"jobId": second.id}),
    ]


async def test_a_failed_job_runs_again_under_its_id_and_the_old_attempt_has_no_say(
    runtime: Runtime, stage: Stage, accounts: Accounts
) -> None:
    key = JobKey(JobType.IMPORT, stage.video_id)
    await ask(runtime, stage, key)
    await live(runtime, stage, "begin", key.id)
    await live(runtime, stage, "fail", key.id, failure=FAILURE)
    job, begun = await ask(runtime, stage, key)
    assert (job.status, job.error, begun) == ("queued", None, True)
    assert await outbox(accounts, stage) == [key.id, f"{key.id}.2"]
    assert await live(runtime, stage, "begin", key.id, attempt=1) is None
    assert await live(runtime, stage, "begin", key.id, attempt=2) is not None
    assert await live(runtime, stage, "finish", key.id, attempt=1, result={}) is False


async def test_a_key_has_so_many_unfinished_jobs(runtime: Runtime, stage: Stage) -> None:
    plan = replace(stage.principal.plan, unfinished_jobs=1)
    tight = Stage(replace(stage.principal, plan=plan), stage.video_id)
    await ask(runtime, tight, JobKey(JobType.IMPORT, stage.video_id))
    with pytest.raises(CutroomError) as refused:
        await ask(runtime, tight, JobKey(JobType.TRANSCRIPT, stage.video_id))
    assert refused.value.code is Code.RATE_LIMITED
    assert refused.value.details == {"limit": "unfinished_jobs"}
    assert refused.value.headers["Retry-After"] == "5"


async def test_the_import_shows_on_its_video_and_is_announced(
    runtime: Runtime, stage: Stage, api: httpx.AsyncClient, accounts: Accounts
) -> None:
    key = JobKey(JobType.IMPORT, stage.video_id)
    await ask(runtime, stage, key)
    states = []
    life: list[tuple[str, dict[str, Any]]] = [("begin", {}), ("finish", {"result": {}})]
    for step, named in life:
        await live(runtime, stage, step, key.id, **named)
        video = (await api.get(f"/videos/{stage.video_id}")).json()
        states.append((video["status"], video["import"]["status"]))
    assert states == [("processing", "processing"), ("ready", "ready")]
    rows = await accounts.connection.fetch(
        "SELECT type, payload FROM events WHERE library_id = $1 ORDER BY type", stage.library_id
    )
    assert [row["type"] for row in rows] == ["job.ready", "video.ready"]


async def test_jobs_are_read_over_http_newest_first(runtime: Runtime, stage: Stage, api: httpx.AsyncClient) -> None:
    keys = [JobKey(JobType.IMPORT, stage.video_id), JobKey(JobType.CAPTIONS, stage.video_id, language="de")]
    for key in keys:
        await ask(runtime, stage, key)
    listed = (await api.get(f"/videos/{stage.video_id}/jobs")).json()["jobs"]
    assert [job["id"] for job in listed] == [keys[1].id, keys[0].id]
    assert (await api.get(f"/jobs/{keys[1].id}")).json() == listed[0]
    assert listed[0]["language"] == "de"
    for unknown in ("import_none", f"import_{stage.library_id}", "x"):
        assert (await api.get(f"/jobs/{unknown}")).status_code == 404
