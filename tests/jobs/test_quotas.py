"""Limits of unfinished jobs per key and per library, against concurrent requests and many keys."""

import asyncio
from contextlib import suppress
from dataclasses import replace
from datetime import date

import httpx
import pytest

from cutroom.accounts.service import set_quotas
from cutroom.errors import Code, CutroomError
from cutroom.jobs import lifecycle
from cutroom.jobs.ids import JobKey, JobType
from cutroom.jobs.lifecycle import Failure, JobRef
from cutroom.jobs.service import count_unfinished
from cutroom.platform.clock import system_clock
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from tests.jobs.conftest import JobContext
from tests.jobs.test_lifecycle import request

UPLOAD = {"source": {"type": "upload"}}


async def test_concurrent_requests_cannot_pass_the_limit_of_their_key_together(
    runtime: Runtime, job_context: JobContext
) -> None:
    plan = replace(job_context.principal.plan, unfinished_jobs=2)
    tight = JobContext(replace(job_context.principal, plan=plan), job_context.video_id)
    keys = [JobKey(JobType.CAPTIONS, tight.video_id, language=code) for code in ("de", "es", "fr", "it", "nl", "pt")]
    results = await asyncio.gather(*(request(runtime, tight, key) for key in keys), return_exceptions=True)
    refused = [each for each in results if isinstance(each, BaseException)]
    assert len(results) - len(refused) <= 2
    assert {getattr(each, "code", each) for each in refused} == {Code.RATE_LIMITED}
    for key in keys:
        with suppress(CutroomError):  # on a slow machine, a request may have waited too long for the others
            await request(runtime, tight, key)
    with pytest.raises(CutroomError) as last:
        await request(runtime, tight, JobKey(JobType.CAPTIONS, tight.video_id, language="sv"))
    assert (last.value.details, last.value.headers["Retry-After"]) == ({"limit": "unfinished_jobs"}, "5")
    async with runtime.database.transaction(tight.library_id) as connection:
        assert (await count_unfinished(connection, tight.principal)).of_key == 2


async def test_many_keys_cannot_pass_the_quota_of_their_library_together(
    anonymous: httpx.AsyncClient, accounts: Accounts, person: Person
) -> None:
    await set_quotas(accounts.connection, person.library_id, quotas={"unfinished_jobs": 5})
    keys = [await accounts.key(person) for _ in range(5)]
    requests = [anonymous.post("/videos", json=UPLOAD, headers=key.headers) for key in keys]
    responses = await asyncio.gather(*requests)
    statuses = [each.status_code for each in responses]
    assert (statuses.count(202), statuses.count(409)) == (2, 3)
    error = next(each for each in responses if each.status_code == 409).json()["error"]
    assert error["code"] == "FAILED_PRECONDITION"
    assert error["details"]["reason"] == "quota"
    assert (error["details"]["quota"], error["details"]["limit"]) == ("unfinishedJobs", 5)
    assert error["details"]["used"] <= 4
    found = (await anonymous.get("/library", headers=keys[0].headers)).json()
    assert found["quotas"]["unfinishedJobs"] == {"limit": 5, "used": 4}


async def test_quota_of_one_library_does_not_limit_another(api: httpx.AsyncClient, accounts: Accounts) -> None:
    other = await accounts.person()
    await set_quotas(accounts.connection, other.library_id, quotas={"unfinished_jobs": 0})
    assert (await api.post("/videos", json=UPLOAD)).status_code == 202
    refused = await api.post("/videos", json=UPLOAD, headers=(await accounts.key(other)).headers)
    assert refused.status_code == 409


async def test_finished_jobs_free_the_quota(api: httpx.AsyncClient, accounts: Accounts, person: Person) -> None:
    await set_quotas(accounts.connection, person.library_id, quotas={"unfinished_jobs": 2})
    assert (await api.post("/videos", json=UPLOAD)).status_code == 202
    assert (await api.post("/videos", json=UPLOAD)).status_code == 409
    await accounts.connection.execute(
        "UPDATE jobs SET status = 'ready', finished_at = $2 WHERE library_id = $1", person.library_id, system_clock()
    )
    assert (await api.post("/videos", json=UPLOAD)).status_code == 202


async def fail(runtime: Runtime, context: JobContext, job_id: str, *, attempt: int, code: str) -> None:
    async with runtime.database.transaction(context.library_id) as connection:
        ref = JobRef(context.library_id, job_id, attempt)
        assert await lifecycle.fail(connection, ref, failure=Failure(code, "For this test."), now=system_clock())


async def test_failed_and_canceled_jobs_are_limited_by_day_for_all_keys(
    runtime: Runtime, job_context: JobContext, accounts: Accounts
) -> None:
    plan = replace(job_context.principal.plan, library_failed_jobs_per_day=2)
    tight = JobContext(replace(job_context.principal, plan=plan), job_context.video_id)
    key, transcript = JobKey(JobType.IMPORT, tight.video_id), JobKey(JobType.TRANSCRIPT, tight.video_id)
    for attempt, code in enumerate((Code.UNSUPPORTED_SOURCE, Code.INTERNAL, "CANCELLED"), start=1):
        await request(runtime, tight, key)
        await request(runtime, tight, transcript, depends_on=(key.id,))  # fails with it, and does not count
        await fail(runtime, tight, key.id, attempt=attempt, code=code)
    for credential in (tight.principal, replace(tight.principal, id="another key")):
        with pytest.raises(CutroomError) as refused:
            await request(runtime, replace(tight, principal=credential), key)
        assert refused.value.code is Code.RATE_LIMITED
        assert refused.value.details == {"limit": "failed_jobs", "per": "library"}
        assert 0 < int(refused.value.headers["Retry-After"]) <= 86_400
    await accounts.connection.execute(
        "UPDATE library_usage SET day = $2 WHERE library_id = $1", tight.library_id, date(2020, 1, 1)
    )
    job, is_new = await request(runtime, tight, key)
    assert (job.status, is_new) == ("queued", True)
