"""Asking for captions: which languages are taken, what is charged, and what is refused."""

import httpx
import pytest

from cutroom.credits import ledger
from cutroom.engines.translation.port import Quality, Route
from cutroom.platform.clock import system_clock
from cutroom.products.captions.service import ROUTES_LAST, AdvertisedTranslator, publish_routes
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.products.conftest import Spoken

ENGINES = [
    AdvertisedTranslator("one", (Route("en", "pt", Quality.GOOD), Route("pt", "en", Quality.GOOD))),
    AdvertisedTranslator("two", (Route("pt", "es", Quality.DRAFT),)),
]


@pytest.fixture(autouse=True)
async def routes(runtime: Runtime, accounts: Accounts) -> None:
    await accounts.connection.execute("DELETE FROM translation_routes")
    async with runtime.database.connection() as connection, connection.transaction():
        assert await publish_routes(connection, ENGINES, now=system_clock()) == 3


@pytest.fixture(autouse=True)
async def funds(accounts: Accounts, spoken: Spoken) -> None:
    now = system_clock()
    await ledger.grant(accounts.connection, spoken.library_id, millicredits=10_000, reference="tests", now=now)


async def balance(accounts: Accounts, spoken: Spoken) -> int:
    return await ledger.balance(accounts.connection, spoken.library_id)


async def test_each_language_is_a_job_with_a_price(api: httpx.AsyncClient, spoken: Spoken, accounts: Accounts) -> None:
    answer = await api.post(f"/videos/{spoken.video_id}/captions", json={"languages": ["pt-BR", "es"]})
    assert answer.status_code == 202, answer.text
    jobs = answer.json()["jobs"]
    assert [(job["id"], job["type"], job["status"], job["language"]) for job in jobs] == [
        (f"captions_{spoken.video_id}_pt-BR", "captions", "queued", "pt-BR"),
        (f"captions_{spoken.video_id}_es", "captions", "queued", "es"),
    ]
    assert await balance(accounts, spoken) == 10_000 - 2 * 500  # a minute each


async def test_asking_again_converges_and_charges_nothing(
    api: httpx.AsyncClient, spoken: Spoken, accounts: Accounts
) -> None:
    first = await api.post(f"/videos/{spoken.video_id}/captions", json={"languages": ["pt"]})
    again = await api.post(f"/videos/{spoken.video_id}/captions", json={"languages": ["pt"]})
    assert again.json() == first.json()
    assert await balance(accounts, spoken) == 9_500


@pytest.mark.parametrize("languages", [["xx"], ["pt", "ja"], ["en"]], ids=["unknown", "one of two", "what is spoken"])
async def test_a_language_without_a_way_is_refused_with_those_there_are(
    api: httpx.AsyncClient, spoken: Spoken, accounts: Accounts, languages: list[str]
) -> None:
    answer = await api.post(f"/videos/{spoken.video_id}/captions", json={"languages": languages})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "INVALID_ARGUMENT")
    details = answer.json()["error"]["details"]
    assert details["available"] == ["es", "pt"]
    assert details["fields"][0]["path"] == f"languages.{len(languages) - 1}"
    assert await balance(accounts, spoken) == 10_000


async def test_a_region_is_enough_for_its_language_and_not_for_another_region(
    api: httpx.AsyncClient, spoken: Spoken, runtime: Runtime
) -> None:
    engine = AdvertisedTranslator("three", (Route("en", "fr-CA", Quality.GOOD),))
    async with runtime.database.connection() as connection, connection.transaction():
        await publish_routes(connection, [engine], now=system_clock())
    for language, status in (("fr", 202), ("fr-CA", 202), ("fr-FR", 400)):
        answer = await api.post(f"/videos/{spoken.video_id}/captions", json={"languages": [language]})
        assert answer.status_code == status


async def test_what_no_worker_has_told_for_long_is_gone(
    api: httpx.AsyncClient, spoken: Spoken, runtime: Runtime
) -> None:
    async with runtime.database.connection() as connection:
        await connection.execute("UPDATE translation_routes SET seen_at = $1", system_clock() - ROUTES_LAST)
    answer = await api.post(f"/videos/{spoken.video_id}/captions", json={"languages": ["pt"]})
    assert answer.json()["error"]["details"]["available"] == []


async def test_captions_of_an_unfinished_transcript_wait_for_it(
    api: httpx.AsyncClient, spoken: Spoken, accounts: Accounts
) -> None:
    await spoken.job(status="processing", finished_at=None)
    answer = await api.post(f"/videos/{spoken.video_id}/captions", json={"languages": ["es"]})
    assert answer.status_code == 202
    depends_on = await accounts.connection.fetchval(
        "SELECT depends_on FROM jobs WHERE id = $1", f"captions_{spoken.video_id}_es"
    )
    assert depends_on == [f"transcript_{spoken.video_id}"]


async def test_captions_of_a_failed_transcript_are_refused(api: httpx.AsyncClient, spoken: Spoken) -> None:
    await spoken.job(status="failed", error_code="INTERNAL", error_message="No.")
    answer = await api.post(f"/videos/{spoken.video_id}/captions", json={"languages": ["pt"]})
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "FAILED_PRECONDITION")
    assert answer.json()["error"]["details"] == {"jobId": f"transcript_{spoken.video_id}"}


async def test_a_reservation_pays(api: httpx.AsyncClient, spoken: Spoken, accounts: Accounts) -> None:
    reserved = (
        await api.post(f"/videos/{spoken.video_id}/reservations", json={"captionLanguageCodes": ["pt", "es"]})
    ).json()
    lines = {line["targetLanguageCode"]: line["lineItemId"] for line in reserved["lineItems"]}
    assert await balance(accounts, spoken) == 9_000
    by_line = {"languages": ["pt"], "reservationLineItemIdByLanguage": {"pt": lines["pt"]}}
    assert (await api.post(f"/videos/{spoken.video_id}/captions", json=by_line)).status_code == 202
    whole = {"languages": ["es"], "reservationId": reserved["reservationId"]}
    assert (await api.post(f"/videos/{spoken.video_id}/captions", json=whole)).status_code == 202
    assert await balance(accounts, spoken) == 9_000


async def test_a_line_of_another_language_is_a_conflict(
    api: httpx.AsyncClient, spoken: Spoken, accounts: Accounts
) -> None:
    reserved = (await api.post(f"/videos/{spoken.video_id}/reservations", json={"captionLanguageCodes": ["es"]})).json()
    line = reserved["lineItems"][0]["lineItemId"]
    for lines in ({"pt": line}, {"es": line}):
        wanted = {"languages": ["pt"], "reservationLineItemIdByLanguage": lines}
        answer = await api.post(f"/videos/{spoken.video_id}/captions", json=wanted)
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "CONFLICT")
    assert await balance(accounts, spoken) == 9_500


async def test_no_language_is_no_job(api: httpx.AsyncClient, spoken: Spoken) -> None:
    answer = await api.post(f"/videos/{spoken.video_id}/captions", json={"languages": []})
    assert (answer.status_code, answer.json()) == (202, {"jobs": []})
