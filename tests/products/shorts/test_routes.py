"""Asking for shorts, promos and clips: what is taken, what it costs, what is shown, and what is refused."""

from typing import Any

import httpx
import pytest

from cutroom.credits import ledger
from cutroom.credits.pricing import load_prices
from cutroom.jobs import lifecycle
from cutroom.jobs.lifecycle import Failure, JobRef
from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.products.shorts.rules import Kind
from cutroom.products.shorts.service import NewOutput, put_output
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.products.conftest import Spoken

FUNDS = 100_000


@pytest.fixture(autouse=True)
async def funds(accounts: Accounts, spoken: Spoken) -> None:
    await ledger.grant(
        accounts.connection, spoken.library_id, millicredits=FUNDS, reference="tests", now=system_clock()
    )


async def ask(api: httpx.AsyncClient, spoken: Spoken, **body: Any) -> httpx.Response:  # noqa: ANN401 (JSON)
    return await api.post(f"/videos/{spoken.video_id}/shorts", json=body)


async def end(runtime: Runtime, spoken: Spoken, asked: dict[str, Any], *, result: dict[str, Any] | Failure) -> None:
    ref = JobRef(spoken.library_id, asked["jobId"], 1)
    prices = load_prices(None)
    async with runtime.database.transaction(spoken.library_id) as connection:
        assert await lifecycle.begin(connection, ref, prices=prices, now=system_clock()) is not None
        if isinstance(result, Failure):
            await lifecycle.fail(connection, ref, failure=result, now=system_clock())
        else:
            await lifecycle.finish(connection, ref, result=result, now=system_clock())


def output(spoken: Spoken, asked: dict[str, Any], number: int) -> NewOutput:
    return NewOutput(
        id=new_id(),
        request_id=asked["shortsRequestId"],
        video_id=spoken.video_id,
        number=number,
        kind=Kind.SHORTS,
        title=f"Number {number}",
        description="About a train.",
        reason="It asks a question.",
        duration_seconds=20.5,
        moments=[],
        video_path="video",
        thumbnail_path="picture",
        plan_path="plan",
    )


async def put(runtime: Runtime, spoken: Spoken, *outputs: NewOutput) -> None:
    async with runtime.database.transaction(spoken.library_id) as connection:
        for each in outputs:
            await put_output(connection, spoken.library_id, each, now=system_clock())


@pytest.mark.parametrize(
    ("body", "credits_spent", "expected"),
    [
        ({}, 6, 3),  # a subscriber's
        ({"kind": "shorts", "numClips": 2}, 4, 2),
        ({"kind": "promo"}, 10, 1),
        ({"kind": "promo", "includeSoundtrack": True, "numClips": 7}, 12, 1),  # a promo has no numClips
        ({"kind": "clips"}, 5, 1),
        ({"kind": "clips", "numClips": 9}, 20, 4),
        ({"kind": "clips", "numClips": -3}, 5, 1),
        ({"kind": "clips", "numClips": 2, "includeGeneratedThumbnail": True}, 20, 2),
        ({"kind": "clips", "aspectRatio": "no such", "minDuration": 1}, 5, 1),  # fields of another kind
    ],
)
async def test_what_is_asked_for_is_charged_by_the_output(
    api: httpx.AsyncClient, spoken: Spoken, body: dict[str, Any], credits_spent: float, expected: int
) -> None:
    answer = await ask(api, spoken, **body)
    assert answer.status_code == 202, answer.text
    asked = answer.json()
    assert asked["creditsSpent"] == credits_spent
    assert asked["balance"] == 100 - asked["creditsSpent"]
    assert asked["jobId"] == f"shorts_{asked['shortsRequestId']}"
    got = (await api.get(f"/shorts/{asked['shortsRequestId']}")).json()
    assert (got["status"], got["clipsExpected"], got["outputs"]) == ("queued", expected, [])


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
        ({"kind": "films"}, None),
        ({"kind": 4}, None),
    ],
)
async def test_what_is_out_of_bounds_is_refused(
    api: httpx.AsyncClient, spoken: Spoken, body: dict[str, Any], path: str | None
) -> None:
    answer = await ask(api, spoken, **body)
    assert answer.status_code == 400, answer.text
    error = answer.json()["error"]
    assert error["code"] == "INVALID_ARGUMENT"
    if path is not None:
        assert [field["path"] for field in error["details"]["fields"]] == [path]


async def test_a_prompt_is_trimmed_and_an_empty_one_is_none(
    api: httpx.AsyncClient, spoken: Spoken, accounts: Accounts
) -> None:
    plans = []
    for prompt in ("  the train  ", "   "):
        asked = (await ask(api, spoken, clipSelectionPrompt=prompt)).json()
        plans.append(await accounts.connection.fetchval("SELECT plan FROM jobs WHERE id = $1", asked["jobId"]))
    assert [plan.get("clipSelectionPrompt") for plan in plans] == ["the train", None]


async def test_each_request_is_a_new_one_and_the_list_has_the_newest_first(
    api: httpx.AsyncClient, spoken: Spoken
) -> None:
    first, second = (await ask(api, spoken)).json(), (await ask(api, spoken, kind="promo")).json()
    listed = (await api.get(f"/videos/{spoken.video_id}/shorts")).json()["requests"]
    assert listed == [
        {"id": second["shortsRequestId"], "status": "queued", "outputType": "promo", "jobId": second["jobId"]},
        {"id": first["shortsRequestId"], "status": "queued", "outputType": "shorts", "jobId": first["jobId"]},
    ]


async def test_before_there_is_a_transcript_a_request_is_pending(api: httpx.AsyncClient, spoken: Spoken) -> None:
    await spoken.job(status="processing", finished_at=None)
    asked = (await ask(api, spoken)).json()
    assert (await api.get(f"/shorts/{asked['shortsRequestId']}")).json()["status"] == "pending"


async def test_after_a_transcript_that_failed_nothing_is_taken_on(api: httpx.AsyncClient, spoken: Spoken) -> None:
    await spoken.job(status="failed", error_code="INTERNAL", error_message="No.")
    answer = await ask(api, spoken)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "FAILED_PRECONDITION")


async def test_at_most_five_outputs_are_shown_the_best_first(
    api: httpx.AsyncClient, spoken: Spoken, runtime: Runtime
) -> None:
    asked = (await ask(api, spoken, numClips=7)).json()
    await put(runtime, spoken, *(output(spoken, asked, number) for number in reversed(range(7))))
    await end(runtime, spoken, asked, result={})
    got = (await api.get(f"/shorts/{asked['shortsRequestId']}")).json()
    assert got["status"] == "complete"
    assert [each["title"] for each in got["outputs"]] == [f"Number {number}" for number in range(5)]
    assert got["outputs"][0]["duration"] == 20.5
    assert got["outputs"][0]["type"] == "shorts"


async def test_what_came_to_nothing_is_given_back_and_what_is_there_can_be_used(
    api: httpx.AsyncClient, spoken: Spoken, runtime: Runtime, accounts: Accounts
) -> None:
    asked = (await ask(api, spoken, numClips=3)).json()
    await put(runtime, spoken, output(spoken, asked, 0))
    await end(runtime, spoken, asked, result={"undone": 2, "failures": [{"number": 1, "message": "No."}]})
    answer = await api.get(f"/shorts/{asked['shortsRequestId']}")
    assert (answer.status_code, answer.json()["status"]) == (200, "partial_failed")
    receipt = (await api.get(f"/jobs/{asked['jobId']}")).json()["result"]["receipt"]
    each = asked["creditsSpent"] / 3
    assert (receipt["captured"], receipt["returned"]) == (each, 2 * each)
    assert await ledger.balance(accounts.connection, spoken.library_id) == FUNDS - round(each * 1000)
    assert not await accounts.connection.fetch("SELECT * FROM ledger_faults($1)", spoken.library_id)


async def test_a_request_that_failed_is_an_error_that_carries_it(
    api: httpx.AsyncClient, spoken: Spoken, runtime: Runtime
) -> None:
    asked = (await ask(api, spoken)).json()
    await end(runtime, spoken, asked, result=Failure("INTERNAL", "Nothing could be made.", details={"reason": "x"}))
    answer = await api.get(f"/shorts/{asked['shortsRequestId']}")
    assert answer.status_code == 422
    error = answer.json()["error"]
    assert (error["code"], error["message"], error["details"]["reason"]) == ("INTERNAL", "Nothing could be made.", "x")
    assert error["details"]["request"]["status"] == "failed"
    assert error["details"]["request"]["shortsRequestId"] == asked["shortsRequestId"]


@pytest.mark.parametrize("request_id", ["nothing", "01m7fd9433eh2trk34yng1t0x1", "%2e%2e"])
async def test_what_is_not_there_is_not_found(api: httpx.AsyncClient, request_id: str) -> None:
    assert (await api.get(f"/shorts/{request_id}")).status_code == 404
