"""`Cutroom-Max-Credits`: no request costs more than its caller allowed, whenever its price becomes known."""

import asyncio
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from cutroom.credits.pricing import Action, BillableItem
from cutroom.jobs import lifecycle
from cutroom.jobs.ids import DubProduct, JobKey, JobType
from cutroom.jobs.lifecycle import JobRef
from cutroom.platform.clock import system_clock
from cutroom.web.spending import HEADER
from tests.credits.api_calls import code, reserve
from tests.credits.conftest import PRICES, AddVideo, LedgerAccounts, LibraryLedger
from tests.support.api_document import DOCUMENT

LANGUAGES = ("de", "es", "fr", "hi", "ja", "pt")
CENT = 10


def dub(language: str) -> BillableItem:
    return BillableItem(Action.DUB, "plus", language)


def limited(amount: str) -> dict[str, str]:
    return {HEADER: amount}


def details_of(response: httpx.Response) -> Mapping[str, Any]:
    details: Mapping[str, Any] = response.json()["error"]["details"]
    return details


# The header.


@pytest.mark.parametrize(
    "value",
    ["", "-1", "-0", "+1", "1.0001", "NaN", "nan", "inf", "1e3", "0x10", "1,5", "6.4, 5", ".5", "5.", "1 0", "1_000",
     "1000000000", "9" * 400, "٦", "six"],
)  # fmt: skip
async def test_invalid_limit_is_refused(
    api: httpx.AsyncClient, library_ledger: LibraryLedger, add_video: AddVideo, value: str
) -> None:
    await library_ledger.grant(10_000)
    path = f"/videos/{await add_video(60.0)}/dubs"
    headers = {HEADER.encode(): value.encode()}
    response = await api.post(path, json={"languages": ["de"]}, headers=headers)
    assert code(response) == (400, "INVALID_ARGUMENT")
    assert [each["path"] for each in details_of(response)["fields"]] == [HEADER]
    assert await library_ledger.kinds() == ["grant"]


async def test_several_limits_are_refused(api: httpx.AsyncClient, add_video: AddVideo) -> None:
    headers = [(HEADER, "5"), (HEADER, "5")]
    response = await api.post(f"/videos/{await add_video(60.0)}/dubs", json={"languages": ["de"]}, headers=headers)
    assert code(response) == (400, "INVALID_ARGUMENT")


def test_every_operation_that_charges_accepts_a_limit() -> None:
    priced, charging = set(), set()
    for path, methods in DOCUMENT["paths"].items():
        for method, described in methods.items():
            if any(each["name"] == HEADER for each in described.get("parameters", ())):
                priced.add((method, path))
            errors = described["responses"].get("429", {}).get("content", {}).get("application/json", {})
            if "INSUFFICIENT_CREDITS" in errors.get("examples", {}):
                charging.add((method, path))
    assert priced == charging | {("post", "/v1/videos")}  # whose products are charged when they start
    assert len(priced) == 13


# Requests.


async def test_limit_applies_to_all_languages_together(
    api: httpx.AsyncClient, library_ledger: LibraryLedger, add_video: AddVideo
) -> None:
    await library_ledger.grant(20_000)
    path, body = f"/videos/{await add_video(60.0)}/dubs", {"languages": ["de", "es", "fr"]}
    refused = await api.post(path, json=body, headers=limited("5.999"))
    assert code(refused) == (409, "FAILED_PRECONDITION")
    assert details_of(refused) == {"reason": "over_limit", "price": 6.0, "limit": 5.999}
    assert refused.json()["error"]["message"] == (
        "The price of 6 credits is above the spending limit of 5.999 credits."
    )
    assert await library_ledger.kinds() == ["grant"]
    accepted = await api.post(path, json=body, headers=limited("6"))
    assert accepted.status_code == 202
    assert await library_ledger.accounts() == LedgerAccounts(14_000, 6_000, 0, -20_000)


async def test_limit_is_checked_before_the_balance(
    api: httpx.AsyncClient, library_ledger: LibraryLedger, add_video: AddVideo
) -> None:
    await library_ledger.grant(1_000)
    path, body = f"/videos/{await add_video(60.0)}/captions", {"languages": ["de", "es", "fr"]}
    assert details_of(await api.post(path, json=body, headers=limited("1")))["reason"] == "over_limit"
    assert code(await api.post(path, json=body, headers=limited("1.5"))) == (429, "INSUFFICIENT_CREDITS")


async def test_running_job_is_returned_within_any_limit(
    api: httpx.AsyncClient, library_ledger: LibraryLedger, add_video: AddVideo
) -> None:
    await library_ledger.grant(20_000)
    path, body = f"/videos/{await add_video(60.0)}/dubs", {"languages": ["de"]}
    first = await api.post(path, json=body)
    again = await api.post(path, json=body, headers=limited("0"))
    assert (again.status_code, again.json()["jobs"][0]["id"]) == (202, first.json()["jobs"][0]["id"])
    more = await api.post(path, json={"languages": ["de", "es"]}, headers=limited("2"))
    assert more.status_code == 202  # only the second is charged
    assert (await library_ledger.accounts()).escrow == 4_000


async def test_reservation_is_limited_and_so_is_what_it_pays_for(
    api: httpx.AsyncClient, library_ledger: LibraryLedger, add_video: AddVideo
) -> None:
    await library_ledger.grant(20_000)
    video_id = await add_video(60.0)
    bundle = {"dubs": [{"languages": ["de", "es"]}]}
    refused = await api.post(f"/videos/{video_id}/reservations", json=bundle, headers=limited("3.9"))
    assert details_of(refused) == {"reason": "over_limit", "price": 4.0, "limit": 3.9}
    assert await library_ledger.kinds() == ["grant"]
    reservation_id = (await reserve(api, video_id, **bundle))["reservationId"]
    path, body = f"/videos/{video_id}/dubs", {"languages": ["de", "es"], "reservationId": reservation_id}
    refused = await api.post(path, json=body, headers=limited("3.9"))
    assert details_of(refused) == {"reason": "over_limit", "price": 4.0, "limit": 3.9}
    rows = await library_ledger.owner.fetch(
        "SELECT holder, state FROM escrow_lines WHERE library_id = $1", library_ledger.library_id
    )
    assert [tuple(row) for row in rows] == [(None, "open")] * 2
    assert (await api.post(path, json=body, headers=limited("4"))).status_code == 202


async def test_lines_and_balance_of_one_request_are_added(
    api: httpx.AsyncClient, library_ledger: LibraryLedger, add_video: AddVideo
) -> None:
    await library_ledger.grant(20_000)
    video_id = await add_video(60.0)
    reserved = await reserve(api, video_id, dubs=[{"languages": ["de"]}])
    lines = {"de": reserved["lineItems"][0]["lineItemId"]}
    path, body = f"/videos/{video_id}/dubs", {"languages": ["de", "es"], "reservationLineItemIdByLanguage": lines}
    refused = await api.post(path, json=body, headers=limited("3.9"))
    assert details_of(refused) == {"reason": "over_limit", "price": 2.0, "charged": 2.0, "limit": 3.9}
    assert (await api.post(path, json=body, headers=limited("4"))).status_code == 202


async def test_limit_is_part_of_an_idempotent_request(
    api: httpx.AsyncClient, library_ledger: LibraryLedger, add_video: AddVideo
) -> None:
    await library_ledger.grant(20_000)
    path, body = f"/videos/{await add_video(60.0)}/dubs", {"languages": ["de"]}
    keyed = {"Idempotency-Key": "once"}
    first = await api.post(path, json=body, headers=keyed | limited("1"))
    again = await api.post(path, json=body, headers=keyed | limited("1.000"))
    assert (again.status_code, again.content) == (409, first.content)
    assert again.headers["Idempotency-Replayed"] == "true"
    for headers in (keyed | limited("2"), keyed):
        other = await api.post(path, json=body, headers=headers)
        assert code(other) == (409, "IDEMPOTENCY_REPLAY")
        assert details_of(other) == {"pathMatch": True, "hashMatch": False}
    assert await library_ledger.kinds() == ["grant"]


async def test_free_operations_ignore_the_limit(api: httpx.AsyncClient) -> None:
    assert (await api.post("/folders", json={"name": "a"}, headers=limited("nonsense"))).status_code == 201


async def test_recipe_of_an_import_keeps_its_limit(
    api: httpx.AsyncClient, library_ledger: LibraryLedger, add_video: AddVideo
) -> None:
    await library_ledger.grant(20_000)
    await add_video(60.0)  # which advertises languages
    body = {"source": {"type": "upload"}, "products": {"dubs": [{"languages": ["de", "es"]}]}}
    created = await api.post("/videos", json=body, headers=limited("3"))
    assert created.status_code == 202, created.text
    video_id = created.json()["videoId"]
    await library_ledger.owner.execute("UPDATE videos SET duration_seconds = 60 WHERE id = $1", video_id)
    ids = [each["id"] for each in created.json()["jobs"] if each["type"] == "dub"]
    started = []
    for job_id in ids:
        async with library_ledger.transaction() as connection:
            ref = JobRef(library_ledger.library_id, job_id, 1)
            started.append(await lifecycle.start(connection, ref, prices=PRICES, now=system_clock()))
    assert [plan is not None for plan in started] == [True, False]
    assert (await library_ledger.accounts()).escrow == 2_000


async def test_requests_sent_together_each_stay_within_their_limit(
    api: httpx.AsyncClient, library_ledger: LibraryLedger, add_video: AddVideo
) -> None:
    await library_ledger.grant(1_000_000)
    video_id = await add_video(60.0)
    sent = [(language, millicredits) for language in LANGUAGES for millicredits in (0, 1_999, 2_000, 2_001)]
    responses = await asyncio.gather(
        *[
            api.post(f"/videos/{video_id}/dubs", json={"languages": [language]}, headers=limited(f"{amount / 1000}"))
            for language, amount in sent
        ]
    )
    assert {response.status_code for response in responses} <= {202, 409}
    lines = await library_ledger.owner.fetch(
        "SELECT holder, count(*) AS lines FROM escrow_lines WHERE library_id = $1 GROUP BY holder",
        library_ledger.library_id,
    )
    assert {row["lines"] for row in lines} == {1}
    keys = {JobKey(JobType.DUB, video_id, language=each, product=DubProduct.PLUS).id for each in LANGUAGES}
    assert {row["holder"] for row in lines} == keys
