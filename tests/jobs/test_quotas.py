"""Limits of unfinished jobs per key and per library, against concurrent requests and many keys."""

import asyncio

import httpx

from cutroom.accounts.service import set_quotas
from cutroom.platform.clock import system_clock
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person

UPLOAD = {"source": {"type": "upload"}}
JOBS_PER_VIDEO = 2  # an import and a transcript


async def test_concurrent_requests_cannot_pass_the_limit_of_their_key_together(
    api: httpx.AsyncClient, runtime: Runtime
) -> None:
    admitted = runtime.authenticator.plans["business"].unfinished_jobs // JOBS_PER_VIDEO
    responses = await asyncio.gather(*(api.post("/videos", json=UPLOAD) for _ in range(admitted + 15)))
    statuses = [each.status_code for each in responses]
    assert (statuses.count(202), statuses.count(429)) == (admitted, 15)
    refused = next(each for each in responses if each.status_code == 429)
    assert refused.json()["error"]["details"] == {"limit": "unfinished_jobs"}
    assert refused.headers["Retry-After"] == "5"


async def test_many_keys_cannot_pass_the_quota_of_their_library_together(
    anonymous: httpx.AsyncClient, accounts: Accounts, person: Person
) -> None:
    await set_quotas(accounts.connection, person.library_id, quotas={"unfinished_jobs": 5})
    keys = [await accounts.key(person) for _ in range(8)]
    requests = [anonymous.post("/videos", json=UPLOAD, headers=key.headers) for key in keys]
    responses = await asyncio.gather(*requests)
    statuses = [each.status_code for each in responses]
    assert (statuses.count(202), statuses.count(409)) == (2, 6)
    error = next(each for each in responses if each.status_code == 409).json()["error"]
    assert error["code"] == "FAILED_PRECONDITION"
    assert error["details"]["reason"] == "quota"
    assert (error["details"]["quota"], error["details"]["limit"]) == ("unfinishedJobs", 5)
    assert error["details"]["used"] <= 4
    found = (await anonymous.get("/library", headers=keys[0].headers)).json()
    assert found["quotas"]["unfinishedJobs"] == {"limit": 5, "used": 4}


async def test_quota_of_one_library_does_not_limit_another(
    api: httpx.AsyncClient, accounts: Accounts, person: Person
) -> None:
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
