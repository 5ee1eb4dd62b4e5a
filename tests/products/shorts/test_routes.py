"""Tests for shorts routes: prices, validation, listing and failures."""

from typing import Any

import httpx
import pytest

from cutroom.credits import ledger
from cutroom.credits.pricing import load_prices
from cutroom.jobs import lifecycle
from cutroom.jobs.lifecycle import Failure, JobRef
from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.products.shorts.rules import ShortsKind
from cutroom.products.shorts.service import NewShortsOutput, check_start, delete_outputs, save_output
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.products.conftest import TranscribedVideo

FUNDS = 100_000


@pytest.fixture(autouse=True)
async def funds(accounts: Accounts, transcribed: TranscribedVideo) -> None:
    await ledger.grant(
        accounts.connection, transcribed.library_id, millicredits=FUNDS, reference="tests", now=system_clock()
    )


async def create(api: httpx.AsyncClient, transcribed: TranscribedVideo, **body: Any) -> httpx.Response:  # noqa: ANN401 (JSON)
    return await api.post(f"/videos/{transcribed.video_id}/shorts", json=body)


async def set_duration(accounts: Accounts, transcribed: TranscribedVideo, seconds: float | None) -> None:
    await accounts.connection.execute(
        "UPDATE videos SET duration_seconds = $2 WHERE id = $1", transcribed.video_id, seconds
    )


async def finish_job(
    runtime: Runtime, transcribed: TranscribedVideo, created: dict[str, Any], *, result: dict[str, Any] | Failure
) -> None:
    ref = JobRef(transcribed.library_id, created["jobId"], 1)
    prices = load_prices(None)
    async with runtime.database.transaction(transcribed.library_id) as connection:
        assert await lifecycle.start(connection, ref, prices=prices, now=system_clock()) is not None
        if isinstance(result, Failure):
            await lifecycle.fail(connection, ref, failure=result, now=system_clock())
        else:
            await lifecycle.complete(connection, ref, result=result, now=system_clock())


def output(transcribed: TranscribedVideo, created: dict[str, Any], number: int) -> NewShortsOutput:
    return NewShortsOutput(
        id=new_id(),
        request_id=created["shortsRequestId"],
        video_id=transcribed.video_id,
        number=number,
        kind=ShortsKind.SHORTS,
        title=f"Number {number}",
        description="About a train.",
        reason="It asks a question.",
        duration_seconds=20.5,
        moments=[],
        video_path="video",
        thumbnail_path="thumbnail",
        plan_path="plan",
    )


async def save(runtime: Runtime, transcribed: TranscribedVideo, *outputs: NewShortsOutput) -> None:
    async with runtime.database.transaction(transcribed.library_id) as connection:
        for each in outputs:
            await save_output(connection, transcribed.library_id, each, now=system_clock())


@pytest.mark.parametrize(
    ("body", "credits_spent", "expected"),
    [
        ({}, 6, 3),  # a subscriber's
        ({"kind": "shorts", "numClips": 2}, 4, 2),
        ({"kind": "shorts", "numClips": 2, "includeWatermark": True}, 2, 2),
        ({"kind": "promo"}, 10, 1),
        ({"kind": "promo", "includeWatermark": True}, 10, 1),  # of shorts only
        ({"kind": "promo", "includeSoundtrack": True, "numClips": 7}, 12, 1),  # a promo has no numClips
        ({"kind": "clips"}, 5, 1),
        ({"kind": "clips", "numClips": 9}, 20, 4),
        ({"kind": "clips", "numClips": -3}, 5, 1),
        ({"kind": "clips", "numClips": 2, "includeGeneratedThumbnail": True}, 20, 2),
        ({"kind": "clips", "aspectRatio": "no such", "minDuration": 1}, 5, 1),  # fields of another kind
    ],
)
async def test_charge_is_per_output(
    api: httpx.AsyncClient,
    transcribed: TranscribedVideo,
    accounts: Accounts,
    body: dict[str, Any],
    credits_spent: float,
    expected: int,
) -> None:
    await set_duration(accounts, transcribed, 300.0)  # long enough for clips
    response = await create(api, transcribed, **body)
    assert response.status_code == 202, response.text
    created = response.json()
    assert created["creditsSpent"] == credits_spent
    assert created["balance"] == 100 - created["creditsSpent"]
    assert created["jobId"] == f"shorts_{created['shortsRequestId']}"
    fetched = (await api.get(f"/shorts/{created['shortsRequestId']}")).json()
    assert (fetched["status"], fetched["clipsExpected"], fetched["outputs"]) == ("queued", expected, [])


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"numClips": 0}, "numClips"),
        ({"numClips": 11}, "numClips"),
        ({"minDuration": 14.9}, "minDuration"),
        ({"maxDuration": 181}, "maxDuration"),
        ({"minDuration": 60, "maxDuration": 30}, None),
        ({"aspectRatio": "4:3"}, "aspectRatio"),
        ({"captionStyle": "comic"}, "captionStyle"),
        ({"captionPosition": "left"}, "captionPosition"),
        ({"clipSelectionPrompt": "x" * 2001}, "clipSelectionPrompt"),
        ({"kind": "promo", "aspectRatio": "1:1"}, "aspectRatio"),
        ({"kind": "unknown"}, None),
        ({"kind": 4}, None),
    ],
)
async def test_out_of_bounds_options_are_rejected(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, body: dict[str, Any], path: str | None
) -> None:
    response = await create(api, transcribed, **body)
    assert response.status_code == 400, response.text
    error = response.json()["error"]
    assert error["code"] == "INVALID_ARGUMENT"
    if path is not None:
        assert [field["path"] for field in error["details"]["fields"]] == [path]


@pytest.mark.parametrize(
    ("body", "needed"),
    [
        ({"kind": "shorts"}, 15),
        ({"kind": "shorts", "minDuration": 40}, 40),
        ({"kind": "promo"}, 45),
        ({"kind": "promo", "minDuration": 15}, 45),
        ({"kind": "clips"}, 300),
    ],
)
async def test_video_that_is_too_short_is_refused_by_quote_and_creation(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, accounts: Accounts, body: dict[str, Any], needed: float
) -> None:
    video = f"/videos/{transcribed.video_id}"
    paths = {f"{video}/shorts": body, f"{video}/quote": {"shorts": body}, f"{video}/reservations": {"shorts": body}}
    for seconds, is_refused in ((needed - 0.1, True), (needed, False), (None, False)):
        await set_duration(accounts, transcribed, seconds)
        for path, document in paths.items():
            response = await api.post(path, json=document)
            if not is_refused:
                assert response.status_code < 300, response.text
                continue
            error = response.json()["error"]
            assert (response.status_code, error["code"]) == (409, "FAILED_PRECONDITION")
            assert error["details"] == {"reason": "too_short", "durationSeconds": seconds, "neededSeconds": needed}


async def test_job_that_waited_for_the_duration_fails_uncharged_if_the_video_is_too_short(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, accounts: Accounts, runtime: Runtime
) -> None:
    await set_duration(accounts, transcribed, None)
    created = (await create(api, transcribed, kind="promo")).json()
    assert created["creditsSpent"] == 0
    await set_duration(accounts, transcribed, 32.0)
    ref = JobRef(transcribed.library_id, created["jobId"], 1)
    async with runtime.database.transaction(transcribed.library_id) as connection:
        now = system_clock()
        assert await lifecycle.start(connection, ref, prices=load_prices(), now=now, check=check_start) is None
    job = (await api.get(f"/jobs/{created['jobId']}")).json()
    assert (job["status"], job["error"]["code"]) == ("failed", "FAILED_PRECONDITION")
    assert job["error"]["message"] == "This video is too short: a promo needs at least 45 seconds."
    assert (job["result"]["receipt"]["held"], created["balance"]) == (0, 100)


async def test_prompt_is_trimmed(api: httpx.AsyncClient, transcribed: TranscribedVideo, accounts: Accounts) -> None:
    plans = []
    for prompt in ("  the train  ", "   "):
        created = (await create(api, transcribed, clipSelectionPrompt=prompt)).json()
        plans.append(await accounts.connection.fetchval("SELECT plan FROM jobs WHERE id = $1", created["jobId"]))
    assert [plan.get("clipSelectionPrompt") for plan in plans] == ["the train", None]


async def test_requests_are_independent_and_listed_newest_first(
    api: httpx.AsyncClient, transcribed: TranscribedVideo
) -> None:
    first, second = (await create(api, transcribed)).json(), (await create(api, transcribed, kind="promo")).json()
    listed = (await api.get(f"/videos/{transcribed.video_id}/shorts")).json()["requests"]
    assert listed == [
        {"id": second["shortsRequestId"], "status": "queued", "outputType": "promo", "jobId": second["jobId"]},
        {"id": first["shortsRequestId"], "status": "queued", "outputType": "shorts", "jobId": first["jobId"]},
    ]


async def test_request_is_pending_until_the_transcript_is_ready(
    api: httpx.AsyncClient, transcribed: TranscribedVideo
) -> None:
    await transcribed.job(status="processing", finished_at=None)
    created = (await create(api, transcribed)).json()
    assert (await api.get(f"/shorts/{created['shortsRequestId']}")).json()["status"] == "pending"


async def test_failed_transcript_is_rejected(api: httpx.AsyncClient, transcribed: TranscribedVideo) -> None:
    await transcribed.job(status="failed", error_code="INTERNAL", error_message="No.")
    response = await create(api, transcribed)
    assert (response.status_code, response.json()["error"]["code"]) == (409, "FAILED_PRECONDITION")


async def test_at_most_five_outputs_are_listed_best_first(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, runtime: Runtime
) -> None:
    created = (await create(api, transcribed, numClips=7)).json()
    await save(runtime, transcribed, *(output(transcribed, created, number) for number in reversed(range(7))))
    await finish_job(runtime, transcribed, created, result={})
    fetched = (await api.get(f"/shorts/{created['shortsRequestId']}")).json()
    assert fetched["status"] == "complete"
    assert [each["title"] for each in fetched["outputs"]] == [f"Number {number}" for number in range(5)]
    assert fetched["outputs"][0]["duration"] == 20.5
    assert fetched["outputs"][0]["type"] == "shorts"


async def test_failed_outputs_are_refunded_and_others_are_usable(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, runtime: Runtime, accounts: Accounts
) -> None:
    created = (await create(api, transcribed, numClips=3)).json()
    await save(runtime, transcribed, output(transcribed, created, 0))
    await finish_job(
        runtime, transcribed, created, result={"failedItems": 2, "failures": [{"number": 1, "message": "No."}]}
    )
    response = await api.get(f"/shorts/{created['shortsRequestId']}")
    assert (response.status_code, response.json()["status"]) == (200, "partial_failed")
    receipt = (await api.get(f"/jobs/{created['jobId']}")).json()["result"]["receipt"]
    each = created["creditsSpent"] / 3
    assert (receipt["captured"], receipt["returned"]) == (each, 2 * each)
    assert await ledger.wallet_balance(accounts.connection, transcribed.library_id) == FUNDS - round(each * 1000)
    assert not await accounts.connection.fetch("SELECT * FROM ledger_faults($1)", transcribed.library_id)


async def test_failed_request_is_returned_as_error_details(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, runtime: Runtime
) -> None:
    created = (await create(api, transcribed)).json()
    await finish_job(
        runtime, transcribed, created, result=Failure("INTERNAL", "Nothing could be made.", details={"reason": "x"})
    )
    response = await api.get(f"/shorts/{created['shortsRequestId']}")
    assert response.status_code == 422
    error = response.json()["error"]
    assert (error["code"], error["message"], error["details"]["reason"]) == ("INTERNAL", "Nothing could be made.", "x")
    assert error["details"]["request"]["status"] == "failed"
    assert error["details"]["request"]["shortsRequestId"] == created["shortsRequestId"]


@pytest.mark.parametrize("request_id", ["nothing", "01m7fd9433eh2trk34yng1t0x1", "%2e%2e"])
async def test_unknown_request_is_not_found(api: httpx.AsyncClient, request_id: str) -> None:
    assert (await api.get(f"/shorts/{request_id}")).status_code == 404


async def test_request_that_retention_has_deleted_is_not_found(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, runtime: Runtime
) -> None:
    created = (await create(api, transcribed, kind="shorts", numClips=1)).json()
    await save(runtime, transcribed, output(transcribed, created, 0))
    await finish_job(runtime, transcribed, created, result={})
    url = f"/shorts/{created['shortsRequestId']}"
    assert len((await api.get(url)).json()["outputs"]) == 1
    async with runtime.database.transaction(transcribed.library_id) as connection:
        await delete_outputs(connection, transcribed.library_id, transcribed.video_id, system_clock())
    assert (await api.get(url)).status_code == 404
    assert (await api.get(f"/videos/{transcribed.video_id}/shorts")).json() == {"requests": []}
    assert "outputDeletedAt" in (await api.get(f"/jobs/{created['jobId']}")).json()
