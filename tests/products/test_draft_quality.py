"""Translations of draft quality are labeled, cost less, and can be refused."""

from typing import Any

import httpx
import pytest

from cutroom.capabilities.rules import AdvertisedTranslator
from cutroom.capabilities.service import publish_routes, publish_voices
from cutroom.engines.translation.port import Quality, Route
from cutroom.jobs import lifecycle
from cutroom.jobs.ids import parse_job_id
from cutroom.jobs.lifecycle import JobRef
from cutroom.platform.clock import system_clock
from cutroom.products.catalog import PRODUCTS
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from tests.credits.conftest import PRICES, LibraryLedger
from tests.products.conftest import TranscribedVideo
from tests.products.speech.conftest import FakeSynthesizer

ENGINES = [
    AdvertisedTranslator("one", (Route("en", "pt", Quality.REVIEW, share=0.8), Route("en", "de", Quality.DRAFT))),
    AdvertisedTranslator("two", (Route("pt", "es", Quality.PUBLISHABLE, share=0.99, is_rule_based=True),)),
]
CHECKS = {job.job_type: job.check for product in PRODUCTS for job in product.jobs}
FUNDS = 10_000
BOTH = {"captionLanguageCodes": ["pt", "es"], "dubs": [{"languages": ["pt"], "product": "premium"}]}


@pytest.fixture(autouse=True)
async def engines(runtime: Runtime, accounts: Accounts) -> None:
    await accounts.connection.execute("DELETE FROM translation_routes")
    await accounts.connection.execute("DELETE FROM stock_voices")
    async with runtime.database.connection() as connection, connection.transaction():
        await publish_routes(connection, ENGINES, now=system_clock())
        await publish_voices(connection, FakeSynthesizer(), now=system_clock())  # English and Portuguese


@pytest.fixture
async def library_ledger(runtime: Runtime, accounts: Accounts, person: Person) -> LibraryLedger:
    library_ledger = LibraryLedger(runtime, accounts.connection, person.library_id)
    await library_ledger.grant(FUNDS)
    return library_ledger


async def start(library_ledger: LibraryLedger, job_id: str) -> bool:
    key = parse_job_id(job_id)
    assert key is not None
    async with library_ledger.transaction() as connection:
        ref = JobRef(library_ledger.library_id, job_id, 1)
        plan = await lifecycle.start(connection, ref, prices=PRICES, now=system_clock(), check=CHECKS[key.type])
    return plan is not None


async def complete(library_ledger: LibraryLedger, job_id: str, quality: Quality) -> dict[str, Any]:
    async with library_ledger.transaction() as connection:
        ref, result = JobRef(library_ledger.library_id, job_id, 1), {"quality": quality.value}
        assert await lifecycle.complete(connection, ref, result=result, now=system_clock(), prices=PRICES)
        row = await connection.fetchrow("SELECT result FROM jobs WHERE id = $1", job_id)
    assert row is not None
    receipt: dict[str, Any] = row["result"]["receipt"]
    return receipt


async def check_ledger(library_ledger: LibraryLedger) -> None:
    assert await library_ledger.faults() == []


async def refuse_drafts(accounts: Accounts, library_id: str) -> None:
    await accounts.connection.execute("UPDATE libraries SET refuses_drafts = true WHERE id = $1", library_id)


async def test_quote_and_reservation_label_and_price_drafts(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, library_ledger: LibraryLedger
) -> None:
    quoted = (await api.post(f"/videos/{transcribed.video_id}/quote", json=BOTH)).json()
    lines = [
        (line["actionKey"], line["targetLanguageCode"], line["quality"], line["credits"], line["description"])
        for line in quoted["breakdown"]
    ]
    assert lines == [
        ("dub", "pt", "review", 4.0, "Dub (premium), pt"),
        ("captions", "pt", "review", 0.5, "Translated captions, pt"),
        ("captions", "es", "draft", 0.25, "Translated captions, draft, es"),
    ]
    reserved = (await api.post(f"/videos/{transcribed.video_id}/reservations", json=BOTH)).json()
    assert [line["quality"] for line in reserved["lineItems"]] == ["review", "review", "draft"]
    assert reserved["total"] == quoted["total"] == 4.75
    await check_ledger(library_ledger)


async def test_draft_is_charged_at_its_rate(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, library_ledger: LibraryLedger
) -> None:
    created = await api.post(f"/videos/{transcribed.video_id}/captions", json={"languages": ["pt", "de"]})
    german, review = f"captions_{transcribed.video_id}_de", f"captions_{transcribed.video_id}_pt"
    assert created.status_code == 202
    assert (await library_ledger.accounts()).escrow == 750
    for job_id, quality in ((german, Quality.DRAFT), (review, Quality.REVIEW)):
        assert await start(library_ledger, job_id)
        await complete(library_ledger, job_id, quality)
    accounts = await library_ledger.accounts()
    assert (accounts.wallet, accounts.escrow, accounts.revenue) == (FUNDS - 750, 0, 750)
    await check_ledger(library_ledger)


@pytest.mark.parametrize("is_reserved", [False, True])
async def test_what_proves_to_be_a_draft_is_charged_as_one(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, library_ledger: LibraryLedger, *, is_reserved: bool
) -> None:
    """The language of the video is not known when the price is quoted."""
    path = f"/videos/{transcribed.video_id}"
    await transcribed.job(status="processing", finished_at=None)
    bundle = {"captionLanguageCodes": ["es"]}
    quoted = (await api.post(f"{path}/quote", json=bundle)).json()
    assert (quoted["total"], "quality" in quoted["breakdown"][0]) == (0.5, False)
    body: dict[str, Any] = {"languages": ["es"]}
    if is_reserved:
        body["reservationId"] = (await api.post(f"{path}/reservations", json=bundle)).json()["reservationId"]
    created = await api.post(f"{path}/captions", json=body)
    job_id = created.json()["jobs"][0]["id"]
    await transcribed.job(status="ready", finished_at=system_clock())
    assert await start(library_ledger, job_id)
    assert (await library_ledger.accounts()).escrow == 500
    await check_ledger(library_ledger)
    receipt = await complete(library_ledger, job_id, Quality.DRAFT)
    totals = {name: receipt[name] for name in ("quoted", "held", "captured", "returned")}
    assert totals == {"quoted": 0.5, "held": 0.5, "captured": 0.25, "returned": 0.25}
    released, captured = receipt["lines"]
    assert (released["state"], captured["state"]) == ("released", "captured")
    assert (captured["replaces"], captured["quality"]) == (released["lineItemId"], "draft")
    accounts = await library_ledger.accounts()
    assert (accounts.wallet, accounts.escrow, accounts.revenue) == (FUNDS - 250, 0, 250)
    await check_ledger(library_ledger)


async def test_reserved_line_pays_even_if_the_class_has_changed(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, library_ledger: LibraryLedger, runtime: Runtime
) -> None:
    path = f"/videos/{transcribed.video_id}"
    reserved = (await api.post(f"{path}/reservations", json={"captionLanguageCodes": ["de"]})).json()
    better = AdvertisedTranslator("one", (Route("en", "de", Quality.PUBLISHABLE),))
    async with runtime.database.connection() as connection, connection.transaction():
        await publish_routes(connection, [better], now=system_clock())
    body = {"languages": ["de"], "reservationId": reserved["reservationId"]}
    created = await api.post(f"{path}/captions", json=body)
    assert created.status_code == 202, created.text
    job_id = created.json()["jobs"][0]["id"]
    assert await start(library_ledger, job_id)
    receipt = await complete(library_ledger, job_id, Quality.PUBLISHABLE)
    assert (receipt["quoted"], receipt["captured"]) == (0.25, 0.25)  # as reserved
    await check_ledger(library_ledger)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("captions", {"languages": ["pt", "es", "de"]}),
        ("quote", {"captionLanguageCodes": ["pt", "es", "de"]}),
        ("reservations", {"captionLanguageCodes": ["pt", "es", "de"]}),
    ],
)
async def test_library_refuses_drafts(
    api: httpx.AsyncClient,
    transcribed: TranscribedVideo,
    library_ledger: LibraryLedger,
    accounts: Accounts,
    path: str,
    body: dict[str, Any],
) -> None:
    await refuse_drafts(accounts, transcribed.library_id)
    refused = await api.post(f"/videos/{transcribed.video_id}/{path}", json=body)
    error = refused.json()["error"]
    assert (refused.status_code, error["code"]) == (409, "FAILED_PRECONDITION")
    assert error["details"] == {"reason": "draft_quality", "languages": ["es", "de"]}
    assert await library_ledger.kinds() == ["grant"]
    assert (await api.get("/capabilities")).json()["refusesDrafts"] is True
    for accepted in ({**body, "acceptDraft": True}, _only_portuguese(body)):
        response = await api.post(f"/videos/{transcribed.video_id}/{path}", json=accepted)
        assert response.is_success, response.text


def _only_portuguese(body: dict[str, Any]) -> dict[str, Any]:
    return {name: ["pt"] for name in body}


async def test_dubs_are_refused_as_well(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, accounts: Accounts, runtime: Runtime
) -> None:
    await refuse_drafts(accounts, transcribed.library_id)
    worse = AdvertisedTranslator("one", (Route("en", "pt", Quality.DRAFT),))
    async with runtime.database.connection() as connection, connection.transaction():
        await publish_routes(connection, [worse], now=system_clock())
    for path, body in (("dubs", {"languages": ["pt"]}), ("quote", {"dubs": [{"languages": ["pt"]}]})):
        refused = await api.post(f"/videos/{transcribed.video_id}/{path}", json=body)
        assert refused.json()["error"]["details"] == {"reason": "draft_quality", "languages": ["pt"]}
    quote = {"dubs": [{"languages": ["pt"]}], "acceptDraft": True}
    assert (await api.post(f"/videos/{transcribed.video_id}/quote", json=quote)).json()["total"] == 1.0


async def test_draft_found_out_later_fails_uncharged(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, library_ledger: LibraryLedger, accounts: Accounts
) -> None:
    await refuse_drafts(accounts, transcribed.library_id)
    await transcribed.job(status="processing", finished_at=None)
    path = f"/videos/{transcribed.video_id}/captions"
    refusing = (await api.post(path, json={"languages": ["es"]})).json()["jobs"][0]["id"]
    accepting = (await api.post(path, json={"languages": ["de"], "acceptDraft": True})).json()["jobs"][0]["id"]
    await transcribed.job(status="ready", finished_at=system_clock())
    assert not await start(library_ledger, refusing)
    error = (await api.get(f"/jobs/{refusing}")).json()["error"]
    assert (error["code"], error["details"]["reason"]) == ("FAILED_PRECONDITION", "draft_quality")
    assert await library_ledger.kinds() == ["grant"]
    assert await start(library_ledger, accepting)
    await check_ledger(library_ledger)


@pytest.mark.parametrize("accept_draft", ["yes", 2, []])
async def test_accept_draft_is_a_boolean(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, accept_draft: object
) -> None:
    body = {"languages": ["pt"], "acceptDraft": accept_draft}
    response = await api.post(f"/videos/{transcribed.video_id}/captions", json=body)
    assert (response.status_code, response.json()["error"]["code"]) == (400, "INVALID_ARGUMENT")
