"""Asking for downloads: tiers, what is waited for, what is refused, and failures that are answers."""

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
from tests.products.conftest import Spoken


async def ask(api: httpx.AsyncClient, spoken: Spoken, **body: Any) -> httpx.Response:  # noqa: ANN401 (JSON)
    return await api.post(f"/videos/{spoken.video_id}/downloads", json=body)


async def put_dub(spoken: Spoken, *, status: str, completion: str, product: str = "plus") -> str:
    now = system_clock()
    job_id = f"dub_{spoken.video_id}_pt_{product}"
    here = {"library_id": spoken.library_id, "video_id": spoken.video_id, "language": "pt", "product": product}
    ended = {"finished_at": now} if status in {"ready", "failed"} else {}
    failed = {"error_code": "INTERNAL", "error_message": "no"} if status == "failed" else {}
    job = {**here, "id": job_id, "type": "dub", "status": status, "attempt": 1, "plan": {}, "depends_on": []}
    times = {"progress": 0, "created_at": now, "updated_at": now}
    await insert(spoken.accounts.connection, "jobs", {**job, **times, **ended, **failed})
    dub = {"completion": completion, "segments": [], "speakers": [], "edits": {}, "sync": {}, "audio_path": "track"}
    await insert(spoken.accounts.connection, "dubs", {**here, **dub, "updated_at": now})
    return job_id


async def plan_of(accounts: Accounts, person: Person, plan: PlanName, *, suspended: bool = False) -> None:
    await accounts.connection.execute(
        "UPDATE libraries SET plan = $2, suspended_at = CASE WHEN $3 THEN now() END WHERE id = $1",
        person.library_id,
        plan.value,
        suspended,
    )


async def end(runtime: Runtime, spoken: Spoken, job_id: str, result: dict[str, Any] | Failure) -> None:
    ref = JobRef(spoken.library_id, job_id, 1)
    async with runtime.database.transaction(spoken.library_id) as connection:
        assert await lifecycle.begin(connection, ref, prices=load_prices(None), now=system_clock()) is not None
        if isinstance(result, Failure):
            await lifecycle.fail(connection, ref, failure=result, now=system_clock())
        else:
            await lifecycle.finish(connection, ref, result=result, now=system_clock())


@pytest.mark.parametrize(
    ("plan", "tier"),
    [
        (PlanName.FREE, "sample"),
        (PlanName.CREATOR, "full"),
        (PlanName.PRO, "full"),
        (PlanName.BUSINESS, "full"),
    ],
)
async def test_the_plan_selects_the_tier(
    api: httpx.AsyncClient,
    spoken: Spoken,
    accounts: Accounts,
    person: Person,
    plan: PlanName,
    tier: str,
) -> None:
    await plan_of(accounts, person, plan)
    answer = await ask(api, spoken, artifact="source")
    assert answer.status_code == 202, answer.text
    asked = answer.json()
    assert asked["jobId"] == f"download_{asked['downloadRequestId']}"
    assert (asked["artifact"], asked["language"], asked["tier"], asked["status"]) == ("source", "en", tier, "queued")
    got = (await api.get(f"/downloads/{asked['downloadRequestId']}")).json()
    assert got == {
        "id": asked["downloadRequestId"],
        "status": "queued",
        "tier": tier,
        "truncated": tier == "sample",
        "maxDurationSeconds": 60.0 if tier == "sample" else None,
        "url": None,
        "error": None,
        "jobId": asked["jobId"],
    }


async def test_a_suspended_library_has_no_tier(
    api: httpx.AsyncClient, spoken: Spoken, accounts: Accounts, person: Person
) -> None:
    await plan_of(accounts, person, PlanName.BUSINESS, suspended=True)
    answer = await ask(api, spoken, artifact="source")
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "DOWNLOAD_TIER_NONE")


@pytest.mark.parametrize(
    "body", [{}, {"artifact": "film"}, {"artifact": "language_video"}, {"artifact": "source", "language": "?"}]
)
async def test_what_cannot_be_meant_is_refused(api: httpx.AsyncClient, spoken: Spoken, body: dict[str, Any]) -> None:
    answer = await ask(api, spoken, **body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "INVALID_ARGUMENT")


@pytest.mark.parametrize(
    ("status", "completion", "expected"),
    [
        ("ready", "complete", (202, None)),
        ("processing", "pending", (202, None)),
        ("processing", "preview_ready", (409, "PREVIEW_NOT_DOWNLOADABLE")),
        ("failed", "pending", (409, "FAILED_PRECONDITION")),
    ],
)
async def test_a_language_video_follows_the_state_of_its_dub(
    api: httpx.AsyncClient, spoken: Spoken, status: str, completion: str, expected: tuple[int, str | None]
) -> None:
    job_id = await put_dub(spoken, status=status, completion=completion)
    answer = await ask(api, spoken, artifact="language_video", language="PT")
    assert (answer.status_code, answer.json().get("error", {}).get("code")) == expected
    if expected[0] == 202:
        waits = await spoken.accounts.connection.fetchval(
            "SELECT depends_on FROM jobs WHERE id = $1", answer.json()["jobId"]
        )
        assert waits == ([] if status == "ready" else [job_id])
    else:
        assert answer.json()["error"]["details"]["jobId"] == job_id


async def test_the_spoken_language_needs_no_dub_and_another_is_not_found(
    api: httpx.AsyncClient, spoken: Spoken
) -> None:
    assert (await ask(api, spoken, artifact="language_video", language="en")).status_code == 202
    assert (await ask(api, spoken, artifact="language_video", language="fr")).status_code == 404


async def test_an_import_that_runs_is_waited_for_and_one_that_failed_is_no_ground(
    api: httpx.AsyncClient, spoken: Spoken
) -> None:
    connection = spoken.accounts.connection
    await connection.execute("UPDATE videos SET import_status = 'processing' WHERE id = $1", spoken.video_id)
    asked = (await ask(api, spoken, artifact="bundle")).json()
    waits = await connection.fetchval("SELECT depends_on FROM jobs WHERE id = $1", asked["jobId"])
    assert waits == [f"import_{spoken.video_id}"]
    await connection.execute("UPDATE videos SET import_status = 'failed' WHERE id = $1", spoken.video_id)
    answer = await ask(api, spoken, artifact="bundle")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "FAILED_PRECONDITION")


async def test_a_ready_download_has_a_url_that_names_its_file(
    api: httpx.AsyncClient, spoken: Spoken, runtime: Runtime
) -> None:
    path = f"tests/{spoken.video_id}/a file"
    await runtime.storage.put(path, b"film")
    asked = (await ask(api, spoken, artifact="source")).json()
    await end(runtime, spoken, asked["jobId"], {"storagePath": path, "fileName": "film.mp4"})
    got = await api.get(f"/downloads/{asked['downloadRequestId']}")
    assert (got.status_code, got.json()["status"], got.json()["error"]) == (200, "ready", None)
    async with httpx.AsyncClient() as browser:
        fetched = await browser.get(got.json()["url"])
    assert (fetched.status_code, fetched.content) == (200, b"film")
    assert fetched.headers["content-disposition"] == 'attachment; filename="film.mp4"'


async def test_a_failed_download_is_an_answer(api: httpx.AsyncClient, spoken: Spoken, runtime: Runtime) -> None:
    asked = (await ask(api, spoken, artifact="source")).json()
    await end(runtime, spoken, asked["jobId"], Failure("INTERNAL", "It broke.", details={"reason": "DISK_FULL"}))
    got = await api.get(f"/downloads/{asked['downloadRequestId']}")
    assert got.status_code == 200
    assert (got.json()["status"], got.json()["url"]) == ("failed", None)
    assert got.json()["error"] == {"code": "INTERNAL", "message": "It broke.", "details": {"reason": "DISK_FULL"}}


async def test_downloads_of_others_and_of_nobody_are_not_found(
    api: httpx.AsyncClient, anonymous: httpx.AsyncClient, spoken: Spoken, accounts: Accounts
) -> None:
    asked = (await ask(api, spoken, artifact="source")).json()
    stranger = await accounts.key(await accounts.person())
    answer = await anonymous.get(f"/downloads/{asked['downloadRequestId']}", headers=stranger.headers)
    assert answer.status_code == 404
    assert (await api.get("/downloads/nothing")).status_code == 404
