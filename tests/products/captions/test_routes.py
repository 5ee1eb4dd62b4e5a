"""Caption routes: validation, charging and errors."""

import httpx
import pytest

from cutroom.capabilities.rules import AdvertisedTranslator
from cutroom.capabilities.service import ROUTE_TTL, publish_routes
from cutroom.credits import ledger
from cutroom.engines.translation.port import Quality, Route
from cutroom.platform.clock import system_clock
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.products.conftest import TranscribedVideo

ENGINES = [
    AdvertisedTranslator("one", (Route("en", "pt", Quality.PUBLISHABLE), Route("pt", "en", Quality.PUBLISHABLE))),
    AdvertisedTranslator("two", (Route("pt", "es", Quality.PUBLISHABLE),)),
]


@pytest.fixture(autouse=True)
async def routes(runtime: Runtime, accounts: Accounts) -> None:
    await accounts.connection.execute("DELETE FROM translation_routes")
    async with runtime.database.connection() as connection, connection.transaction():
        assert await publish_routes(connection, ENGINES, now=system_clock()) == 3


@pytest.fixture(autouse=True)
async def funds(accounts: Accounts, transcribed: TranscribedVideo) -> None:
    now = system_clock()
    await ledger.grant(accounts.connection, transcribed.library_id, millicredits=10_000, reference="tests", now=now)


async def balance(accounts: Accounts, transcribed: TranscribedVideo) -> int:
    return await ledger.wallet_balance(accounts.connection, transcribed.library_id)


async def test_each_language_creates_a_charged_job(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, accounts: Accounts
) -> None:
    response = await api.post(f"/videos/{transcribed.video_id}/captions", json={"languages": ["pt-BR", "es"]})
    assert response.status_code == 202, response.text
    jobs = response.json()["jobs"]
    assert [(job["id"], job["type"], job["status"], job["language"]) for job in jobs] == [
        (f"captions_{transcribed.video_id}_pt-BR", "captions", "queued", "pt-BR"),
        (f"captions_{transcribed.video_id}_es", "captions", "queued", "es"),
    ]
    assert await balance(accounts, transcribed) == 10_000 - 2 * 500  # a minute each


async def test_repeated_request_returns_the_same_job_without_charge(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, accounts: Accounts
) -> None:
    first = await api.post(f"/videos/{transcribed.video_id}/captions", json={"languages": ["pt"]})
    again = await api.post(f"/videos/{transcribed.video_id}/captions", json={"languages": ["pt"]})
    assert again.json() == first.json()
    assert await balance(accounts, transcribed) == 9_500


@pytest.mark.parametrize("languages", [["xx"], ["pt", "ja"], ["en"]], ids=["unknown", "one of two", "source language"])
async def test_unsupported_language_is_rejected_with_supported_ones(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, accounts: Accounts, languages: list[str]
) -> None:
    response = await api.post(f"/videos/{transcribed.video_id}/captions", json={"languages": languages})
    assert (response.status_code, response.json()["error"]["code"]) == (400, "INVALID_ARGUMENT")
    details = response.json()["error"]["details"]
    assert details["available"] == ["es", "pt"]
    is_source = languages == ["en"]
    message = "This is the language of the video." if is_source else "There is no translation into this language."
    assert details["fields"] == [{"path": f"languages.{len(languages) - 1}", "message": message}]
    assert await balance(accounts, transcribed) == 10_000


async def test_regional_route_serves_its_base_language_but_no_other_region(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, runtime: Runtime
) -> None:
    engine = AdvertisedTranslator("three", (Route("en", "fr-CA", Quality.PUBLISHABLE),))
    async with runtime.database.connection() as connection, connection.transaction():
        await publish_routes(connection, [engine], now=system_clock())
    for language, status in (("fr", 202), ("fr-CA", 202), ("fr-FR", 400)):
        response = await api.post(f"/videos/{transcribed.video_id}/captions", json={"languages": [language]})
        assert response.status_code == status


async def test_stale_routes_are_not_available(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, runtime: Runtime
) -> None:
    async with runtime.database.connection() as connection:
        await connection.execute("UPDATE translation_routes SET seen_at = $1", system_clock() - ROUTE_TTL)
    response = await api.post(f"/videos/{transcribed.video_id}/captions", json={"languages": ["pt"]})
    assert response.json()["error"]["details"]["available"] == []


async def test_captions_depend_on_an_unfinished_transcript(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, accounts: Accounts
) -> None:
    await transcribed.job(status="processing", finished_at=None)
    response = await api.post(f"/videos/{transcribed.video_id}/captions", json={"languages": ["es"]})
    assert response.status_code == 202
    depends_on = await accounts.connection.fetchval(
        "SELECT depends_on FROM jobs WHERE id = $1", f"captions_{transcribed.video_id}_es"
    )
    assert depends_on == [f"transcript_{transcribed.video_id}"]


async def test_captions_of_a_failed_transcript_are_rejected(
    api: httpx.AsyncClient, transcribed: TranscribedVideo
) -> None:
    await transcribed.job(status="failed", error_code="INTERNAL", error_message="No.")
    response = await api.post(f"/videos/{transcribed.video_id}/captions", json={"languages": ["pt"]})
    assert (response.status_code, response.json()["error"]["code"]) == (409, "FAILED_PRECONDITION")
    assert response.json()["error"]["details"] == {"jobId": f"transcript_{transcribed.video_id}"}


async def test_reservation_is_charged(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, accounts: Accounts
) -> None:
    reserved = (
        await api.post(f"/videos/{transcribed.video_id}/reservations", json={"captionLanguageCodes": ["pt", "es"]})
    ).json()
    lines = {line["targetLanguageCode"]: line["lineItemId"] for line in reserved["lineItems"]}
    assert await balance(accounts, transcribed) == 9_000
    by_line_item = {"languages": ["pt"], "reservationLineItemIdByLanguage": {"pt": lines["pt"]}}
    assert (await api.post(f"/videos/{transcribed.video_id}/captions", json=by_line_item)).status_code == 202
    by_reservation = {"languages": ["es"], "reservationId": reserved["reservationId"]}
    assert (await api.post(f"/videos/{transcribed.video_id}/captions", json=by_reservation)).status_code == 202
    assert await balance(accounts, transcribed) == 9_000


async def test_line_item_of_another_language_is_a_conflict(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, accounts: Accounts
) -> None:
    reserved = (
        await api.post(f"/videos/{transcribed.video_id}/reservations", json={"captionLanguageCodes": ["es"]})
    ).json()
    line = reserved["lineItems"][0]["lineItemId"]
    for lines in ({"pt": line}, {"es": line}):
        body = {"languages": ["pt"], "reservationLineItemIdByLanguage": lines}
        response = await api.post(f"/videos/{transcribed.video_id}/captions", json=body)
        assert (response.status_code, response.json()["error"]["code"]) == (409, "CONFLICT")
    assert await balance(accounts, transcribed) == 9_500


async def test_empty_languages_create_no_jobs(api: httpx.AsyncClient, transcribed: TranscribedVideo) -> None:
    response = await api.post(f"/videos/{transcribed.video_id}/captions", json={"languages": []})
    assert (response.status_code, response.json()) == (202, {"jobs": []})
