"""Tests the page of the optimized script: made, edited beside the transcript, and used for a dub."""

import pytest

from dev.scratch import Accounts, Person
from tests.console.conftest import Browser
from tests.support.transcribed_videos import insert_video

SEGMENTS = [
    {"start": 0.0, "end": 9.0, "speaker": "speaker_1", "text": "Um, good evening.", "deleted": False, "words": 3},
    {"start": 9.0, "end": 18.0, "speaker": "speaker_1", "text": "Welcome <b>back</b>.", "deleted": False, "words": 2},
]


@pytest.fixture
async def video_id(accounts: Accounts, person: Person) -> str:
    found = await insert_video(accounts.connection, person.library_id, duration_seconds=18.0)
    await accounts.connection.execute("UPDATE transcripts SET segments = $2 WHERE video_id = $1", found, SEGMENTS)
    return found


async def test_a_script_is_requested(browser: Browser, accounts: Accounts, video_id: str) -> None:
    page = (await browser.get(f"/videos/{video_id}/script")).text
    assert "Not made yet" in page
    assert "Make script · Free" in page
    assert (await browser.post(f"/videos/{video_id}/script/make")).status_code == 303
    assert "Queued" in (await browser.get(f"/videos/{video_id}/script")).text
    assert await accounts.connection.fetchval("SELECT count(*) FROM jobs WHERE type = 'optimize'")


async def test_texts_are_edited_beside_the_transcript(browser: Browser, accounts: Accounts, video_id: str) -> None:
    await browser.post(f"/videos/{video_id}/script/make")
    fields = {"revision": "0", "was-s1": "", "text-s1": "Good\r\nevening <i>all</i>.", "was-s2": "", "text-s2": ""}
    assert (await browser.post(f"/videos/{video_id}/script", fields)).status_code == 303
    page = (await browser.get(f"/videos/{video_id}/script")).text
    assert "Good evening &lt;i&gt;all&lt;/i&gt;." in page
    assert "Welcome &lt;b&gt;back&lt;/b&gt;." in page
    assert "Edited" in page
    assert f"/videos/{video_id}?tab=dubs&amp;voiceover=optimized" in page
    script = await accounts.connection.fetchval("SELECT optimized FROM transcripts WHERE video_id = $1", video_id)
    assert script["revision"] == 1


async def test_an_edit_of_an_older_script_keeps_what_was_typed(browser: Browser, video_id: str) -> None:
    path = f"/videos/{video_id}/script"
    await browser.post(path, {"revision": "0", "was-s1": "", "text-s1": "First."})
    rejected = await browser.post(path, {"revision": "0", "was-s1": "", "text-s1": "Second."})
    assert rejected.status_code == 409
    assert "changed in the meantime" in rejected.text
    assert "Second." in rejected.text
    assert 'name="revision" value="1"' in rejected.text


async def test_a_video_without_transcript_has_no_script(browser: Browser, accounts: Accounts, person: Person) -> None:
    video_id = await insert_video(accounts.connection, person.library_id, duration_seconds=9.0, transcript=None)
    assert "No transcript yet" in (await browser.get(f"/videos/{video_id}/script")).text
    assert (await browser.get(f"/videos/{video_id}/script?from=x")).status_code == 400


@pytest.mark.parametrize("revision", ["", "x", "-1", "\u0661", "9" * 12])
async def test_an_edit_needs_a_revision(browser: Browser, video_id: str, revision: str) -> None:
    fields = {"revision": revision, "was-s1": "", "text-s1": "First."}
    assert (await browser.post(f"/videos/{video_id}/script", fields)).status_code == 400
