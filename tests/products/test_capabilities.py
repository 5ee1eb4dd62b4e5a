"""GET /capabilities: what it lists can be quoted and requested, and nothing else."""

from typing import Any

import httpx
import pytest

from cutroom.accounts.plans import PlanName
from cutroom.accounts.scopes import Scope
from cutroom.capabilities.rules import AdvertisedTranslator
from cutroom.capabilities.service import caption_languages, dub_languages, publish_routes, publish_voices
from cutroom.credits import ledger
from cutroom.engines.translation.port import Quality, Route
from cutroom.platform.clock import system_clock
from cutroom.products.catalog import PRODUCTS
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from tests.products.conftest import TranscribedVideo
from tests.products.speech.conftest import FakeSynthesizer

ROUTES = (
    Route("en", "pt", Quality.PUBLISHABLE),
    Route("en", "de", Quality.PUBLISHABLE),
    Route("pt", "es", Quality.DRAFT),
    Route("de", "en", Quality.PUBLISHABLE),
    Route("fr", "it", Quality.PUBLISHABLE),
)
ASKED = ("pt", "pt-BR", "de", "es", "it", "fr", "ja", "zh-Hant")


@pytest.fixture(autouse=True)
async def engines(runtime: Runtime, accounts: Accounts) -> None:
    await accounts.connection.execute("DELETE FROM translation_routes")
    await accounts.connection.execute("DELETE FROM stock_voices")
    async with runtime.database.connection() as connection, connection.transaction():
        await publish_routes(connection, [AdvertisedTranslator("one", ROUTES)], now=system_clock())
        await publish_voices(connection, FakeSynthesizer(), now=system_clock())  # English and Portuguese


async def capabilities(api: httpx.AsyncClient) -> dict[str, Any]:
    response = await api.get("/capabilities")
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


async def test_lists_languages_pairs_and_voices(api: httpx.AsyncClient) -> None:
    found = await capabilities(api)
    pairs = {(pair["source"], pair["target"]): (pair["quality"], pair["dubs"]) for pair in found["pairs"]}
    assert pairs == {
        ("de", "en"): ("publishable", True),
        ("de", "pt"): ("review", True),
        ("en", "de"): ("publishable", False),
        ("en", "es"): ("draft", False),
        ("en", "pt"): ("publishable", True),
        ("fr", "it"): ("publishable", False),
        ("pt", "es"): ("draft", False),
    }
    languages = {each["code"]: each for each in found["languages"]}
    assert languages["pt"] == {
        "code": "pt",
        "name": "Portuguese",
        "source": True,
        "captions": True,
        "dubs": True,
        "speech": "pt" in {voice["language"] for voice in found["voices"]},
    }
    assert (languages["fr"]["source"], languages["fr"]["captions"], languages["fr"]["dubs"]) == (True, False, False)
    assert {voice["language"].partition("-")[0] for voice in found["voices"]} == {"en", "pt"}
    assert set(found["voices"][0]) == {"id", "name", "language", "gender", "age"}


async def test_listed_languages_can_be_quoted_and_requested_and_no_others(
    api: httpx.AsyncClient, accounts: Accounts, transcribed: TranscribedVideo
) -> None:
    """The video is in English; a region that no route names is served by the language."""
    await ledger.grant(
        accounts.connection, transcribed.library_id, millicredits=100_000, reference="tests", now=system_clock()
    )
    pairs = [pair for pair in (await capabilities(api))["pairs"] if pair["source"] == "en"]
    captions = {pair["target"] for pair in pairs}
    dubs = {pair["target"] for pair in pairs if pair["dubs"]}
    assert (captions, dubs) == ({"de", "es", "pt"}, {"pt"})
    path = f"/videos/{transcribed.video_id}"
    for code in ASKED:
        expected_captions = code.partition("-")[0] in captions
        expected_dub = code.partition("-")[0] in dubs
        quoted = await api.post(f"{path}/quote", json={"captionLanguageCodes": [code]})
        assert quoted.status_code == (200 if expected_captions else 400), (code, quoted.text)
        created = await api.post(f"{path}/captions", json={"languages": [code]})
        assert created.status_code == (202 if expected_captions else 400), (code, created.text)
        quoted = await api.post(f"{path}/quote", json={"dubs": [{"languages": [code]}]})
        assert quoted.status_code == (200 if expected_dub else 400), (code, quoted.text)
        created = await api.post(f"{path}/dubs", json={"languages": [code]})
        assert created.status_code == (202 if expected_dub else 400), (code, created.text)


async def test_console_reads_the_same_languages(api: httpx.AsyncClient, runtime: Runtime) -> None:
    """The functions that fill the console's language pickers."""
    pairs = (await capabilities(api))["pairs"]
    async with runtime.database.connection() as connection:
        for source in {pair["source"] for pair in pairs}:
            listed = [pair for pair in pairs if pair["source"] == source]
            for_captions = await caption_languages(connection, source=source, now=system_clock())
            for_dubs = await dub_languages(connection, source=source, now=system_clock())
            assert [pair["target"] for pair in listed] == for_captions
            assert [pair["target"] for pair in listed if pair["dubs"]] == for_dubs


async def test_products_models_and_limits(api: httpx.AsyncClient) -> None:
    found = await capabilities(api)
    products = {each["name"]: each for each in found["products"]}
    assert list(products) == [product.name for product in PRODUCTS]
    assert {name for name, each in products.items() if not each["enabled"]} == {"hosting", "playback"}
    assert (products["hosting"]["reason"], products["playback"]["reason"]) == ("no_provider", "disabled")
    assert "reason" not in products["dubs"]
    assert products["shorts"]["limits"]["clips"] == 4
    assert {"id": "cutroom_speech_v1", "product": "speech"} in found["models"]
    assert set(found["limits"]) == {
        "requestsPerMinute",
        "concurrentRequests",
        "unfinishedJobs",
        "bodyBytes",
        "languages",
        "pageItems",
    }
    assert (await api.get("/models")).json()[0]["model_id"] in {model["id"] for model in found["models"]}


async def test_plan_and_engines_decide_what_is_enabled(
    anonymous: httpx.AsyncClient, accounts: Accounts, runtime: Runtime
) -> None:
    free = await accounts.key(await accounts.person(PlanName.FREE), scopes=[Scope.VIDEOS_READ])
    anonymous.headers.update(free.headers)
    await accounts.connection.execute("DELETE FROM translation_routes")
    await accounts.connection.execute("DELETE FROM stock_voices")
    found = await capabilities(anonymous)
    reasons = {each["name"]: each["reason"] for each in found["products"] if not each["enabled"]}
    assert reasons == {
        "captions": "no_languages",
        "dubs": "no_languages",
        "playback": "disabled",
        "hosting": "plan_required",
        "speech": "plan_required",
    }
    assert (found["languages"], found["pairs"], found["voices"]) == ([], [], [])
    plan = runtime.authenticator.plans["free"]
    assert found["limits"]["unfinishedJobs"] == plan.unfinished_jobs


async def test_scope_is_required(anonymous: httpx.AsyncClient, accounts: Accounts, person: Person) -> None:
    key = await accounts.key(person, scopes=[Scope.JOBS_READ])
    response = await anonymous.get("/capabilities", headers=key.headers)
    assert (response.status_code, response.json()["error"]["code"]) == (403, "INSUFFICIENT_SCOPE")
