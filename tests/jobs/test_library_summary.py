"""GET /library: plan, limits, and use of storage, minutes and credits."""

from typing import Any

import httpx

from cutroom.accounts.plans import PlanName
from cutroom.accounts.principals import Role
from cutroom.accounts.scopes import Scope
from cutroom.credits import ledger
from cutroom.credits.pricing import load_prices
from cutroom.jobs import lifecycle
from cutroom.jobs.lifecycle import JobRef
from cutroom.media.formats import Container
from cutroom.media.probe import MediaInfo
from cutroom.platform.clock import system_clock
from cutroom.products.ingest.service import record_media, set_source_size
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person


async def library(api: httpx.AsyncClient, **options: Any) -> dict[str, Any]:  # noqa: ANN401
    response = await api.get("/library", **options)
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


async def announce(api: httpx.AsyncClient) -> str:
    response = await api.post("/videos", json={"source": {"type": "upload"}})
    assert response.status_code == 202, response.text
    video_id: str = response.json()["videoId"]
    return video_id


def media_of(seconds: float) -> MediaInfo:
    return MediaInfo(
        media_type="audio",
        container=Container.WAV,
        size_bytes=1_000,
        duration_seconds=seconds,
        video_streams=0,
        audio_streams=1,
        other_streams=0,
    )


async def test_new_library_is_empty(api: httpx.AsyncClient, person: Person, runtime: Runtime) -> None:
    plan = runtime.authenticator.plans["business"]
    assert await library(api) == {
        "id": person.library_id,
        "name": "Test",
        "kind": "personal",
        "plan": "business",
        "suspended": False,
        "limits": {
            "requestsPerMinute": plan.requests_per_minute,
            "concurrentRequests": plan.concurrent_requests,
            "unfinishedJobs": plan.unfinished_jobs,
            "libraryRequestsPerMinute": plan.library_requests_per_minute,
            "libraryConcurrentRequests": plan.library_concurrent_requests,
            "libraryFreeWorkPerDay": plan.library_free_work_per_day,
            "libraryFailedJobsPerDay": plan.library_failed_jobs_per_day,
            "libraryWaits": plan.library_waits,
            "speech": True,
            "hosting": True,
            "downloads": "full",
        },
        "quotas": {
            "storageBytes": {"limit": plan.library_storage_bytes, "used": 0},
            "mediaMinutes": {"limit": plan.library_media_minutes, "used": 0},
            "unfinishedJobs": {"limit": plan.library_unfinished_jobs, "used": 0},
        },
        "usage": {"storageBytes": 0, "importedMinutes": 0, "processedMinutes": 0, "unfinishedJobs": 0},
        "storage": {"originalsBytes": 0, "intermediatesBytes": 0, "outputsBytes": 0},
        "credits": {"balance": 0, "inEscrow": 0, "usageBillingActive": False, "overdraft": 0},
    }


async def test_imported_media_is_counted_once(api: httpx.AsyncClient, runtime: Runtime, person: Person) -> None:
    video_id = await announce(api)
    async with runtime.database.transaction(person.library_id) as connection:
        await set_source_size(connection, person.library_id, video_id, size_bytes=1_000)
    assert (await library(api))["usage"]["storageBytes"] == 1_000
    for seconds in (90.0, 90.0, 120.0):  # a retried step, and one that measured differently
        async with runtime.database.transaction(person.library_id) as connection:
            await record_media(
                connection, person.library_id, video_id, info=media_of(seconds), size_bytes=1_000, sha256=b"hash"
            )
    usage = (await library(api))["usage"]
    assert (usage["storageBytes"], usage["importedMinutes"]) == (1_000, 2.0)


async def test_finished_jobs_count_as_processed_and_are_not_unfinished(
    api: httpx.AsyncClient, runtime: Runtime, person: Person
) -> None:
    video_id = await announce(api)
    assert (await library(api))["usage"]["unfinishedJobs"] == 2
    now = system_clock()
    async with runtime.database.transaction(person.library_id) as connection:
        await record_media(connection, person.library_id, video_id, info=media_of(90), size_bytes=1, sha256=b"hash")
        for job_id in (f"import_{video_id}", f"transcript_{video_id}"):
            ref = JobRef(person.library_id, job_id, 1)
            await lifecycle.start(connection, ref, prices=load_prices(), now=now)
            assert await lifecycle.complete(connection, ref, result={}, now=now)
            assert not await lifecycle.complete(connection, ref, result={}, now=now)
    usage = (await library(api))["usage"]
    assert (usage["processedMinutes"], usage["importedMinutes"], usage["unfinishedJobs"]) == (1.5, 1.5, 0)


async def test_unfinished_jobs_are_those_of_the_key(api: httpx.AsyncClient, accounts: Accounts, person: Person) -> None:
    await announce(api)
    other = await accounts.key(person)
    assert (await library(api))["usage"]["unfinishedJobs"] == 2
    assert (await library(api, headers=other.headers))["usage"]["unfinishedJobs"] == 0


async def test_credits_show_balance_escrow_and_usage_billing(
    api: httpx.AsyncClient, accounts: Accounts, person: Person
) -> None:
    connection, now = accounts.connection, system_clock()
    await ledger.grant(connection, person.library_id, millicredits=50_000, reference="test", now=now)
    await ledger.set_overdraft(connection, person.library_id, millicredits=10_000)
    video_id = await announce(api)
    bundle = {"durationSeconds": 600, "captionLanguageCodes": [], "shorts": {"kind": "shorts", "numClips": 2}}
    reserved = await api.post(f"/videos/{video_id}/reservations", json=bundle)
    total = reserved.json()["total"]
    assert total > 0
    assert (await library(api))["credits"] == {
        "balance": 50 - total,
        "inEscrow": total,
        "usageBillingActive": True,
        "overdraft": 10,
    }


async def test_workspace_plan_and_suspension(anonymous: httpx.AsyncClient, accounts: Accounts, person: Person) -> None:
    workspace_id = await accounts.workspace(person, plan=PlanName.FREE)
    viewer = await accounts.person()
    await accounts.member(workspace_id, viewer, role=Role.VIEWER)
    key = await accounts.key(viewer, library_id=workspace_id, scopes=[Scope.VIDEOS_READ])
    found = await library(anonymous, headers=key.headers)
    assert (found["kind"], found["id"], found["workspaceId"]) == ("workspace", workspace_id, workspace_id)
    assert (found["name"], found["plan"], found["limits"]["downloads"]) == ("Team", "free", "sample")
    assert (found["limits"]["speech"], found["limits"]["hosting"]) == (False, False)
    await accounts.connection.execute("UPDATE libraries SET suspended_at = now() WHERE id = $1", workspace_id)
    found = await library(anonymous, headers=key.headers)
    assert (found["suspended"], found["limits"]["downloads"]) == (True, "none")


async def test_scope_is_required(anonymous: httpx.AsyncClient, accounts: Accounts, person: Person) -> None:
    key = await accounts.key(person, scopes=[Scope.VIDEOS_WRITE])
    response = await anonymous.get("/library", headers=key.headers)
    assert (response.status_code, response.json()["error"]["code"]) == (403, "INSUFFICIENT_SCOPE")
