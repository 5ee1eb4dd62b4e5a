"""Deleting a video: out of lists at once, its jobs refunded, restorable, and no work started beside it."""

import asyncio
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest

from cutroom.credits.pricing import Action, BillableItem
from cutroom.errors import CutroomError
from cutroom.jobs import service as jobs
from cutroom.jobs.ids import InternalJobType, JobKey
from cutroom.jobs.service import NewJob
from cutroom.jobs.states import CANCELLED
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from cutroom.products.ingest.rules import SourceType, source_fingerprint
from cutroom.retention.trash.service import delete_videos
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from tests.credits.conftest import PRICES, charge_for
from tests.credits.job_harness import JobHarness
from tests.library.conftest import AddRow
from tests.library.test_videos import ids, page

DE = BillableItem(Action.DUB, "plus", "de")
SOURCE = "https://example.com/talk.mp4"


@pytest.fixture
async def video(add: AddRow) -> str:
    return await add("videos", status="ready", title="A talk", labels=["a"])


async def trash(api: httpx.AsyncClient) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await api.get("/trash")).json()["videos"]
    return found


async def test_deleted_video_leaves_every_list_and_comes_back(api: httpx.AsyncClient, video: str) -> None:
    before = (await api.get(f"/videos/{video}")).json()
    assert (await api.delete(f"/videos/{video}")).status_code == 204
    for path in (f"/videos/{video}", f"/videos/{video}/jobs", f"/videos/{video}/transcript", f"/videos/{video}/dubs"):
        assert (await api.get(path)).status_code == 404, path
    assert (await api.patch(f"/videos/{video}", json={"title": "x"})).status_code == 404
    assert ids(await page(api)) == ids(await page(api, label="a")) == []
    (listed,) = await trash(api)
    assert (listed["id"], listed["title"]) == (video, "A talk")
    deleted, purged = (datetime.fromisoformat(listed[name]) for name in ("deletedAt", "purgeAt"))
    assert purged - deleted == timedelta(days=30)
    assert (await api.delete(f"/videos/{video}")).status_code == 404
    restored = await api.post(f"/videos/{video}/restore")
    assert (restored.status_code, restored.json()) == (200, before)
    assert await trash(api) == []
    assert ids(await page(api)) == [video]
    assert (await api.post(f"/videos/{video}/restore")).json() == before


async def test_trash_is_paginated(api: httpx.AsyncClient, add: AddRow) -> None:
    videos = [await add("videos", status="ready") for _ in range(3)]
    for each in videos:
        await api.delete(f"/videos/{each}")
    first = (await api.get("/trash", params={"limit": 2})).json()
    second = (await api.get("/trash", params={"limit": 2, "pageToken": first["nextPageToken"]})).json()
    assert [each["id"] for each in (*first["videos"], *second["videos"])] == sorted(videos, reverse=True)
    assert "nextPageToken" not in second
    assert (await api.get("/videos", params={"pageToken": first["nextPageToken"]})).status_code == 400


async def test_stale_revision_is_not_deleted(api: httpx.AsyncClient, video: str) -> None:
    etag = (await api.get(f"/videos/{video}")).headers["ETag"]
    await api.patch(f"/videos/{video}", json={"title": "Newer"})
    refused = await api.delete(f"/videos/{video}", headers={"If-Match": etag})
    assert (refused.status_code, refused.json()["error"]["details"]) == (409, {"revision": 2})
    assert (await api.delete(f"/videos/{video}", headers={"If-Match": '"2"'})).status_code == 204


async def test_other_libraries_and_unknown_videos_are_not_found(
    api: httpx.AsyncClient, accounts: Accounts, video: str
) -> None:
    other = await accounts.key(await accounts.person())
    for path, headers in ((video, other.headers), (new_id(), {}), ("x", {})):
        for permanently in ("false", "true"):
            response = await api.delete(f"/videos/{path}", params={"permanently": permanently}, headers=headers)
            assert response.status_code == 404
        assert (await api.post(f"/videos/{path}/restore", headers=headers)).status_code == 404
    assert ids(await page(api)) == [video]


async def test_unfinished_jobs_are_canceled_and_refunded(
    harness: JobHarness, api: httpx.AsyncClient, accounts: Accounts
) -> None:
    library_id, video_id = harness.context.library_id, harness.context.video_id
    await harness.request(charge_for(DE))
    await harness.start()
    await harness.request(charge_for(BillableItem(Action.DUB, "plus", "fr")), "fr")
    redub = JobKey(InternalJobType.REDUB, new_id())
    async with harness.library_ledger.transaction() as connection:
        job = NewJob(redub, None, plan={"dubbed_video_id": video_id, "language": "de", "product": "plus"})
        await jobs.create_jobs(connection, harness.context.principal, [job], prices=PRICES, now=system_clock())
    assert (await api.delete(f"/videos/{video_id}")).status_code == 204
    assert await harness.balances() == (10_000, 0, 0)
    rows = await accounts.connection.fetch("SELECT id, error_code FROM jobs WHERE library_id = $1", library_id)
    assert {row["error_code"] for row in rows} == {CANCELLED}
    assert len(rows) == 3
    assert not await harness.complete()
    assert (await api.delete(f"/videos/{video_id}/dubs/de")).status_code == 404
    job_id = harness.key().id
    assert (await api.get(f"/jobs/{job_id}")).json()["error"]["code"] == CANCELLED  # callers who poll see the end
    assert (await api.post(f"/jobs/{job_id}/retry")).status_code == 404
    await api.post(f"/videos/{video_id}/restore")
    retried = await api.post(f"/jobs/{job_id}/retry")
    assert (retried.status_code, retried.json()["status"]) == (202, "queued")


async def test_no_job_is_created_beside_a_deletion(harness: JobHarness, api: httpx.AsyncClient) -> None:
    """Whichever comes first: the job is canceled, or refused because its video is gone."""
    video_id = harness.context.video_id
    for _ in range(5):
        outcomes = await asyncio.gather(
            api.delete(f"/videos/{video_id}"), harness.request(charge_for(DE)), return_exceptions=True
        )
        assert isinstance(outcomes[0], httpx.Response)
        assert outcomes[0].status_code == 204
        if isinstance(outcomes[1], BaseException):
            assert isinstance(outcomes[1], CutroomError)
        else:
            assert (await harness.job()).status == "failed"
        assert await harness.balances() == (10_000, 0, 0)
        await api.post(f"/videos/{video_id}/restore")


async def test_request_that_holds_the_video_is_waited_for(harness: JobHarness, api: httpx.AsyncClient) -> None:
    video_id = harness.context.video_id
    async with harness.library_ledger.transaction() as connection:
        await harness.request_on(connection, charge_for(DE))
        deletion = asyncio.create_task(api.delete(f"/videos/{video_id}"))
        done, _ = await asyncio.wait([deletion], timeout=0.5)
        assert not done
    assert (await deletion).status_code == 204
    assert (await harness.job()).status == "failed"


async def test_several_videos_are_deleted_without_holding_the_ledger_while_waiting_for_a_job(
    harness: JobHarness, accounts: Accounts, runtime: Runtime, add: AddRow
) -> None:
    """A job that is finishing locks its own row before the ledger: the other order would be a deadlock."""
    library_id, first = harness.context.library_id, harness.context.video_id
    await harness.request(charge_for(DE))
    second = await add("videos", status="ready")
    key = JobKey(InternalJobType.REDUB, new_id())
    async with harness.library_ledger.transaction() as connection:
        job = NewJob(key, None, plan={"dubbed_video_id": second, "language": "de", "product": "plus"})
        await jobs.create_jobs(connection, harness.context.principal, [job], prices=PRICES, now=system_clock())

    async def delete_both() -> None:
        async with runtime.database.transaction(library_id) as connection:
            await delete_videos(connection, library_id, [second, first], hooks=runtime.job_hooks, now=system_clock())

    async with harness.library_ledger.transaction() as finishing:
        await finishing.execute("SELECT 1 FROM jobs WHERE library_id = $1 AND id = $2 FOR UPDATE", library_id, key.id)
        deletion = asyncio.create_task(delete_both())
        pid = await finishing.fetchval("SELECT pg_backend_pid()")
        waiting = "SELECT true FROM pg_locks WHERE NOT granted AND $1 = ANY (pg_blocking_pids(pid)) LIMIT 1"
        while not deletion.done() and not await accounts.connection.fetchval(waiting, pid):
            pass
        assert not deletion.done()
        async with accounts.connection.transaction():
            await accounts.connection.execute(
                "SELECT 1 FROM ledger_balances WHERE library_id = $1 FOR UPDATE NOWAIT", library_id
            )
    await deletion
    sql = "SELECT error_code FROM jobs WHERE library_id = $1"
    assert [row["error_code"] for row in await accounts.connection.fetch(sql, library_id)] == [CANCELLED, CANCELLED]
    assert await harness.balances() == (10_000, 0, 0)


async def add_source(accounts: Accounts, person: Person, video: str) -> None:
    row = {
        "library_id": person.library_id,
        "video_id": video,
        "type": "https",
        "fingerprint": source_fingerprint(SourceType.HTTPS, SOURCE),
        "storage_path": f"libraries/{person.library_id}/videos/{video}/source",
        "created_at": system_clock(),
    }
    await insert(accounts.connection, "sources", row)


async def import_source(api: httpx.AsyncClient) -> httpx.Response:
    return await api.post("/videos", json={"source": {"type": "https", "url": SOURCE}})


async def test_importing_a_trashed_source_offers_to_restore_it(
    api: httpx.AsyncClient, accounts: Accounts, person: Person, video: str
) -> None:
    await add_source(accounts, person, video)
    await api.delete(f"/videos/{video}")
    error = (await import_source(api)).json()["error"]
    assert (error["code"], error["details"]) == ("ALREADY_EXISTS", {"videoId": video, "inTrash": True})
    assert "Restore it" in error["message"]
    assert (await api.delete(f"/videos/{video}", params={"permanently": "true"})).status_code == 204
    assert (await import_source(api)).status_code == 202


async def test_permanently_deleted_video_cannot_be_restored(
    api: httpx.AsyncClient, accounts: Accounts, runtime: Runtime, person: Person, video: str
) -> None:
    assert (await api.delete(f"/videos/{video}", params={"permanently": "true"})).status_code == 204
    assert await trash(api) == []
    assert (await api.post(f"/videos/{video}/restore")).status_code == 404
    assert (await api.delete(f"/videos/{video}", params={"permanently": "true"})).status_code == 404
    started = await accounts.connection.fetch(
        "SELECT workflow, workflow_id FROM outbox WHERE library_id = $1", person.library_id
    )
    assert [tuple(row) for row in started] == [("purge-video", f"purge_{video}")]
    assert runtime.database is not None
