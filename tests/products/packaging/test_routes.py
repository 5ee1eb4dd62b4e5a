"""Asking for packaging: which runs begin, which are pending or skipped, and how a review is decided."""

from typing import Any

import httpx
import pytest

from cutroom.credits import ledger
from cutroom.credits.pricing import load_prices
from cutroom.jobs import lifecycle
from cutroom.jobs.lifecycle import Failure, JobRef
from cutroom.platform.clock import system_clock
from cutroom.products.packaging.rules import SKIPPED, Overwrite, why_skipped
from cutroom.products.thumbnails.service import put_detected
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.products.conftest import Spoken

TITLE = {"enabled": True, "titleType": "funny"}
DESCRIPTION = {"enabled": True, "descriptionType": "video-summary"}


@pytest.fixture(autouse=True)
async def funds(accounts: Accounts, spoken: Spoken) -> None:
    await ledger.grant(
        accounts.connection, spoken.library_id, millicredits=20_000, reference="tests", now=system_clock()
    )


async def ask(api: httpx.AsyncClient, spoken: Spoken, **options: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
    answer = await api.post(f"/videos/{spoken.video_id}/packaging", json={"automationOptions": options})
    assert answer.status_code == 202, answer.text
    asked: dict[str, Any] = answer.json()
    return asked


def job_of(spoken: Spoken, automation: str) -> str:
    return f"packaging_{spoken.video_id}_{automation}"


async def end(
    runtime: Runtime, spoken: Spoken, automation: str, *, result: dict[str, Any] | Failure, attempt: int = 1
) -> None:
    ref = JobRef(spoken.library_id, job_of(spoken, automation), attempt)
    async with runtime.database.transaction(spoken.library_id) as connection:
        assert await lifecycle.begin(connection, ref, prices=load_prices(None), now=system_clock()) is not None
        if isinstance(result, Failure):
            await lifecycle.fail(connection, ref, failure=result, now=system_clock())
        else:
            await lifecycle.finish(connection, ref, result=result, now=system_clock())


async def test_each_automation_is_one_job(api: httpx.AsyncClient, spoken: Spoken) -> None:
    asked = await ask(
        api, spoken, generateTitle=TITLE, generateDescription=DESCRIPTION, zeroPromptThumbnail={"enabled": True}
    )
    assert asked["registered"]
    assert asked["alreadyPending"] == []
    assert [job["id"] for job in asked["jobs"]] == [
        job_of(spoken, name) for name in ("generateTitle", "generateDescription", "zeroPromptThumbnail")
    ]
    assert {job["status"] for job in asked["jobs"]} == {"queued"}


async def test_fields_may_be_sent_directly(api: httpx.AsyncClient, spoken: Spoken) -> None:
    answer = await api.post(f"/videos/{spoken.video_id}/packaging", json={"generateTitle": TITLE})
    assert answer.status_code == 202
    assert [job["automationType"] for job in answer.json()["jobs"]] == ["generateTitle"]


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
async def test_what_is_incomplete_or_contradicts_itself_is_refused(
    api: httpx.AsyncClient, spoken: Spoken, body: dict[str, Any]
) -> None:
    answer = await api.post(f"/videos/{spoken.video_id}/packaging", json=body)
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["details"]["fields"]


async def test_what_is_pending_is_told_and_not_begun_again(api: httpx.AsyncClient, spoken: Spoken) -> None:
    await ask(api, spoken, generateTitle=TITLE)
    asked = await ask(api, spoken, generateTitle={**TITLE, "overwriteMode": "always"}, generateDescription=DESCRIPTION)
    assert asked["registered"]
    assert asked["alreadyPending"] == ["generateTitle"]
    assert [job["automationType"] for job in asked["jobs"]] == ["generateDescription"]


async def test_what_is_not_enabled_is_not_run(api: httpx.AsyncClient, spoken: Spoken) -> None:
    asked = await ask(api, spoken, generateTitle={**TITLE, "enabled": False})
    assert asked == {"registered": False, "alreadyPending": [], "jobs": []}


@pytest.mark.parametrize(
    ("before", "mode", "runs_again"),
    [
        ({"title": "A lens"}, "fill-if-empty", False),
        ({"title": "A lens"}, "never", False),
        ({"title": "A lens"}, "always", True),
        ({SKIPPED: "There is a value already."}, "fill-if-empty", True),
        (Failure("INTERNAL", "It broke."), "fill-if-empty", True),
    ],
)
async def test_what_ended_runs_again_only_where_that_can_change_something(
    api: httpx.AsyncClient,
    runtime: Runtime,
    spoken: Spoken,
    before: dict[str, Any] | Failure,
    mode: str,
    *,
    runs_again: bool,
) -> None:
    await ask(api, spoken, generateTitle=TITLE)
    await end(runtime, spoken, "generateTitle", result=before)
    asked = await ask(api, spoken, generateTitle={**TITLE, "overwriteMode": mode})
    assert asked["registered"] is runs_again
    assert asked["alreadyPending"] == []
    assert [job["status"] for job in asked["jobs"]] == (["queued"] if runs_again else [])


@pytest.mark.parametrize(
    ("mode", "current", "is_skipped"),
    [
        (Overwrite.FILL, None, False),
        (Overwrite.FILL, " ", False),
        (Overwrite.FILL, "A lens", True),
        (Overwrite.ALWAYS, "A lens", False),
        (Overwrite.ALWAYS, None, False),
        (Overwrite.NEVER, None, True),
        (Overwrite.NEVER, "A lens", True),
    ],
)
def test_a_value_is_replaced_only_where_it_may_be(mode: Overwrite, current: str | None, *, is_skipped: bool) -> None:
    assert (why_skipped(mode, current) is not None) is is_skipped


async def test_the_state_tells_every_run_and_its_end(api: httpx.AsyncClient, runtime: Runtime, spoken: Spoken) -> None:
    path = f"/videos/{spoken.video_id}/packaging"
    assert (await api.get(path)).json() == {"videoId": spoken.video_id, "automations": []}
    await ask(api, spoken, generateTitle={**TITLE, "overwriteMode": "never"}, generateDescription=DESCRIPTION)
    await end(runtime, spoken, "generateTitle", result={SKIPPED: "Nothing is written."})
    await end(runtime, spoken, "generateDescription", result=Failure("INTERNAL", "It broke."))
    title, description = (await api.get(path)).json()["automations"]
    assert title == {
        "type": "generateTitle",
        "status": "skipped",
        "jobId": job_of(spoken, "generateTitle"),
        "overwriteMode": "never",
    }
    assert (description["status"], description["overwriteMode"]) == ("failed", "fill-if-empty")
    assert description["error"] == {"code": "INTERNAL", "message": "It broke.", "details": {}}


@pytest.fixture
async def in_review(api: httpx.AsyncClient, runtime: Runtime, spoken: Spoken) -> list[str]:
    """A run that has found two people, and waits for somebody to look at them; their ids."""
    options = {"enabled": True, "autoDetectCharacters": True, "characterDetectApprovalMode": "review"}
    await ask(api, spoken, zeroPromptThumbnail=options)
    ref = JobRef(spoken.library_id, job_of(spoken, "zeroPromptThumbnail"), 1)
    ids = ["found-1", "found-2"]
    found = [{"id": name, "kind": "character", "seconds": 3.5, "path": "face.png"} for name in ids]
    async with runtime.database.transaction(spoken.library_id) as connection:
        plan = await lifecycle.begin(connection, ref, prices=load_prices(None), now=system_clock())
        assert plan is not None
        await put_detected(connection, spoken.library_id, plan["request_id"], found)
    return ids


async def test_what_waits_for_a_review_shows_what_was_found(
    api: httpx.AsyncClient, spoken: Spoken, in_review: list[str]
) -> None:
    state = (await api.get(f"/videos/{spoken.video_id}/packaging")).json()
    assert [run["status"] for run in state["automations"]] == ["review"]
    assert [(each["id"], each["kind"], each["time"]) for each in state["thumbnail"]["detected"]] == [
        (name, "character", 3.5) for name in in_review
    ]


async def test_a_decision_is_taken_once_and_wakes_the_run(
    api: httpx.AsyncClient, accounts: Accounts, spoken: Spoken, in_review: list[str]
) -> None:
    path = f"/videos/{spoken.video_id}/packaging/review"
    answer = await api.post(path, json={"approved": True, "detectedIds": in_review[:1]})
    assert answer.status_code == 200, answer.text
    assert [run["status"] for run in answer.json()["automations"]] == ["processing"]
    woken = await accounts.connection.fetch(
        "SELECT argument FROM outbox WHERE library_id = $1 AND workflow = 'resume-packaging'", spoken.library_id
    )
    assert [row["argument"] for row in woken] == [{"workflow_id": job_of(spoken, "zeroPromptThumbnail")}]
    assert (await api.post(path, json={"approved": False})).status_code == 409


async def test_only_what_was_found_can_be_approved(
    api: httpx.AsyncClient, spoken: Spoken, in_review: list[str]
) -> None:
    path = f"/videos/{spoken.video_id}/packaging/review"
    for ids in ([*in_review, "stranger"], []):
        assert (await api.post(path, json={"approved": True, "detectedIds": ids})).status_code == 400
    assert (await api.post(path, json={})).status_code == 400


async def test_nothing_is_decided_where_nobody_waits(api: httpx.AsyncClient, spoken: Spoken) -> None:
    path = f"/videos/{spoken.video_id}/packaging/review"
    assert (await api.post(path, json={"approved": True})).status_code == 404
    await ask(api, spoken, zeroPromptThumbnail={"enabled": True})
    assert (await api.post(path, json={"approved": True})).status_code == 409
