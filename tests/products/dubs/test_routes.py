"""Asking for dubs: which languages are taken, what is charged, what is shown, and what is refused."""

import httpx
import pytest

from cutroom.credits import ledger
from cutroom.engines.translation.port import Quality, Route
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.products.captions.service import AdvertisedTranslator, publish_routes
from cutroom.products.speech.service import publish_voices
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.products.conftest import Spoken
from tests.products.speech.conftest import FakeSpeaker

ENGINES = [AdvertisedTranslator("one", (Route("en", "pt", Quality.GOOD), Route("en", "de", Quality.GOOD)))]
FUNDS = 20_000


@pytest.fixture(autouse=True)
async def engines(runtime: Runtime, accounts: Accounts, spoken: Spoken) -> None:
    now = system_clock()
    await accounts.connection.execute("DELETE FROM translation_routes")
    await accounts.connection.execute("DELETE FROM service_voices")
    async with runtime.database.connection() as connection, connection.transaction():
        await publish_routes(connection, ENGINES, now=now)
        await publish_voices(connection, FakeSpeaker(), now=now)  # English and Portuguese
    await ledger.grant(accounts.connection, spoken.library_id, millicredits=FUNDS, reference="tests", now=now)


async def test_a_dub_is_a_job_with_a_price_and_asking_again_converges(api: httpx.AsyncClient, spoken: Spoken) -> None:
    answer = await api.post(f"/videos/{spoken.video_id}/dubs", json={"languages": ["pt-br"], "product": "premium"})
    assert answer.status_code == 202, answer.text
    told = answer.json()
    assert told["videoId"] == spoken.video_id
    assert told["balance"] == 16  # 4 a minute
    (job,) = told["jobs"]
    assert (job["id"], job["type"], job["language"], job["product"]) == (
        f"dub_{spoken.video_id}_pt-BR_premium",
        "dub",
        "pt-BR",
        "premium",
    )
    again = await api.post(f"/videos/{spoken.video_id}/dubs", json={"languages": ["pt-BR"], "product": "premium"})
    assert again.json() == told


async def test_a_dub_that_is_waited_for_shows_how_it_stands(api: httpx.AsyncClient, spoken: Spoken) -> None:
    await api.post(f"/videos/{spoken.video_id}/dubs", json={"languages": ["pt"]})
    (listed,) = (await api.get(f"/videos/{spoken.video_id}/dubs")).json()["dubs"]
    got = (await api.get(f"/videos/{spoken.video_id}/dubs/PT")).json()
    assert listed == {
        "id": got["dubbingRequestId"],
        "language": "pt",
        "product": "plus",
        "status": "queued",
        "completion": "pending",
        "jobId": f"dub_{spoken.video_id}_pt_plus",
    }
    assert (got["status"], got["dubbingStatus"], got["completionStatus"]) == ("processing", "queued", "pending")
    assert (got["audioUrl"], got["audioTrackId"], got["languageCode"]) == (None, None, "pt")


async def test_the_first_minute_can_be_heard_while_the_rest_is_made(
    api: httpx.AsyncClient, spoken: Spoken, accounts: Accounts
) -> None:
    await api.post(f"/videos/{spoken.video_id}/dubs", json={"languages": ["pt"]})
    now = system_clock()
    row = {
        "library_id": spoken.library_id,
        "video_id": spoken.video_id,
        "language": "pt",
        "product": "plus",
        "completion": "preview_ready",
        "segments": [{"start": 1.0, "end": 2.0, "speaker": "speaker_1", "text": "Bom dia.", "deleted": False}],
        "speakers": [{"id": "speaker_1", "label": "Speaker 1"}],
        "edits": {},
        "sync": {"lines": 1},
        "preview_path": "preview",
        "updated_at": now,
    }
    await insert(accounts.connection, "dubs", row)
    await accounts.connection.execute(
        "UPDATE jobs SET status = 'processing', stage = 'mixing' WHERE id = $1", f"dub_{spoken.video_id}_pt_plus"
    )
    got = (await api.get(f"/videos/{spoken.video_id}/dubs/pt")).json()
    assert (got["status"], got["dubbingStatus"], got["completionStatus"]) == ("processing", "mixing", "preview_ready")
    assert "preview" in got["audioUrl"]
    assert got["segments"][0]["text"] == "Bom dia."
    await accounts.connection.execute(
        """UPDATE jobs SET status = 'failed', error_code = 'INTERNAL', error_message = 'x', finished_at = now()
           WHERE id = $1""",
        f"dub_{spoken.video_id}_pt_plus",
    )
    failed = (await api.get(f"/videos/{spoken.video_id}/dubs/pt")).json()
    assert (failed["status"], failed["audioUrl"]) == ("failed", None)


@pytest.mark.parametrize(
    ("body", "path", "available"),
    [
        ({"languages": []}, "languages", None),
        ({"languages": ["pt", "pt"]}, "languages", None),
        ({"languages": ["pt"], "product": "ultra"}, "product", None),
        ({"languages": ["pt", "ja"]}, "languages.1", ["de", "pt"]),
        ({"languages": ["de"]}, "languages.0", ["en-US", "pt-BR"]),
    ],
    ids=["none", "twice", "product", "no translation", "no voice"],
)
async def test_what_cannot_be_dubbed_is_told_by_its_field(
    api: httpx.AsyncClient, spoken: Spoken, accounts: Accounts, body: dict[str, object], path: str, available: object
) -> None:
    answer = await api.post(f"/videos/{spoken.video_id}/dubs", json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "INVALID_ARGUMENT"), answer.text
    details = answer.json()["error"]["details"]
    assert (details["fields"][0]["path"], details.get("available")) == (path, available)
    assert await ledger.balance(accounts.connection, spoken.library_id) == FUNDS


async def test_what_is_not_there(api: httpx.AsyncClient, spoken: Spoken) -> None:
    assert (await api.get(f"/videos/{spoken.video_id}/dubs")).json() == {"dubs": []}
    for path in ("dubs/pt", "dubs/pt?product=premium", "dubs/x%00"):
        assert (await api.get(f"/videos/{spoken.video_id}/{path}")).status_code == 404
    assert (await api.get(f"/videos/{spoken.video_id}/dubs/pt?product=ultra")).status_code == 400
    optimized = {"languages": ["pt"], "sourceVoiceover": "optimized"}
    answer = await api.post(f"/videos/{spoken.video_id}/dubs", json=optimized)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "FAILED_PRECONDITION")


async def test_a_transcript_that_failed_is_no_ground_for_a_dub(api: httpx.AsyncClient, spoken: Spoken) -> None:
    await spoken.job(status="failed", error_code="INTERNAL", error_message="x")
    answer = await api.post(f"/videos/{spoken.video_id}/dubs", json={"languages": ["pt"]})
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "FAILED_PRECONDITION")
    assert answer.json()["error"]["details"] == {"jobId": f"transcript_{spoken.video_id}"}
