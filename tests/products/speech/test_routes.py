"""Speech API routes, with the worker simulated."""

import asyncio
import json
from datetime import timedelta

import httpx
import pytest

from cutroom.accounts.plans import PlanName
from cutroom.capabilities.rules import stock_voice_id
from cutroom.capabilities.service import VOICE_TTL
from cutroom.credits import ledger
from cutroom.platform.clock import system_clock
from cutroom.products.speech import synthesis
from cutroom.products.speech.rules import synthesis_path, voice_path
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from tests.products.speech.conftest import VoiceFactory

WAVE = b"RIFF\x24\x00\x00\x00WAVE" + bytes(32)
pytestmark = pytest.mark.usefixtures("voices")

ONE = stock_voice_id("fake", "af_one")


async def stored(runtime: Runtime, path: str) -> bytes:
    return b"".join([chunk async for chunk in runtime.storage.read(path)])


async def test_clone_from_files_is_created_with_consent(
    api: httpx.AsyncClient, voices: VoiceFactory, runtime: Runtime, accounts: Accounts, person: Person
) -> None:
    response = await api.post(
        "/voices/add",
        data={"name": " Ana ", "labels": json.dumps({"language": "pt"}), "remove_background_noise": "false"},
        files=[("files", ("upload", WAVE, "application/octet-stream")), ("files", ("b.wav", WAVE + b"1"))],
    )
    assert response.status_code == 200, response.text
    assert response.json()["requires_verification"] is False
    voice_id = response.json()["voice_id"]
    assert await stored(runtime, voice_path(voices.library_id, voice_id, "sample-1")) == WAVE + b"1"
    row = await accounts.connection.fetchrow("SELECT * FROM voices WHERE id = $1", voice_id)
    assert row is not None
    assert (row["name"], row["labels"], row["remove_noise"], row["sample_count"]) == (
        "Ana",
        {"language": "pt"},
        False,
        2,
    )
    consent = await accounts.connection.fetchrow("SELECT * FROM voice_consents WHERE voice_id = $1", voice_id)
    assert consent is not None
    assert (consent["user_id"], len(consent["samples_sha256"])) == (person.user_id, 2)
    got = await api.get(f"/voices/{voice_id}")
    assert (got.status_code, got.json()["status"], got.json()["error"]) == (200, "processing", None)
    assert (await api.get(f"/jobs/{row['job_id']}")).status_code == 404  # internal jobs are not exposed


async def test_null_labels_are_accepted(api: httpx.AsyncClient) -> None:
    response = await api.post("/voices/add", data={"name": "Ana", "labels": "null"}, files={"files": WAVE})
    assert response.status_code == 200, response.text


async def test_sample_url_is_encrypted(api: httpx.AsyncClient, accounts: Accounts) -> None:
    url = "https://media.example.com/secret-voice.wav"
    response = await api.post("/voices/add", json={"name": "Ana", "sample_url": url, "labels": {"age": "young"}})
    assert response.status_code == 200, response.text
    row = await accounts.connection.fetchrow("SELECT * FROM voices WHERE id = $1", response.json()["voice_id"])
    assert row is not None
    assert b"secret-voice" not in row["sealed_url"]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"sample_url": "https://a.example.com/a"}, "name"),
        ({"name": " "}, "name"),
        ({"name": "x" * 101, "sample_url": "https://a.example.com/a"}, "name"),
        ({"name": "Ana"}, "files"),
        ({"name": "Ana", "sample_url": "http://a.example.com/a"}, "sample_url"),
        ({"name": "Ana", "sample_url": "ftp://a.example.com/a"}, "sample_url"),
        ({"name": "Ana", "sample_url": "https://a.example.com/a", "labels": {"a": 1}}, "labels.a"),
        ({"name": "Ana", "sample_url": "https://a.example.com/a", "labels": "x"}, "labels"),
    ],
)
async def test_invalid_clone_requests_name_the_field(
    api: httpx.AsyncClient, body: dict[str, object], path: str
) -> None:
    response = await api.post("/voices/add", json=body)
    assert (response.status_code, response.json()["error"]["code"]) == (400, "INVALID_ARGUMENT"), response.text
    assert response.json()["error"]["details"]["fields"][0]["path"] == path


async def test_malformed_forms_empty_files_and_bad_labels_are_rejected(api: httpx.AsyncClient) -> None:
    broken = await api.post(
        "/voices/add", content=b"no form", headers={"content-type": "multipart/form-data; boundary=x"}
    )
    without = await api.post("/voices/add", content=b"", headers={"content-type": "multipart/form-data"})
    empty = await api.post("/voices/add", data={"name": "Ana"}, files={"files": b""})
    labels = await api.post("/voices/add", data={"name": "Ana", "labels": "{"}, files={"files": WAVE})
    for response in (broken, without, empty, labels):
        assert (response.status_code, response.json()["error"]["code"]) == (400, "INVALID_ARGUMENT"), response.text


async def test_clones_are_listed_newest_first_without_deleted_ones(
    api: httpx.AsyncClient, voices: VoiceFactory
) -> None:
    failed, ready, waiting = await voices.create("failed"), await voices.create("ready"), await voices.create("queued")
    listed = (await api.get("/voices")).json()["voices"]
    assert [(each["voice_id"], each["status"]) for each in listed] == [
        (waiting, "processing"),
        (ready, "ready"),
        (failed, "failed"),
    ]
    assert listed[2]["error"] == "No speech was found."
    assert "approximate" in listed[1]["description"]
    assert listed[1]["preview_url"].startswith("http")
    assert listed[1]["settings"]["speed"] == 1
    assert listed[1]["available_for_tiers"] == ["creator", "pro", "business"]
    assert [each["voice_id"] for each in (await api.get("/voices?status=ready")).json()["voices"]] == [ready]
    assert (await api.get("/voices?status=lost")).status_code == 400

    assert (await api.delete(f"/voices/{failed}")).status_code == 204
    assert (await api.delete(f"/voices/{failed}")).status_code == 404
    assert (await api.get(f"/voices/{failed}")).status_code == 404
    gone = await api.delete(f"/voices/{ready}", headers={"X-Fern-SDK-Name": "elevenlabs"})
    assert (gone.status_code, gone.json()) == (200, {"status": "ok"})
    assert [each["voice_id"] for each in (await api.get("/voices")).json()["voices"]] == [waiting]


async def test_search_pages_through_clones_and_stock_voices(api: httpx.AsyncClient, voices: VoiceFactory) -> None:
    clone = await voices.create("ready", name="Maria")
    root = str(api.base_url).removesuffix("/v1/")
    found = (await api.get(f"{root}/v2/voices", params={"page_size": 2})).json()
    assert (found["total_count"], found["has_more"], found["voices"][0]["voice_id"]) == (3, True, clone)
    rest = (await api.get(f"{root}/v2/voices", params={"next_page_token": found["next_page_token"]})).json()
    assert [each["name"] for each in rest["voices"]] == ["Two"]
    assert (rest["has_more"], rest["next_page_token"]) == (False, None)
    named = (await api.get(f"{root}/v2/voices", params={"search": "pt-br MALE"})).json()
    assert [each["name"] for each in named["voices"]] == ["Two"]
    kept = (await api.get(f"{root}/v2/voices", params={"category": "generated"})).json()
    assert [each["voice_id"] for each in kept["voices"]] == [clone]
    assert (await api.get(f"{root}/v2/voices", params={"next_page_token": "x"})).status_code == 400


async def test_stock_voice_can_be_read_but_not_deleted(api: httpx.AsyncClient) -> None:
    got = (await api.get(f"/voices/{ONE}")).json()
    assert (got["category"], got["labels"]) == ("premade", {"language": "en-US", "gender": "female", "age": "young"})
    assert (await api.delete(f"/voices/{ONE}")).status_code == 404


async def test_model_lists_languages(api: httpx.AsyncClient) -> None:
    (model,) = (await api.get("/models")).json()
    assert (model["model_id"], model["can_do_text_to_speech"]) == ("cutroom_speech_v1", True)
    assert model["languages"] == [
        {"language_id": "en-US", "name": "English (United States)"},
        {"language_id": "pt-BR", "name": "Portuguese (Brazil)"},
    ]


@pytest.mark.parametrize(
    ("body", "query", "path"),
    [
        ({}, "", "text"),
        ({"text": ""}, "", "text"),
        ({"text": " ... "}, "", "text"),
        ({"text": "a" * 10_001}, "", "text"),
        ({"text": "Hello", "model_id": "tts-1"}, "", "model_id"),
        ({"text": "Hello", "voice_settings": {"speed": 9}}, "", "voice_settings.speed"),
        ({"text": "Hello", "language_code": "??"}, "", "language_code"),
        ({"text": "Hello", "language_code": "ja"}, "", "language_code"),
        ({"text": "Hello"}, "?output_format=flac", "output_format"),
    ],
)
async def test_invalid_synthesis_requests_name_the_field(
    api: httpx.AsyncClient, voices: VoiceFactory, accounts: Accounts, body: dict[str, object], query: str, path: str
) -> None:
    response = await api.post(f"/text-to-speech/{ONE}{query}", json=body)
    assert (response.status_code, response.json()["error"]["code"]) == (400, "INVALID_ARGUMENT"), response.text
    assert response.json()["error"]["details"]["fields"][0]["path"] == path
    assert await ledger.wallet_balance(accounts.connection, voices.library_id) == 5_000


async def test_synthesis_requires_an_existing_ready_voice(api: httpx.AsyncClient, voices: VoiceFactory) -> None:
    for status in ("queued", "failed"):
        response = await api.post(f"/text-to-speech/{await voices.create(status)}", json={"text": "Hello"})
        assert (response.status_code, response.json()["error"]["code"]) == (409, "FAILED_PRECONDITION")
    assert (await api.post(f"/text-to-speech/{'a' * 20}", json={"text": "Hello"})).status_code == 404
    assert (await api.post("/text-to-speech/x%00y", json={"text": "Hello"})).status_code == 404


async def finish(runtime: Runtime, accounts: Accounts, library_id: str, passages: list[bytes]) -> str:
    """Simulate the worker: store the passages of the newest synthesis and mark its job ready."""
    query = "SELECT id FROM syntheses WHERE library_id = $1 AND passage_sizes = '{}'"
    async with asyncio.timeout(10):
        while (row := await accounts.connection.fetchrow(query, library_id)) is None:
            await asyncio.sleep(0.02)
    async with runtime.database.transaction(library_id) as connection:
        for number, data in enumerate(passages):
            await runtime.storage.put(synthesis_path(library_id, row["id"], f"1/{number}"), data)
            await synthesis.record_passage(connection, library_id, row["id"], number=number, size_bytes=len(data))
    await accounts.connection.execute(
        "UPDATE jobs SET status = 'ready', finished_at = now() WHERE library_id = $1 AND id = $2",
        library_id,
        f"speech_{row['id']}",
    )
    return str(row["id"])


async def test_synthesis_is_returned_whole_and_repeated_without_charge(
    api: httpx.AsyncClient, voices: VoiceFactory, runtime: Runtime, accounts: Accounts
) -> None:
    request = asyncio.create_task(api.post(f"/text-to-speech/{ONE}", json={"text": "Hello there."}))
    await finish(runtime, accounts, voices.library_id, [b"\x01\x02" * 50])
    response = await request
    assert (response.status_code, response.headers["content-type"]) == (200, "audio/wav")
    assert response.headers["content-length"] == str(44 + 100)
    assert response.headers["x-request-id"]
    assert response.content[:4] == b"RIFF"
    assert response.content[44:] == b"\x01\x02" * 50
    assert await ledger.wallet_balance(accounts.connection, voices.library_id) == 4_000
    again = await api.post(f"/text-to-speech/{ONE}", json={"text": "Hello there.", "model_id": "eleven_turbo_v2"})
    assert again.content == response.content
    assert await ledger.wallet_balance(accounts.connection, voices.library_id) == 4_000


async def test_failed_synthesis_returns_an_error_response(
    api: httpx.AsyncClient, voices: VoiceFactory, accounts: Accounts
) -> None:
    request = asyncio.create_task(api.post(f"/text-to-speech/{ONE}/stream", json={"text": "This one fails."}))
    for _ in range(200):
        done = await accounts.connection.execute(
            """UPDATE jobs SET status = 'failed', finished_at = now(),
                   error_code = 'INTERNAL', error_message = 'Broken.'
               WHERE library_id = $1 AND type = 'speech'""",
            voices.library_id,
        )
        if done != "UPDATE 0":
            break
        await asyncio.sleep(0.02)
    response = await request
    assert (response.status_code, response.json()["error"]) == (
        500,
        {"code": "INTERNAL", "message": "Broken.", "details": {}},
    )
    assert response.headers["ratelimit-limit"]


async def test_synthesis_without_credits_is_rejected(
    api: httpx.AsyncClient, voices: VoiceFactory, accounts: Accounts
) -> None:
    connection = accounts.connection
    await connection.execute("DELETE FROM stock_voices WHERE id <> $1", ONE)
    spent = [asyncio.create_task(api.post(f"/text-to-speech/{ONE}", json={"text": f"Number {n}."})) for n in range(6)]
    while sum(task.done() for task in spent) < 1:
        await asyncio.sleep(0.02)
    refused = next(task for task in spent if task.done()).result()
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "INSUFFICIENT_CREDITS")
    for task in spent:
        task.cancel()
    assert await ledger.wallet_balance(connection, voices.library_id) == 0


async def test_plan_without_speech_is_rejected(
    api: httpx.AsyncClient, voices: VoiceFactory, accounts: Accounts
) -> None:
    await accounts.connection.execute("UPDATE libraries SET plan = $2 WHERE id = $1", voices.library_id, PlanName.FREE)
    for response in (
        await api.get("/voices"),
        await api.post("/voices/add", json={"name": "Ana", "sample_url": "https://a.example.com/a"}),
        await api.post(f"/text-to-speech/{ONE}", json={"text": "Hello"}),
    ):
        assert (response.status_code, response.json()["error"]["code"]) == (403, "PERMISSION_DENIED")


async def test_stale_stock_voices_are_not_available(api: httpx.AsyncClient, accounts: Accounts) -> None:
    await accounts.connection.execute(
        "UPDATE stock_voices SET seen_at = $1", system_clock() - VOICE_TTL - timedelta(minutes=1)
    )
    assert (await api.get(f"/voices/{ONE}")).status_code == 404
    assert (await api.get("/models")).json()[0]["languages"] == []


async def test_synthesis_above_the_spending_limit_is_rejected(
    api: httpx.AsyncClient, voices: VoiceFactory, accounts: Accounts
) -> None:
    connection = accounts.connection
    await connection.execute("DELETE FROM stock_voices WHERE id <> $1", ONE)
    path, body = f"/text-to-speech/{ONE}", {"text": "Limited."}
    refused = await api.post(path, json=body, headers={"Cutroom-Max-Credits": "0.999"})
    assert (refused.status_code, refused.json()["error"]["details"]) == (
        409,
        {"reason": "over_limit", "price": 1.0, "limit": 0.999},
    )
    assert not await connection.fetchval("SELECT count(*) FROM escrow_lines WHERE library_id = $1", voices.library_id)
    malformed = await api.post(path, json=body, headers={"Cutroom-Max-Credits": "one"})
    assert (malformed.status_code, malformed.json()["error"]["code"]) == (400, "INVALID_ARGUMENT")
