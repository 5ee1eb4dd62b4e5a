"""The speech API at its door: what is taken, shown and refused. Speaking itself has a test of its own."""

import asyncio
import json
from datetime import timedelta

import httpx
import pytest

from cutroom.accounts.plans import PlanName
from cutroom.credits import ledger
from cutroom.platform.clock import system_clock
from cutroom.products.speech import service, synthesis
from cutroom.products.speech.rules import reading_path, service_voice_id, voice_path
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from tests.products.speech.conftest import Shelf

WAVE = b"RIFF\x24\x00\x00\x00WAVE" + bytes(32)
pytestmark = pytest.mark.usefixtures("shelf")

ONE = service_voice_id("fake", "af_one")


async def stored(runtime: Runtime, path: str) -> bytes:
    return b"".join([chunk async for chunk in runtime.storage.read(path)])


async def test_a_clone_from_files_is_begun_and_consent_is_kept(
    api: httpx.AsyncClient, shelf: Shelf, runtime: Runtime, accounts: Accounts, person: Person
) -> None:
    answer = await api.post(
        "/voices/add",
        data={"name": " Ana ", "labels": json.dumps({"language": "pt"}), "remove_background_noise": "false"},
        files=[("files", ("upload", WAVE, "application/octet-stream")), ("files", ("b.wav", WAVE + b"1"))],
    )
    assert answer.status_code == 200, answer.text
    assert answer.json()["requires_verification"] is False
    voice_id = answer.json()["voice_id"]
    assert await stored(runtime, voice_path(shelf.library_id, voice_id, "sample-1")) == WAVE + b"1"
    row = await accounts.connection.fetchrow("SELECT * FROM voices WHERE id = $1", voice_id)
    assert row is not None
    assert (row["name"], row["labels"], row["remove_noise"], row["samples"]) == ("Ana", {"language": "pt"}, False, 2)
    consent = await accounts.connection.fetchrow("SELECT * FROM voice_consents WHERE voice_id = $1", voice_id)
    assert consent is not None
    assert (consent["user_id"], len(consent["samples_sha256"])) == (person.user_id, 2)
    got = await api.get(f"/voices/{voice_id}")
    assert (got.status_code, got.json()["status"], got.json()["error"]) == (200, "processing", None)
    assert (await api.get(f"/jobs/{row['job_id']}")).status_code == 404  # it is no job on the wire


async def test_labels_left_out_by_a_client_arrive_as_null(api: httpx.AsyncClient) -> None:
    answer = await api.post("/voices/add", data={"name": "Ana", "labels": "null"}, files={"files": WAVE})
    assert answer.status_code == 200, answer.text


async def test_a_clone_from_a_url_keeps_it_sealed(api: httpx.AsyncClient, accounts: Accounts) -> None:
    url = "https://media.example.com/secret-voice.wav"
    answer = await api.post("/voices/add", json={"name": "Ana", "sample_url": url, "labels": {"age": "young"}})
    assert answer.status_code == 200, answer.text
    row = await accounts.connection.fetchrow("SELECT * FROM voices WHERE id = $1", answer.json()["voice_id"])
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
async def test_what_is_wrong_with_a_clone_is_told_by_its_field(
    api: httpx.AsyncClient, body: dict[str, object], path: str
) -> None:
    answer = await api.post("/voices/add", json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "INVALID_ARGUMENT"), answer.text
    assert answer.json()["error"]["details"]["fields"][0]["path"] == path


async def test_a_form_that_is_none_an_empty_file_and_bad_labels_are_refused(api: httpx.AsyncClient) -> None:
    broken = await api.post(
        "/voices/add", content=b"no form", headers={"content-type": "multipart/form-data; boundary=x"}
    )
    without = await api.post("/voices/add", content=b"", headers={"content-type": "multipart/form-data"})
    empty = await api.post("/voices/add", data={"name": "Ana"}, files={"files": b""})
    labels = await api.post("/voices/add", data={"name": "Ana", "labels": "{"}, files={"files": WAVE})
    for answer in (broken, without, empty, labels):
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "INVALID_ARGUMENT"), answer.text


async def test_clones_are_listed_newest_first_and_deleted_ones_are_gone(api: httpx.AsyncClient, shelf: Shelf) -> None:
    failed, ready, waiting = await shelf.put("failed"), await shelf.put("ready"), await shelf.put("queued")
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


async def test_a_search_finds_clones_and_the_engines_voices_page_by_page(api: httpx.AsyncClient, shelf: Shelf) -> None:
    clone = await shelf.put("ready", name="Maria")
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


async def test_a_voice_of_the_engine_can_be_got_and_not_deleted(api: httpx.AsyncClient) -> None:
    got = (await api.get(f"/voices/{ONE}")).json()
    assert (got["category"], got["labels"]) == ("premade", {"language": "en-US", "gender": "female", "age": "young"})
    assert (await api.delete(f"/voices/{ONE}")).status_code == 404


async def test_the_model_tells_its_languages(api: httpx.AsyncClient) -> None:
    (model,) = (await api.get("/models")).json()
    assert (model["model_id"], model["can_do_text_to_speech"]) == ("cutroom_speech_v1", True)
    assert model["languages"] == [
        {"language_id": "en-US", "name": "English (US)"},
        {"language_id": "pt-BR", "name": "Portuguese (BR)"},
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
async def test_what_cannot_be_read_is_told_by_its_field(
    api: httpx.AsyncClient, shelf: Shelf, accounts: Accounts, body: dict[str, object], query: str, path: str
) -> None:
    answer = await api.post(f"/text-to-speech/{ONE}{query}", json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "INVALID_ARGUMENT"), answer.text
    assert answer.json()["error"]["details"]["fields"][0]["path"] == path
    assert await ledger.balance(accounts.connection, shelf.library_id) == 5_000


async def test_a_voice_that_is_not_there_or_not_ready_does_not_speak(api: httpx.AsyncClient, shelf: Shelf) -> None:
    for status in ("queued", "failed"):
        answer = await api.post(f"/text-to-speech/{await shelf.put(status)}", json={"text": "Hello"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "FAILED_PRECONDITION")
    assert (await api.post(f"/text-to-speech/{'a' * 20}", json={"text": "Hello"})).status_code == 404
    assert (await api.post("/text-to-speech/x%00y", json={"text": "Hello"})).status_code == 404


async def finish(runtime: Runtime, accounts: Accounts, library_id: str, sound: list[bytes]) -> str:
    """Do what a worker would: store the passages of the newest reading, and mark it ready."""
    asked = "SELECT id FROM syntheses WHERE library_id = $1 AND sizes = '{}'"
    async with asyncio.timeout(10):
        while (row := await accounts.connection.fetchrow(asked, library_id)) is None:
            await asyncio.sleep(0.02)
    async with runtime.database.transaction(library_id) as connection:
        for number, data in enumerate(sound):
            await runtime.storage.put(reading_path(library_id, row["id"], f"1/{number}"), data)
            await synthesis.record_passage(connection, library_id, row["id"], number=number, size_bytes=len(data))
    await accounts.connection.execute(
        "UPDATE jobs SET status = 'ready', finished_at = now() WHERE library_id = $1 AND id = $2",
        library_id,
        f"speech_{row['id']}",
    )
    return str(row["id"])


async def test_a_reading_is_waited_for_sent_whole_and_given_again_for_nothing(
    api: httpx.AsyncClient, shelf: Shelf, runtime: Runtime, accounts: Accounts
) -> None:
    asking = asyncio.create_task(api.post(f"/text-to-speech/{ONE}", json={"text": "Hello there."}))
    await finish(runtime, accounts, shelf.library_id, [b"\x01\x02" * 50])
    answer = await asking
    assert (answer.status_code, answer.headers["content-type"]) == (200, "audio/wav")
    assert answer.headers["content-length"] == str(44 + 100)
    assert answer.headers["x-request-id"]
    assert answer.content[:4] == b"RIFF"
    assert answer.content[44:] == b"\x01\x02" * 50
    assert await ledger.balance(accounts.connection, shelf.library_id) == 4_000
    again = await api.post(f"/text-to-speech/{ONE}", json={"text": "Hello there.", "model_id": "eleven_turbo_v2"})
    assert again.content == answer.content
    assert await ledger.balance(accounts.connection, shelf.library_id) == 4_000


async def test_a_reading_that_fails_is_an_error_like_any_other(
    api: httpx.AsyncClient, shelf: Shelf, accounts: Accounts
) -> None:
    asking = asyncio.create_task(api.post(f"/text-to-speech/{ONE}/stream", json={"text": "This one fails."}))
    for _ in range(200):
        done = await accounts.connection.execute(
            """UPDATE jobs SET status = 'failed', finished_at = now(),
                   error_code = 'INTERNAL', error_message = 'Broken.'
               WHERE library_id = $1 AND type = 'speech'""",
            shelf.library_id,
        )
        if done != "UPDATE 0":
            break
        await asyncio.sleep(0.02)
    answer = await asking
    assert (answer.status_code, answer.json()["error"]) == (
        500,
        {"code": "INTERNAL", "message": "Broken.", "details": {}},
    )
    assert answer.headers["ratelimit-limit"]


async def test_without_credits_nothing_is_read(api: httpx.AsyncClient, shelf: Shelf, accounts: Accounts) -> None:
    connection = accounts.connection
    await connection.execute("DELETE FROM service_voices WHERE id <> $1", ONE)
    spent = [asyncio.create_task(api.post(f"/text-to-speech/{ONE}", json={"text": f"Number {n}."})) for n in range(6)]
    while sum(task.done() for task in spent) < 1:
        await asyncio.sleep(0.02)
    refused = next(task for task in spent if task.done()).result()
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "INSUFFICIENT_CREDITS")
    for task in spent:
        task.cancel()
    assert await ledger.balance(connection, shelf.library_id) == 0


async def test_a_plan_without_speech_is_refused(api: httpx.AsyncClient, shelf: Shelf, accounts: Accounts) -> None:
    await accounts.connection.execute("UPDATE libraries SET plan = $2 WHERE id = $1", shelf.library_id, PlanName.FREE)
    for answer in (
        await api.get("/voices"),
        await api.post("/voices/add", json={"name": "Ana", "sample_url": "https://a.example.com/a"}),
        await api.post(f"/text-to-speech/{ONE}", json={"text": "Hello"}),
    ):
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "PERMISSION_DENIED")


async def test_voices_that_no_worker_told_of_for_a_day_are_gone(api: httpx.AsyncClient, accounts: Accounts) -> None:
    await accounts.connection.execute(
        "UPDATE service_voices SET seen_at = $1", system_clock() - service.VOICES_LAST - timedelta(minutes=1)
    )
    assert (await api.get(f"/voices/{ONE}")).status_code == 404
    assert (await api.get("/models")).json()[0]["languages"] == []
