"""Tests for download routes: tiers, dependencies, rejections and failures."""

from typing import Any

import httpx
import pytest

from cutroom.accounts.plans import PlanName
from cutroom.credits.pricing import load_prices
from cutroom.jobs import lifecycle
from cutroom.jobs.lifecycle import Failure, JobRef
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from tests.products.conftest import TranscribedVideo


async def create(api: httpx.AsyncClient, transcribed: TranscribedVideo, **body: Any) -> httpx.Response:  # noqa: ANN401 (JSON)
    return await api.post(f"/videos/{transcribed.video_id}/downloads", json=body)


async def insert_dub(transcribed: TranscribedVideo, *, status: str, completion: str, product: str = "plus") -> str:
    now = system_clock()
    job_id = f"dub_{transcribed.video_id}_pt_{product}"
    dub_key = {
        "library_id": transcribed.library_id,
        "video_id": transcribed.video_id,
        "language": "pt",
        "product": product,
    }
    finished = {"finished_at": now} if status in {"ready", "failed"} else {}
    failed = {"error_code": "INTERNAL", "error_message": "no"} if status == "failed" else {}
    job = {**dub_key, "id": job_id, "type": "dub", "status": status, "attempt": 1, "plan": {}, "depends_on": []}
    times = {"progress": 0, "created_at": now, "updated_at": now}
    await insert(transcribed.accounts.connection, "jobs", {**job, **times, **finished, **failed})
    dub = {"completion": completion, "segments": [], "speakers": [], "edits": {}, "sync": {}, "audio_path": "track"}
    await insert(transcribed.accounts.connection, "dubs", {**dub_key, **dub, "updated_at": now})
    return job_id


async def set_plan(accounts: Accounts, person: Person, plan: PlanName, *, suspended: bool = False) -> None:
    await accounts.connection.execute(
        "UPDATE libraries SET plan = $2, suspended_at = CASE WHEN $3 THEN now() END WHERE id = $1",
        person.library_id,
        plan.value,
        suspended,
    )


async def finish_job(
    runtime: Runtime, transcribed: TranscribedVideo, job_id: str, result: dict[str, Any] | Failure
) -> None:
    ref = JobRef(transcribed.library_id, job_id, 1)
    async with runtime.database.transaction(transcribed.library_id) as connection:
        assert await lifecycle.start(connection, ref, prices=load_prices(None), now=system_clock()) is not None
        if isinstance(result, Failure):
            await lifecycle.fail(connection, ref, failure=result, now=system_clock())
        else:
            await lifecycle.complete(connection, ref, result=result, now=system_clock())


@pytest.mark.parametrize(
    ("plan", "tier"),
    [
        (PlanName.FREE, "sample"),
        (PlanName.CREATOR, "full"),
        (PlanName.PRO, "full"),
        (PlanName.BUSINESS, "full"),
    ],
)
async def test_plan_selects_the_tier(
    api: httpx.AsyncClient,
    transcribed: TranscribedVideo,
    accounts: Accounts,
    person: Person,
    plan: PlanName,
    tier: str,
) -> None:
    await set_plan(accounts, person, plan)
    response = await create(api, transcribed, artifact="source")
    assert response.status_code == 202, response.text
    created = response.json()
    assert created["jobId"] == f"download_{created['downloadRequestId']}"
    assert (created["artifact"], created["language"], created["tier"], created["status"]) == (
        "source",
        "en",
        tier,
        "queued",
    )
    fetched = (await api.get(f"/downloads/{created['downloadRequestId']}")).json()
    assert fetched == {
        "id": created["downloadRequestId"],
        "status": "queued",
        "tier": tier,
        "truncated": tier == "sample",
        "maxDurationSeconds": 60.0 if tier == "sample" else None,
        "url": None,
        "error": None,
        "jobId": created["jobId"],
    }


async def test_suspended_library_is_rejected(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, accounts: Accounts, person: Person
) -> None:
    await set_plan(accounts, person, PlanName.BUSINESS, suspended=True)
    response = await create(api, transcribed, artifact="source")
    assert (response.status_code, response.json()["error"]["code"]) == (403, "DOWNLOAD_TIER_NONE")


@pytest.mark.parametrize(
    "body", [{}, {"artifact": "unknown"}, {"artifact": "language_video"}, {"artifact": "source", "language": "?"}]
)
async def test_invalid_body_is_rejected(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, body: dict[str, Any]
) -> None:
    response = await create(api, transcribed, **body)
    assert (response.status_code, response.json()["error"]["code"]) == (400, "INVALID_ARGUMENT")


@pytest.mark.parametrize(
    ("status", "completion", "expected"),
    [
        ("ready", "complete", (202, None)),
        ("processing", "pending", (202, None)),
        ("processing", "preview_ready", (409, "PREVIEW_NOT_DOWNLOADABLE")),
        ("failed", "pending", (409, "FAILED_PRECONDITION")),
    ],
)
async def test_language_video_depends_on_its_dub(
    api: httpx.AsyncClient,
    transcribed: TranscribedVideo,
    status: str,
    completion: str,
    expected: tuple[int, str | None],
) -> None:
    job_id = await insert_dub(transcribed, status=status, completion=completion)
    response = await create(api, transcribed, artifact="language_video", language="PT")
    assert (response.status_code, response.json().get("error", {}).get("code")) == expected
    if expected[0] == 202:
        depends_on = await transcribed.accounts.connection.fetchval(
            "SELECT depends_on FROM jobs WHERE id = $1", response.json()["jobId"]
        )
        assert depends_on == ([] if status == "ready" else [job_id])
    else:
        assert response.json()["error"]["details"]["jobId"] == job_id


async def test_original_language_needs_no_dub_and_others_are_not_found(
    api: httpx.AsyncClient, transcribed: TranscribedVideo
) -> None:
    assert (await create(api, transcribed, artifact="language_video", language="en")).status_code == 202
    assert (await create(api, transcribed, artifact="language_video", language="fr")).status_code == 404


async def test_running_import_is_awaited_and_failed_import_is_rejected(
    api: httpx.AsyncClient, transcribed: TranscribedVideo
) -> None:
    connection = transcribed.accounts.connection
    await connection.execute("UPDATE videos SET import_status = 'processing' WHERE id = $1", transcribed.video_id)
    created = (await create(api, transcribed, artifact="bundle")).json()
    depends_on = await connection.fetchval("SELECT depends_on FROM jobs WHERE id = $1", created["jobId"])
    assert depends_on == [f"import_{transcribed.video_id}"]
    await connection.execute("UPDATE videos SET import_status = 'failed' WHERE id = $1", transcribed.video_id)
    response = await create(api, transcribed, artifact="bundle")
    assert (response.status_code, response.json()["error"]["code"]) == (409, "FAILED_PRECONDITION")


async def test_ready_download_has_a_url_with_its_file_name(
    api: httpx.AsyncClient, viewer: httpx.AsyncClient, transcribed: TranscribedVideo, runtime: Runtime
) -> None:
    path = f"libraries/{transcribed.library_id}/videos/{transcribed.video_id}/downloads/video"
    await runtime.storage.put(path, b"video")
    created = (await create(api, transcribed, artifact="source")).json()
    await finish_job(runtime, transcribed, created["jobId"], {"storagePath": path, "fileName": "video.mp4"})
    fetched = await api.get(f"/downloads/{created['downloadRequestId']}")
    assert (fetched.status_code, fetched.json()["status"], fetched.json()["error"]) == (200, "ready", None)
    fetched = await viewer.get(fetched.json()["url"])
    assert (fetched.status_code, fetched.content) == (200, b"video")
    assert fetched.headers["content-disposition"] == 'attachment; filename="video.mp4"'


async def test_failed_download_returns_its_error(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, runtime: Runtime
) -> None:
    created = (await create(api, transcribed, artifact="source")).json()
    await finish_job(
        runtime, transcribed, created["jobId"], Failure("INTERNAL", "It broke.", details={"reason": "DISK_FULL"})
    )
    fetched = await api.get(f"/downloads/{created['downloadRequestId']}")
    assert fetched.status_code == 200
    assert (fetched.json()["status"], fetched.json()["url"]) == ("failed", None)
    assert fetched.json()["error"] == {"code": "INTERNAL", "message": "It broke.", "details": {"reason": "DISK_FULL"}}


async def test_foreign_and_unknown_downloads_are_not_found(
    api: httpx.AsyncClient, anonymous: httpx.AsyncClient, transcribed: TranscribedVideo, accounts: Accounts
) -> None:
    created = (await create(api, transcribed, artifact="source")).json()
    other_key = await accounts.key(await accounts.person())
    response = await anonymous.get(f"/downloads/{created['downloadRequestId']}", headers=other_key.headers)
    assert response.status_code == 404
    assert (await api.get("/downloads/nothing")).status_code == 404
