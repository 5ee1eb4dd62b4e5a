"""Work that waits for the language of the video is charged once it is possible, and otherwise ends uncharged."""

from typing import Any

import httpx
import pytest

from cutroom.capabilities.rules import AdvertisedTranslator, LanguageFault
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

# Some video can be translated into each of these, but an English one only into German and French.
ENGINES = [
    AdvertisedTranslator(
        "one",
        tuple(Route(*pair, Quality.PUBLISHABLE) for pair in (("en", "de"), ("en", "fr"), ("nl", "pt"), ("nl", "en"))),
    )
]
CHECKS = {job.job_type: job.check for product in PRODUCTS for job in product.jobs}
FUNDS = 50_000


@pytest.fixture
async def library_ledger(runtime: Runtime, accounts: Accounts, person: Person) -> LibraryLedger:
    library_ledger = LibraryLedger(runtime, accounts.connection, person.library_id)
    await library_ledger.grant(FUNDS)
    return library_ledger


@pytest.fixture(autouse=True)
async def engines(runtime: Runtime, accounts: Accounts) -> None:
    await accounts.connection.execute("DELETE FROM translation_routes")
    await accounts.connection.execute("DELETE FROM stock_voices")
    async with runtime.database.connection() as connection, connection.transaction():
        await publish_routes(connection, ENGINES, now=system_clock())
        await publish_voices(connection, FakeSynthesizer(), now=system_clock())  # English and Portuguese


async def start(library_ledger: LibraryLedger, library_id: str, job_id: str) -> bool:
    key = parse_job_id(job_id)
    assert key is not None
    async with library_ledger.transaction() as connection:
        ref = JobRef(library_id, job_id, 1)
        plan = await lifecycle.start(connection, ref, prices=PRICES, now=system_clock(), check=CHECKS[key.type])
    return plan is not None


async def request_while_transcribing(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, path: str, body: dict[str, Any]
) -> list[str]:
    """The ids of jobs requested while the transcript is being made, which then is ready."""
    await transcribed.job(status="processing", finished_at=None)
    response = await api.post(f"/videos/{transcribed.video_id}/{path}", json=body)
    assert response.status_code in {200, 202}, response.text
    document = response.json()
    await transcribed.job(status="ready", finished_at=system_clock())
    return [job["id"] for job in document["jobs"]] if "jobs" in document else [document["jobId"]]


ZERO_PROMPT = {
    "mode": "zero_prompt",
    "autoTranslateThumbnail": True,
    "thumbnailTranslationLanguageCodes": ["de", "pt"],
}


@pytest.mark.parametrize(
    ("path", "body", "fault", "available"),
    [
        ("dubs", {"languages": ["en"]}, LanguageFault.SAME_LANGUAGE, []),
        ("dubs", {"languages": ["pt"]}, LanguageFault.NO_ROUTE, []),
        ("captions", {"languages": ["en"]}, LanguageFault.SAME_LANGUAGE, ["de", "fr"]),
        ("captions", {"languages": ["pt"]}, LanguageFault.NO_ROUTE, ["de", "fr"]),
        ("thumbnails", ZERO_PROMPT, LanguageFault.NO_ROUTE, ["de", "fr"]),
    ],
)
async def test_impossible_language_ends_uncharged_once_the_source_is_known(
    api: httpx.AsyncClient,
    transcribed: TranscribedVideo,
    library_ledger: LibraryLedger,
    path: str,
    body: dict[str, Any],
    fault: LanguageFault,
    available: list[str],
) -> None:
    (job_id,) = await request_while_transcribing(api, transcribed, path, body)
    assert await library_ledger.kinds() == ["grant"]
    assert not await start(library_ledger, transcribed.library_id, job_id)
    job = (await api.get(f"/jobs/{job_id}")).json()
    error = job["error"]
    assert (job["status"], error["code"], error["message"]) == ("failed", "FAILED_PRECONDITION", fault.message)
    assert (error["details"]["reason"], error["details"]["available"]) == (fault.value, available)
    assert job["result"]["receipt"]["held"] == 0
    assert await library_ledger.kinds() == ["grant"]
    assert await library_ledger.faults() == []


async def test_possible_language_is_charged_once_the_source_is_known(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, library_ledger: LibraryLedger
) -> None:
    german, portuguese = await request_while_transcribing(api, transcribed, "captions", {"languages": ["de", "pt"]})
    assert await library_ledger.kinds() == ["grant"]
    assert await start(library_ledger, transcribed.library_id, german)
    assert not await start(library_ledger, transcribed.library_id, portuguese)
    assert (await library_ledger.accounts()).escrow == 500


async def test_video_without_speech_ends_uncharged(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, library_ledger: LibraryLedger, accounts: Accounts
) -> None:
    await accounts.connection.execute("UPDATE transcripts SET language = 'und', segments = '[]'")
    for path in ("dubs", "captions"):
        (job_id,) = await request_while_transcribing(api, transcribed, path, {"languages": ["pt"]})
        assert not await start(library_ledger, transcribed.library_id, job_id)
        error = (await api.get(f"/jobs/{job_id}")).json()["error"]
        assert (error["code"], error["details"]["reason"]) == ("FAILED_PRECONDITION", "no_speech")
        assert error["message"] == "No speech was recognized in this video."
    assert await library_ledger.kinds() == ["grant"]


async def test_reserved_credits_of_an_impossible_language_are_returned(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, library_ledger: LibraryLedger
) -> None:
    await transcribed.job(status="processing", finished_at=None)
    bundle = {"captionLanguageCodes": ["pt"]}
    reserved = (await api.post(f"/videos/{transcribed.video_id}/reservations", json=bundle)).json()
    body = {"languages": ["pt"], "reservationId": reserved["reservationId"]}
    (job_id,) = await request_while_transcribing(api, transcribed, "captions", body)
    assert not await start(library_ledger, transcribed.library_id, job_id)
    balances = await library_ledger.accounts()
    assert (balances.wallet, balances.escrow) == (FUNDS, 0)


async def test_nothing_is_impossible_while_no_engine_is_advertised(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, library_ledger: LibraryLedger, accounts: Accounts
) -> None:
    (job_id,) = await request_while_transcribing(api, transcribed, "captions", {"languages": ["pt"]})
    await accounts.connection.execute("DELETE FROM translation_routes")
    assert await start(library_ledger, transcribed.library_id, job_id)


async def test_recipe_of_an_import_ends_uncharged(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, library_ledger: LibraryLedger, accounts: Accounts
) -> None:
    products = {"dubs": [{"languages": ["pt"]}]}
    made = (await api.post("/videos", json={"source": {"type": "upload"}, "products": products})).json()
    video_id = made["videoId"]
    await accounts.connection.execute("UPDATE videos SET duration_seconds = 60 WHERE id = $1", video_id)
    await accounts.connection.execute(
        "UPDATE transcripts SET video_id = $2 WHERE video_id = $1", transcribed.video_id, video_id
    )
    job_id = f"dub_{video_id}_pt_plus"
    assert not await start(library_ledger, transcribed.library_id, job_id)
    assert (await api.get(f"/jobs/{job_id}")).json()["error"]["details"]["reason"] == "no_route"
    assert await library_ledger.kinds() == ["grant"]
