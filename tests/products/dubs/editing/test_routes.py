"""Lines of a dub through HTTP: staleness, edits, conflicts, prices, charges and hostile input."""

import asyncio
from typing import Any

import httpx
import pytest

from cutroom.capabilities.rules import stock_voice_id
from cutroom.capabilities.service import publish_voices
from cutroom.credits import ledger
from cutroom.jobs import lifecycle
from cutroom.jobs.lifecycle import Failure, JobRef
from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.products.transcripts.document import DocumentSegment
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.products.conftest import TranscribedVideo
from tests.products.dubs.editing.published import DubbedVideo
from tests.products.speech.conftest import FakeSynthesizer

FUNDS = 20_000
TEXTS = ["Good morning.", "The train leaves at 10:30 from platform 4."]
PORTUGUESE, ENGLISH = stock_voice_id("fake", "pm_two"), stock_voice_id("fake", "af_one")


@pytest.fixture
async def dubbed(
    api: httpx.AsyncClient, runtime: Runtime, accounts: Accounts, transcribed: TranscribedVideo
) -> DubbedVideo:
    now = system_clock()
    await accounts.connection.execute("DELETE FROM stock_voices")
    async with runtime.database.connection() as connection, connection.transaction():
        await publish_voices(connection, FakeSynthesizer(), now=now)
    await ledger.grant(accounts.connection, transcribed.library_id, millicredits=FUNDS, reference="tests", now=now)
    rows = (await api.get(f"/videos/{transcribed.video_id}/transcript/revisions/1")).json()["segments"]
    dub = DubbedVideo(transcribed, api)
    await dub.publish([DocumentSegment.from_row(each) for each in rows])
    return dub


async def test_a_finished_dub_is_current(dubbed: DubbedVideo) -> None:
    read = await dubbed.read()
    first, second = read["segments"]
    assert (read["revision"], read["transcriptRevision"], read["publishedTranscriptRevision"]) == (1, 1, 1)
    assert first == {
        "id": first["id"],
        "segmentIds": ["s1"],
        "start": 1.0,
        "end": 1.633,
        "speaker": "speaker_1",
        "source": TEXTS[0],
        "text": TEXTS[0].upper(),
        "voice": stock_voice_id("kokoro", "pf_dora"),
        "edits": {},
        "published": {"text": TEXTS[0].upper(), "start": 1.0, "duration": 0.633, "tempo": 1.0},
        "fit": {"availableSeconds": 0.607, "secondsPerCharacter": 0.0594},
        "stale": [],
        "review": False,
    }
    assert second["segmentIds"] == ["s2"]
    assert read["regeneration"] == {
        "revision": 1,
        "transcriptRevision": 1,
        "segmentIds": [],
        "seconds": 0.0,
        "credits": 0.0,
        "estimatedSeconds": 0.0,
    }
    assert "job" not in read


async def test_an_edit_is_free_and_null_returns_to_the_automatic_value(dubbed: DubbedVideo, accounts: Accounts) -> None:
    line = (await dubbed.read())["segments"][1]["id"]
    change = {
        "id": line,
        "text": "  O trem\n parte às 10:30. ",
        "voice": PORTUGUESE,
        "speed": 1.1,
        "startOffset": 0.2,
        "gainDb": -3,
        "pronunciation": {"trem": "trẽi"},
    }
    response = await dubbed.patch(1, change)
    assert response.status_code == 200, response.text
    edited = response.json()
    (segment,) = edited["segments"]
    values = {name: value for name, value in change.items() if name != "id"}
    assert segment["edits"] == {**values, "text": "O trem parte às 10:30."}
    assert (segment["text"], segment["voice"], segment["stale"]) == ("O trem parte às 10:30.", PORTUGUESE, ["edited"])
    assert (edited["revision"], edited["regeneration"]["segmentIds"]) == (2, [line])
    assert await dubbed.stale() == {line: ["edited"]}
    reverted = await dubbed.patch(2, {"id": line, **dict.fromkeys(values)})
    assert reverted.json()["segments"][0]["edits"] == {}
    assert await dubbed.stale() == {}
    assert await ledger.wallet_balance(accounts.connection, dubbed.video.library_id) == FUNDS


async def test_words_can_be_spelled_as_phonemes_for_a_voice_that_reads_them(dubbed: DubbedVideo) -> None:
    line = (await dubbed.read())["segments"][0]["id"]
    response = await dubbed.patch(1, {"id": line, "pronunciation": {"Good": "/bom/"}})
    assert response.json()["segments"][0]["edits"] == {"pronunciation": {"Good": "/bom/"}}


async def test_wordings_are_shorter_and_fit(dubbed: DubbedVideo) -> None:
    line = (await dubbed.read())["segments"][1]["id"]
    text = "Na verdade, nós vamos em seguida."
    response = await dubbed.api.post(f"{dubbed.path}/segments/{line}/wordings", json={"text": text})
    found = response.json()
    assert (response.status_code, found["text"]) == (200, text)
    assert [each["text"] for each in found["wordings"]][-1] == "Na verdade, vamos depois."
    assert all(each["seconds"] <= found["fit"]["availableSeconds"] for each in found["wordings"])
    unknown = await dubbed.api.post(f"{dubbed.path}/segments/unknown/wordings", json={})
    assert unknown.status_code == 404


async def test_exactly_the_lines_of_edited_segments_are_stale(dubbed: DubbedVideo) -> None:
    first, second = (each["id"] for each in (await dubbed.read())["segments"])
    await dubbed.edit_transcript(1, {"op": "replaceText", "id": "s1", "text": "Good evening."})
    read = await dubbed.read()
    assert [each["stale"] for each in read["segments"]] == [["sourceChanged"], []]
    assert "text" not in read["segments"][0]  # not translated yet
    assert read["transcriptRevision"] == 2
    await dubbed.edit_transcript(2, {"op": "delete", "ids": ["s1"]})
    assert await dubbed.stale() == {first: ["removed"]}
    await dubbed.edit_transcript(3, {"op": "split", "id": "s2", "at": 10, "seconds": 2.5})
    stale = await dubbed.stale()
    assert (stale.pop(first), stale.pop(second), list(stale.values())) == (["removed"], ["sourceChanged"], [["added"]])
    for revision in (4, 5, 6):
        body = {"revision": revision}
        reverted = await dubbed.api.post(f"/videos/{dubbed.video.video_id}/transcript/undo", json=body)
        assert reverted.status_code == 200
    assert await dubbed.stale() == {}


async def test_a_written_line_whose_source_changes_is_kept_and_marked_for_review(dubbed: DubbedVideo) -> None:
    line = (await dubbed.read())["segments"][0]["id"]
    await dubbed.patch(1, {"id": line, "text": "Bom dia!"})
    await dubbed.edit_transcript(1, {"op": "replaceText", "id": "s1", "text": "Good evening."})
    segment = (await dubbed.read())["segments"][0]
    assert (segment["text"], segment["review"], segment["stale"]) == ("Bom dia!", True, ["edited"])
    confirmed = await dubbed.patch(2, {"id": line, "text": "Boa noite!"})
    assert confirmed.json()["segments"][0]["review"] is False


async def test_a_stale_revision_is_a_conflict(dubbed: DubbedVideo) -> None:
    line = (await dubbed.read())["segments"][0]["id"]
    assert (await dubbed.patch(1, {"id": line, "mute": True})).status_code == 200
    for path, body in (
        ("segments", {"revision": 1, "changes": [{"id": line, "mute": None}]}),
        ("regenerate", {"revision": 1}),
        ("regenerate/quote", {"revision": 3}),
        ("regenerate/quote", {"revision": 2, "transcriptRevision": 9}),
    ):
        method = "PATCH" if path == "segments" else "POST"
        response = await dubbed.api.request(method, f"{dubbed.path}/{path}", json=body)
        error = response.json()["error"]
        assert (response.status_code, error["code"]) == (409, "CONFLICT"), path
        assert error["details"] == {"revision": 2, "transcriptRevision": 1}


async def test_concurrent_editors_lose_no_edit(dubbed: DubbedVideo) -> None:
    first, second = (each["id"] for each in (await dubbed.read())["segments"])

    async def edit(number: int) -> None:
        revision = 1
        while True:
            response = await dubbed.patch(revision, {"id": (first, second)[number % 2], "gainDb": -1 - number})
            if response.status_code == 200:
                return
            assert response.status_code == 409, response.text
            revision = response.json()["error"]["details"]["revision"]

    await asyncio.gather(*(edit(number) for number in range(8)))
    read = await dubbed.read()
    assert read["revision"] == 9
    assert all("gainDb" in each["edits"] for each in read["segments"])


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"id": "unknown", "mute": True}, "changes.0.id"),
        ({"text": "   "}, "changes.0.text"),
        ({"text": "a\u0007b"}, "changes.0.text"),
        ({"text": "x" * 1001}, "changes.0.text"),
        ({"voice": ENGLISH}, "changes.0.voice"),
        ({"voice": "nope"}, "changes.0.voice"),
        ({"speed": 3}, "changes.0.speed"),
        ({"gainDb": 40}, "changes.0.gainDb"),
        ({"startOffset": 9}, "changes.0.startOffset"),
        ({"startOffset": 1.5}, "changes.0.startOffset"),  # into the next line
        ({"startOffset": -1.5}, "changes.0.startOffset"),  # before the beginning
        ({"mute": "yes"}, "changes.0.mute"),
        ({"pronunciation": {"": "a"}}, "changes.0.pronunciation"),
        ({"pronunciation": {"Good": "/\u01c3/"}}, "changes.0.pronunciation"),  # no voice has clicks
        ({"pronunciation": {"Good": "/bom/"}, "voice": PORTUGUESE}, "changes.0.pronunciation"),  # reads no phonemes
        ({"take": "0123"}, "changes.0.take"),
        ({"sped": 1}, "changes.0.sped"),
        ({}, "changes.0"),
    ],
)
async def test_changes_that_cannot_be_made_change_nothing(
    dubbed: DubbedVideo, change: dict[str, Any], path: str
) -> None:
    line = (await dubbed.read())["segments"][0]["id"]
    response = await dubbed.patch(1, {"id": line, **change})
    assert response.status_code == 400, response.text
    assert response.json()["error"]["details"]["fields"][0]["path"].startswith(path)
    assert (await dubbed.read())["revision"] == 1


async def test_quote_and_charge_are_equal_and_only_of_the_changed_seconds(
    dubbed: DubbedVideo, accounts: Accounts
) -> None:
    first, second = (each["id"] for each in (await dubbed.read())["segments"])
    await dubbed.patch(1, {"id": first, "text": "Bom dia!"}, {"id": second, "text": "O trem parte."})
    body = {"revision": 2, "segmentIds": [second]}
    quote = (await dubbed.api.post(f"{dubbed.path}/regenerate/quote", json=body)).json()
    assert (quote["segmentIds"], quote["seconds"], quote["credits"]) == ([second], 2.633, 0.1)
    assert quote["estimatedSeconds"] > 0
    response = await dubbed.api.post(f"{dubbed.path}/regenerate", json=body)
    assert response.status_code == 202, response.text
    started = response.json()
    assert started["quote"] == quote
    assert started["balance"] == (FUNDS - 100) / 1000
    assert started["job"] == {"id": started["job"]["id"], "status": "queued", "progress": 0}
    again = await dubbed.api.post(f"{dubbed.path}/regenerate", json=body)
    assert (again.status_code, again.json()) == (202, started)  # the same job, charged once
    other = await dubbed.api.post(f"{dubbed.path}/regenerate", json={"revision": 2})
    error = other.json()["error"]
    assert (error["code"], error["details"]) == (
        "FAILED_PRECONDITION",
        {"reason": "regenerating", "jobId": started["job"]["id"]},
    )
    assert (await dubbed.read())["job"]["status"] == "queued"
    plan = await accounts.connection.fetchval("SELECT plan FROM jobs WHERE id = $1", started["job"]["id"])
    assert plan == {
        "dubbed_video_id": dubbed.video.video_id,
        "language": "pt",
        "product": "plus",
        "revision": 2,
        "transcript_revision": 1,
        "lines": [second],
        "estimated_seconds": quote["estimatedSeconds"],
    }


async def test_estimates_follow_the_time_that_regenerations_took(dubbed: DubbedVideo, accounts: Accounts) -> None:
    line = (await dubbed.read())["segments"][0]["id"]
    await dubbed.patch(1, {"id": line, "text": "Bom dia!"})
    before = (await dubbed.read())["regeneration"]["estimatedSeconds"]
    for seconds in (10, 30, 500):
        await accounts.connection.execute(
            """INSERT INTO jobs (library_id, id, type, status, attempt, plan, depends_on, progress, created_at,
                   updated_at, started_at, finished_at)
               VALUES ($1, $2, 'redub', 'ready', 1, '{"estimated_seconds": 10.0}', '{}', 100, now(), now(),
                   now() - make_interval(secs => $3), now())""",
            dubbed.video.library_id,
            f"redub_{new_id()}",
            seconds,
        )
    assert (await dubbed.read())["regeneration"]["estimatedSeconds"] == round(before * 3, 1)


async def test_a_failed_regeneration_is_published_without_texts(
    dubbed: DubbedVideo, runtime: Runtime, accounts: Accounts
) -> None:
    line = (await dubbed.read())["segments"][0]["id"]
    await dubbed.patch(1, {"id": line, "text": "Segredo."})
    job = (await dubbed.api.post(f"{dubbed.path}/regenerate", json={"revision": 2})).json()["job"]
    ref = JobRef(dubbed.video.library_id, job["id"], 1)
    async with runtime.database.transaction(dubbed.video.library_id) as connection:
        await lifecycle.fail(connection, ref, failure=Failure("INTERNAL", "It failed."), now=system_clock())
    (event,) = await accounts.connection.fetch(
        "SELECT type, payload FROM events WHERE library_id = $1 AND type LIKE 'dub.%'", dubbed.video.library_id
    )
    assert event["type"] == "dub.regeneration_failed"
    assert event["payload"] == {
        "videoId": dubbed.video.video_id,
        "language": "pt",
        "product": "plus",
        "jobId": job["id"],
        "segmentIds": [line],
        "error": {"code": "INTERNAL", "message": "It failed."},
    }


async def test_a_failed_regeneration_is_refunded_and_can_be_repeated(
    dubbed: DubbedVideo, runtime: Runtime, accounts: Accounts
) -> None:
    line = (await dubbed.read())["segments"][0]["id"]
    await dubbed.patch(1, {"id": line, "text": "Bom dia!"})
    first = (await dubbed.api.post(f"{dubbed.path}/regenerate", json={"revision": 2})).json()
    ref = JobRef(dubbed.video.library_id, first["job"]["id"], 1)
    async with runtime.database.transaction(dubbed.video.library_id) as connection:
        await lifecycle.fail(connection, ref, failure=Failure("INTERNAL", "It failed."), now=system_clock())
    read = await dubbed.read()
    assert (read["job"]["status"], read["job"]["error"]["message"]) == ("failed", "It failed.")
    assert await ledger.wallet_balance(accounts.connection, dubbed.video.library_id) == FUNDS
    assert await dubbed.stale() == {line: ["edited"]}
    again = (await dubbed.api.post(f"{dubbed.path}/regenerate", json={"revision": 2})).json()
    assert (again["job"]["id"], again["job"]["status"]) == (first["job"]["id"], "queued")
    assert await ledger.wallet_balance(accounts.connection, dubbed.video.library_id) == FUNDS - 100


async def test_what_is_up_to_date_is_not_made_again(dubbed: DubbedVideo) -> None:
    first, second = (each["id"] for each in (await dubbed.read())["segments"])
    await dubbed.patch(1, {"id": first, "gainDb": 3})
    for body, details in (
        ({"revision": 2, "segmentIds": [second]}, {"reason": "up_to_date"}),
        ({"revision": 2, "segmentIds": ["unknown"]}, None),
    ):
        response = await dubbed.api.post(f"{dubbed.path}/regenerate", json=body)
        assert response.status_code == (409 if details else 400)
        if details:
            assert response.json()["error"]["details"] == details
    quote = (await dubbed.read())["regeneration"]
    assert (quote["seconds"], quote["credits"]) == (0.0, 0.1)  # mixed again, for the least price


async def test_a_refused_charge_starts_nothing(dubbed: DubbedVideo, accounts: Accounts) -> None:
    line = (await dubbed.read())["segments"][0]["id"]
    await dubbed.patch(1, {"id": line, "text": "Bom dia!"})
    await accounts.connection.execute(
        "UPDATE ledger_balances SET frozen_at = now() WHERE library_id = $1", dubbed.video.library_id
    )
    refused = await dubbed.api.post(f"{dubbed.path}/regenerate", json={"revision": 2})
    assert refused.status_code != 202
    assert await ledger.wallet_balance(accounts.connection, dubbed.video.library_id) == FUNDS
    assert "job" not in await dubbed.read()


async def test_a_dub_that_is_missing_or_unfinished_has_no_lines(dubbed: DubbedVideo, accounts: Accounts) -> None:
    base = f"/videos/{dubbed.video.video_id}/dubs"
    for path in (f"{base}/de/segments", f"{base}/pt/segments?product=premium", f"{base}/x%00/segments"):
        assert (await dubbed.api.get(path)).status_code == 404
    await accounts.connection.execute(
        "UPDATE jobs SET status = 'processing', finished_at = NULL WHERE id = $1", dubbed.job_id
    )
    response = await dubbed.api.get(f"{dubbed.path}/segments")
    assert response.json()["error"]["details"] == {"reason": "dub", "jobId": dubbed.job_id}


async def test_edits_are_in_the_audit_log_without_texts(dubbed: DubbedVideo, accounts: Accounts) -> None:
    line = (await dubbed.read())["segments"][0]["id"]
    await dubbed.patch(1, {"id": line, "text": "Segredo."})
    rows = await accounts.connection.fetch(
        "SELECT entry::text AS entry FROM audit_entries AS entry WHERE library_id = $1", dubbed.video.library_id
    )
    assert any("editSegments" in row["entry"] for row in rows)
    assert not any("Segredo" in row["entry"] for row in rows)
