"""Packaging routes: which runs start, are pending or are skipped, and how reviews are decided."""

from typing import Any

import httpx
import pytest
from temporalio.testing import ActivityEnvironment

from cutroom.credits import ledger
from cutroom.credits.pricing import load_prices
from cutroom.engines.registry import Engines
from cutroom.jobs import lifecycle
from cutroom.jobs.lifecycle import Failure, JobRef
from cutroom.platform.clock import system_clock
from cutroom.products.packaging.activities import PackagingActivities
from cutroom.products.packaging.rules import SKIPPED, OverwriteMode, skip_reason
from cutroom.products.thumbnails.inputs import ThumbnailRef
from cutroom.products.thumbnails.service import store_detections
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.products.conftest import TranscribedVideo

TITLE = {"enabled": True, "titleType": "funny"}
DESCRIPTION = {"enabled": True, "descriptionType": "video-summary"}


@pytest.fixture(autouse=True)
async def funds(accounts: Accounts, transcribed: TranscribedVideo) -> None:
    await ledger.grant(
        accounts.connection, transcribed.library_id, millicredits=20_000, reference="tests", now=system_clock()
    )


async def create(api: httpx.AsyncClient, transcribed: TranscribedVideo, **options: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    response = await api.post(f"/videos/{transcribed.video_id}/packaging", json={"automationOptions": options})
    assert response.status_code == 202, response.text
    created: dict[str, Any] = response.json()
    return created


def job_id_for(transcribed: TranscribedVideo, automation: str) -> str:
    return f"packaging_{transcribed.video_id}_{automation}"


async def finish(
    runtime: Runtime,
    transcribed: TranscribedVideo,
    automation: str,
    *,
    result: dict[str, Any] | Failure,
    attempt: int = 1,
) -> None:
    ref = JobRef(transcribed.library_id, job_id_for(transcribed, automation), attempt)
    async with runtime.database.transaction(transcribed.library_id) as connection:
        assert await lifecycle.start(connection, ref, prices=load_prices(None), now=system_clock()) is not None
        if isinstance(result, Failure):
            await lifecycle.fail(connection, ref, failure=result, now=system_clock())
        else:
            await lifecycle.complete(connection, ref, result=result, now=system_clock())


async def test_each_automation_creates_one_job(api: httpx.AsyncClient, transcribed: TranscribedVideo) -> None:
    created = await create(
        api, transcribed, generateTitle=TITLE, generateDescription=DESCRIPTION, zeroPromptThumbnail={"enabled": True}
    )
    assert created["registered"]
    assert created["alreadyPending"] == []
    assert [job["id"] for job in created["jobs"]] == [
        job_id_for(transcribed, name) for name in ("generateTitle", "generateDescription", "zeroPromptThumbnail")
    ]
    assert {job["status"] for job in created["jobs"]} == {"queued"}


async def test_top_level_fields_are_accepted(api: httpx.AsyncClient, transcribed: TranscribedVideo) -> None:
    response = await api.post(f"/videos/{transcribed.video_id}/packaging", json={"generateTitle": TITLE})
    assert response.status_code == 202
    assert [job["automationType"] for job in response.json()["jobs"]] == ["generateTitle"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"automationOptions": {}},
        {"automationOptions": None},
        {"automationOptions": {"generateTitle": {"titleType": "funny"}}},
        {"automationOptions": {"generateTitle": {"enabled": True}}},
        {"automationOptions": {"generateTitle": {"enabled": True, "titleType": "dull"}}},
        {"automationOptions": {"generateTitle": {**TITLE, "overwriteMode": "sometimes"}}},
        {"automationOptions": {"generateDescription": {"enabled": True, "descriptionType": "poem"}}},
        {"automationOptions": {"generateDescription": {**DESCRIPTION, "brandVoiceId": "v" * 129}}},
        {"automationOptions": {"brandVoiceId": "v" * 129, "generateTitle": TITLE}},
        {"automationOptions": {"zeroPromptThumbnail": {}}},
        {"automationOptions": {"zeroPromptThumbnail": {"enabled": True, "characterCount": 2}}},
        {"automationOptions": {"zeroPromptThumbnail": {"enabled": True, "pipelineMode": "thumbnail-precision"}}},
        {"automationOptions": {"generateTitle": TITLE}, "generateDescription": DESCRIPTION},
    ],
)
async def test_invalid_options_are_rejected(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, body: dict[str, Any]
) -> None:
    response = await api.post(f"/videos/{transcribed.video_id}/packaging", json=body)
    assert response.status_code == 400, response.text
    assert response.json()["error"]["details"]["fields"]


async def test_pending_run_is_reported_and_not_started_again(
    api: httpx.AsyncClient, transcribed: TranscribedVideo
) -> None:
    await create(api, transcribed, generateTitle=TITLE)
    created = await create(
        api, transcribed, generateTitle={**TITLE, "overwriteMode": "always"}, generateDescription=DESCRIPTION
    )
    assert created["registered"]
    assert created["alreadyPending"] == ["generateTitle"]
    assert [job["automationType"] for job in created["jobs"]] == ["generateDescription"]


async def test_disabled_automation_is_not_run(api: httpx.AsyncClient, transcribed: TranscribedVideo) -> None:
    created = await create(api, transcribed, generateTitle={**TITLE, "enabled": False})
    assert created == {"registered": False, "alreadyPending": [], "jobs": []}


@pytest.mark.parametrize(
    ("previous", "mode", "runs_again"),
    [
        ({"title": "A lens"}, "fill-if-empty", False),
        ({"title": "A lens"}, "never", False),
        ({"title": "A lens"}, "always", True),
        ({SKIPPED: "The field already has a value."}, "fill-if-empty", True),
        (Failure("INTERNAL", "It broke."), "fill-if-empty", True),
    ],
)
async def test_finished_run_starts_again_only_if_it_may_write(
    api: httpx.AsyncClient,
    runtime: Runtime,
    transcribed: TranscribedVideo,
    previous: dict[str, Any] | Failure,
    mode: str,
    *,
    runs_again: bool,
) -> None:
    await create(api, transcribed, generateTitle=TITLE)
    await finish(runtime, transcribed, "generateTitle", result=previous)
    created = await create(api, transcribed, generateTitle={**TITLE, "overwriteMode": mode})
    assert created["registered"] is runs_again
    assert created["alreadyPending"] == []
    assert [job["status"] for job in created["jobs"]] == (["queued"] if runs_again else [])


@pytest.mark.parametrize(
    ("mode", "current", "is_skipped"),
    [
        (OverwriteMode.FILL, None, False),
        (OverwriteMode.FILL, " ", False),
        (OverwriteMode.FILL, "A lens", True),
        (OverwriteMode.ALWAYS, "A lens", False),
        (OverwriteMode.ALWAYS, None, False),
        (OverwriteMode.NEVER, None, True),
        (OverwriteMode.NEVER, "A lens", True),
    ],
)
def test_overwrite_mode_decides_whether_a_value_is_replaced(
    mode: OverwriteMode, current: str | None, *, is_skipped: bool
) -> None:
    assert (skip_reason(mode, current) is not None) is is_skipped


async def test_state_lists_runs_with_their_outcome(
    api: httpx.AsyncClient, runtime: Runtime, transcribed: TranscribedVideo
) -> None:
    path = f"/videos/{transcribed.video_id}/packaging"
    assert (await api.get(path)).json() == {"videoId": transcribed.video_id, "automations": []}
    await create(api, transcribed, generateTitle={**TITLE, "overwriteMode": "never"}, generateDescription=DESCRIPTION)
    await finish(runtime, transcribed, "generateTitle", result={SKIPPED: "Nothing is written."})
    await finish(runtime, transcribed, "generateDescription", result=Failure("INTERNAL", "It broke."))
    title, description = (await api.get(path)).json()["automations"]
    assert title == {
        "type": "generateTitle",
        "status": "skipped",
        "jobId": job_id_for(transcribed, "generateTitle"),
        "overwriteMode": "never",
    }
    assert (description["status"], description["overwriteMode"]) == ("failed", "fill-if-empty")
    assert description["error"] == {"code": "INTERNAL", "message": "It broke.", "details": {}}


@pytest.fixture
async def in_review(api: httpx.AsyncClient, runtime: Runtime, transcribed: TranscribedVideo) -> list[str]:
    """Ids of two detected people in a run that waits for review."""
    options = {"enabled": True, "autoDetectCharacters": True, "characterDetectApprovalMode": "review"}
    await create(api, transcribed, zeroPromptThumbnail=options)
    ref = JobRef(transcribed.library_id, job_id_for(transcribed, "zeroPromptThumbnail"), 1)
    ids = ["found-1", "found-2"]
    found = [{"id": name, "kind": "character", "seconds": 3.5, "path": "face.png"} for name in ids]
    async with runtime.database.transaction(transcribed.library_id) as connection:
        plan = await lifecycle.start(connection, ref, prices=load_prices(None), now=system_clock())
        assert plan is not None
        await store_detections(connection, transcribed.library_id, plan["request_id"], found)
    return ids


async def test_run_in_review_lists_detections(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, in_review: list[str]
) -> None:
    state = (await api.get(f"/videos/{transcribed.video_id}/packaging")).json()
    assert [run["status"] for run in state["automations"]] == ["review"]
    assert [(each["id"], each["kind"], each["time"]) for each in state["thumbnail"]["detected"]] == [
        (name, "character", 3.5) for name in in_review
    ]


async def test_members_who_want_it_are_asked_for_a_review_once(
    runtime: Runtime, accounts: Accounts, transcribed: TranscribedVideo, in_review: list[str]
) -> None:
    row = await accounts.connection.fetchrow(
        "SELECT id, plan, attempt FROM jobs WHERE library_id = $1 AND automation_type IS NOT NULL",
        transcribed.library_id,
    )
    assert row is not None
    ref = JobRef(transcribed.library_id, row["id"], row["attempt"])
    video_id, plan = transcribed.video_id, row["plan"]
    thumbnail = ThumbnailRef(transcribed.library_id, video_id, plan["request_id"], plan)
    activities = PackagingActivities(runtime.database, Engines(runtime.settings), system_clock)
    for _ in range(2):
        assert await ActivityEnvironment().run(activities.read_decision, ref, thumbnail) is None
    sql = "SELECT kind, channel, subject FROM notifications WHERE library_id = $1"
    [notification] = await accounts.connection.fetch(sql, transcribed.library_id)
    assert tuple(notification) == (
        "review_requested",
        "mail",
        {"id": row["id"], "videoId": transcribed.video_id},
    )
    assert in_review


async def test_review_is_decided_once_and_resumes_the_run(
    api: httpx.AsyncClient, accounts: Accounts, transcribed: TranscribedVideo, in_review: list[str]
) -> None:
    path = f"/videos/{transcribed.video_id}/packaging/review"
    response = await api.post(path, json={"approved": True, "detectedIds": in_review[:1]})
    assert response.status_code == 200, response.text
    assert [run["status"] for run in response.json()["automations"]] == ["processing"]
    resumed = await accounts.connection.fetch(
        "SELECT argument FROM outbox WHERE library_id = $1 AND workflow = 'resume-packaging'", transcribed.library_id
    )
    assert [row["argument"] for row in resumed] == [{"workflow_id": job_id_for(transcribed, "zeroPromptThumbnail")}]
    assert (await api.post(path, json={"approved": False})).status_code == 409


async def test_only_detected_ids_can_be_approved(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, in_review: list[str]
) -> None:
    path = f"/videos/{transcribed.video_id}/packaging/review"
    for ids in ([*in_review, "unknown"], []):
        assert (await api.post(path, json={"approved": True, "detectedIds": ids})).status_code == 400
    assert (await api.post(path, json={})).status_code == 400


async def test_review_without_pending_run_is_rejected(api: httpx.AsyncClient, transcribed: TranscribedVideo) -> None:
    path = f"/videos/{transcribed.video_id}/packaging/review"
    assert (await api.post(path, json={"approved": True})).status_code == 404
    await create(api, transcribed, zeroPromptThumbnail={"enabled": True})
    assert (await api.post(path, json={"approved": True})).status_code == 409
