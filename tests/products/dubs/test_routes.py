"""Dub routes: validation, charging, status and errors."""

import httpx
import pytest

from cutroom.capabilities.rules import AdvertisedTranslator
from cutroom.capabilities.service import publish_routes, publish_voices
from cutroom.credits import ledger
from cutroom.engines.translation.port import Quality, Route
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.products.dubs import service
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.products.conftest import TranscribedVideo
from tests.products.speech.conftest import FakeSynthesizer

ENGINES = [
    AdvertisedTranslator("one", (Route("en", "pt", Quality.PUBLISHABLE), Route("en", "de", Quality.PUBLISHABLE)))
]
FUNDS = 20_000


@pytest.fixture(autouse=True)
async def engines(runtime: Runtime, accounts: Accounts, transcribed: TranscribedVideo) -> None:
    now = system_clock()
    await accounts.connection.execute("DELETE FROM translation_routes")
    await accounts.connection.execute("DELETE FROM stock_voices")
    async with runtime.database.connection() as connection, connection.transaction():
        await publish_routes(connection, ENGINES, now=now)
        await publish_voices(connection, FakeSynthesizer(), now=now)  # English and Portuguese
    await ledger.grant(accounts.connection, transcribed.library_id, millicredits=FUNDS, reference="tests", now=now)


async def test_dub_request_creates_a_charged_job_and_is_idempotent(
    api: httpx.AsyncClient, transcribed: TranscribedVideo
) -> None:
    response = await api.post(
        f"/videos/{transcribed.video_id}/dubs", json={"languages": ["pt-br"], "product": "premium"}
    )
    assert response.status_code == 202, response.text
    first = response.json()
    assert first["videoId"] == transcribed.video_id
    assert first["balance"] == 16  # 4 a minute
    (job,) = first["jobs"]
    assert (job["id"], job["type"], job["language"], job["product"]) == (
        f"dub_{transcribed.video_id}_pt-BR_premium",
        "dub",
        "pt-BR",
        "premium",
    )
    again = await api.post(f"/videos/{transcribed.video_id}/dubs", json={"languages": ["pt-BR"], "product": "premium"})
    assert again.json() == first


async def test_queued_dub_shows_its_status(api: httpx.AsyncClient, transcribed: TranscribedVideo) -> None:
    await api.post(f"/videos/{transcribed.video_id}/dubs", json={"languages": ["pt"]})
    (listed,) = (await api.get(f"/videos/{transcribed.video_id}/dubs")).json()["dubs"]
    got = (await api.get(f"/videos/{transcribed.video_id}/dubs/PT")).json()
    assert listed == {
        "id": got["dubbingRequestId"],
        "language": "pt",
        "product": "plus",
        "status": "queued",
        "completion": "pending",
        "jobId": f"dub_{transcribed.video_id}_pt_plus",
    }
    assert (got["status"], got["dubbingStatus"], got["completionStatus"]) == ("processing", "queued", "pending")
    assert (got["audioUrl"], got["audioTrackId"], got["languageCode"]) == (None, None, "pt")


async def test_preview_is_available_while_processing(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, accounts: Accounts
) -> None:
    await api.post(f"/videos/{transcribed.video_id}/dubs", json={"languages": ["pt"]})
    now = system_clock()
    row = {
        "library_id": transcribed.library_id,
        "video_id": transcribed.video_id,
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
        "UPDATE jobs SET status = 'processing', stage = 'mixing' WHERE id = $1", f"dub_{transcribed.video_id}_pt_plus"
    )
    got = (await api.get(f"/videos/{transcribed.video_id}/dubs/pt")).json()
    assert (got["status"], got["dubbingStatus"], got["completionStatus"]) == ("processing", "mixing", "preview_ready")
    assert "preview" in got["audioUrl"]
    assert got["segments"][0]["text"] == "Bom dia."
    await accounts.connection.execute(
        """UPDATE jobs SET status = 'failed', error_code = 'INTERNAL', error_message = 'x', finished_at = now()
           WHERE id = $1""",
        f"dub_{transcribed.video_id}_pt_plus",
    )
    failed = (await api.get(f"/videos/{transcribed.video_id}/dubs/pt")).json()
    assert (failed["status"], failed["audioUrl"]) == ("failed", None)


@pytest.mark.parametrize(
    ("body", "path", "available"),
    [
        ({"languages": []}, "languages", None),
        ({"languages": ["pt", "pt"]}, "languages", None),
        ({"languages": ["pt"], "product": "ultra"}, "product", None),
        ({"languages": ["pt", "ja"]}, "languages.1", ["pt"]),
        ({"languages": ["de"]}, "languages.0", ["pt"]),
    ],
    ids=["none", "twice", "product", "no translation", "no voice"],
)
async def test_invalid_requests_name_the_field(
    api: httpx.AsyncClient,
    transcribed: TranscribedVideo,
    accounts: Accounts,
    body: dict[str, object],
    path: str,
    available: object,
) -> None:
    response = await api.post(f"/videos/{transcribed.video_id}/dubs", json=body)
    assert (response.status_code, response.json()["error"]["code"]) == (400, "INVALID_ARGUMENT"), response.text
    details = response.json()["error"]["details"]
    assert (details["fields"][0]["path"], details.get("available")) == (path, available)
    assert await ledger.wallet_balance(accounts.connection, transcribed.library_id) == FUNDS


async def test_each_language_gets_its_own_verdict(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, accounts: Accounts
) -> None:
    body = {"languages": ["JA", "pt", "de", "EN", "en-GB"]}
    response = await api.post(f"/videos/{transcribed.video_id}/dubs", json=body)
    assert response.status_code == 400
    assert response.json()["error"]["details"] == {
        "fields": [
            {"path": "languages.0", "message": "There is no translation into this language."},
            {"path": "languages.2", "message": "No voice speaks this language."},
            {"path": "languages.3", "message": "This is the language of the video."},
            {"path": "languages.4", "message": "This is the language of the video."},
        ],
        "available": ["pt"],
    }
    assert await ledger.wallet_balance(accounts.connection, transcribed.library_id) == FUNDS


async def test_language_tags_of_line_items_and_job_ids_compare_without_case(
    api: httpx.AsyncClient, transcribed: TranscribedVideo
) -> None:
    video_id = transcribed.video_id
    bundle = {"dubs": [{"languages": ["PT-br"]}]}
    line = (await api.post(f"/videos/{video_id}/reservations", json=bundle)).json()["lineItems"][0]
    assert line["targetLanguageCode"] == "pt-BR"
    body = {"languages": ["pt-br"], "reservationLineItemIdByLanguage": {"PT-BR": line["lineItemId"]}}
    response = await api.post(f"/videos/{video_id}/dubs", json=body)
    assert response.status_code == 202, response.text
    (job,) = response.json()["jobs"]
    assert (await api.get(f"/jobs/dub_{video_id}_PT-br_plus")).json() == job
    assert (
        (await api.get(f"/videos/{video_id}/dubs/PT-br")).json()["jobId"] == job["id"] == f"dub_{video_id}_pt-BR_plus"
    )
    twice = {**body, "reservationLineItemIdByLanguage": {"pt-BR": line["lineItemId"], "PT-br": line["lineItemId"]}}
    refused = await api.post(f"/videos/{video_id}/dubs", json=twice)
    assert refused.json()["error"]["details"]["fields"][0]["path"] == "reservationLineItemIdByLanguage"


async def test_video_without_speech_is_refused(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, accounts: Accounts
) -> None:
    await accounts.connection.execute("UPDATE transcripts SET language = 'und', segments = '[]'")
    for path in ("dubs", "captions"):
        response = await api.post(f"/videos/{transcribed.video_id}/{path}", json={"languages": ["pt"]})
        error = response.json()["error"]
        assert (response.status_code, error["code"], error["details"]) == (
            409,
            "FAILED_PRECONDITION",
            {"reason": "no_speech"},
        )
        assert error["message"] == "No speech was recognized in this video."
    assert await ledger.wallet_balance(accounts.connection, transcribed.library_id) == FUNDS


async def test_missing_dubs_are_not_found(api: httpx.AsyncClient, transcribed: TranscribedVideo) -> None:
    assert (await api.get(f"/videos/{transcribed.video_id}/dubs")).json() == {"dubs": []}
    for path in ("dubs/pt", "dubs/pt?product=premium", "dubs/x%00"):
        assert (await api.get(f"/videos/{transcribed.video_id}/{path}")).status_code == 404
    assert (await api.get(f"/videos/{transcribed.video_id}/dubs/pt?product=ultra")).status_code == 400
    optimized = {"languages": ["pt"], "sourceVoiceover": "optimized"}
    response = await api.post(f"/videos/{transcribed.video_id}/dubs", json=optimized)
    assert (response.status_code, response.json()["error"]["code"]) == (409, "FAILED_PRECONDITION")


async def test_captions_to_dub_from_have_to_be_finished(api: httpx.AsyncClient, transcribed: TranscribedVideo) -> None:
    body = {"languages": ["pt"], "translationSource": "captions"}
    refused = await api.post(f"/videos/{transcribed.video_id}/dubs", json=body)
    assert refused.status_code == 409
    assert refused.json()["error"]["details"] == {"reason": "no_captions", "languages": ["pt"]}


async def test_dub_of_a_failed_transcript_is_rejected(api: httpx.AsyncClient, transcribed: TranscribedVideo) -> None:
    await transcribed.job(status="failed", error_code="INTERNAL", error_message="x")
    response = await api.post(f"/videos/{transcribed.video_id}/dubs", json={"languages": ["pt"]})
    assert (response.status_code, response.json()["error"]["code"]) == (409, "FAILED_PRECONDITION")
    assert response.json()["error"]["details"] == {"jobId": f"transcript_{transcribed.video_id}"}


async def test_dub_that_retention_has_deleted_is_not_found_and_can_be_made_again(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, accounts: Accounts
) -> None:
    url = f"/videos/{transcribed.video_id}/dubs"
    first = (await api.post(url, json={"languages": ["pt"]})).json()
    job_id = first["jobs"][0]["id"]
    where = {"library_id": transcribed.library_id, "video_id": transcribed.video_id, "language": "pt"}
    row = {**where, "product": "plus", "completion": "complete", "segments": [], "speakers": [], "edits": {}}
    await insert(accounts.connection, "dubs", {**row, "sync": {}, "audio_path": "track", "updated_at": system_clock()})
    await accounts.connection.execute(
        "UPDATE jobs SET status = 'ready', progress = 100, finished_at = now(), result = $2 WHERE id = $1",
        job_id,
        {"quality": "draft"},
    )
    again = await api.post(url, json={"languages": ["pt"]})
    assert again.json() == {
        **first,
        "jobs": [{**first["jobs"][0], "status": "ready", "result": {"quality": "draft"}}],
    }
    async with accounts.connection.transaction():
        await service.delete_outputs(accounts.connection, transcribed.library_id, transcribed.video_id, system_clock())
    assert (await api.get(f"{url}/pt")).status_code == 404
    job = (await api.get(f"/jobs/{job_id}")).json()
    assert job["status"] == "ready"
    assert "outputDeletedAt" in job
    assert "result" not in job
    assert (await api.get(url)).json() == {"dubs": []}
    rerun = (await api.post(url, json={"languages": ["pt"]})).json()
    assert [(each["id"], each["status"]) for each in rerun["jobs"]] == [(job_id, "queued")]
    assert rerun["balance"] < first["balance"]
