"""Tests the pages of the cast: members, voices, appearances, recognition, and the speakers of a video."""

from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from dev.scratch import Accounts, Person
from tests.console.conftest import Browser, SignIn
from tests.support.transcribed_videos import advertise_languages, insert_video

MARKUP = "Ana & Duarte"
SEGMENTS = [
    {"start": 0.0, "end": 9.0, "speaker": "speaker_1", "text": "Good evening.", "deleted": False, "words": 2},
    {"start": 9.0, "end": 18.0, "speaker": "speaker_2", "text": "Welcome back.", "deleted": False, "words": 2},
]
SPEAKERS = [{"id": "speaker_1", "label": "Speaker 1"}, {"id": "speaker_2", "label": "Speaker 2"}]


async def create(browser: Browser, name: str = MARKUP) -> str:
    """A member; the id."""
    response = await browser.post("/cast", {"name": name})
    assert response.status_code == 303, response.text
    return response.headers["location"].removeprefix("/cast/").partition("?")[0]


async def insert_speakers(accounts: Accounts, person: Person) -> str:
    video_id = await insert_video(accounts.connection, person.library_id, duration_seconds=18.0)
    await accounts.connection.execute(
        "UPDATE transcripts SET segments = $2, speakers = $3 WHERE video_id = $1", video_id, SEGMENTS, SPEAKERS
    )
    return video_id


async def test_a_member_is_added_renamed_and_deleted(browser: Browser) -> None:
    assert "No members yet" in (await browser.get("/cast")).text
    member_id = await create(browser)
    page = (await browser.get("/cast")).text
    assert "Ana &amp; Duarte" in page
    assert "Not recognized yet" in page
    assert (await browser.post(f"/cast/{member_id}/name", {"name": "Anabela"})).status_code == 303
    assert "Anabela" in (await browser.get(f"/cast/{member_id}")).text
    assert (await browser.post(f"/cast/{member_id}/delete")).status_code == 303
    assert (await browser.get(f"/cast/{member_id}")).status_code == 404


async def test_an_invalid_name_is_explained(browser: Browser) -> None:
    response = await browser.post("/cast", {"name": "<b>"})
    assert response.status_code == 400
    assert "are not allowed" in response.text


async def test_voices_are_set_by_language(browser: Browser, accounts: Accounts) -> None:
    await advertise_languages(accounts.connection, ["pt"])
    voice = await accounts.connection.fetchval(
        "SELECT id FROM stock_voices WHERE language = 'pt' AND engine = 'advertised'"
    )
    member_id = await create(browser)
    assert f'value="pt:{voice}"' in (await browser.get(f"/cast/{member_id}")).text
    assert (await browser.post(f"/cast/{member_id}/voices", {"voice": f"pt:{voice}"})).status_code == 303
    stored = "SELECT voices FROM cast_members WHERE id = $1"
    assert await accounts.connection.fetchval(stored, member_id) == {"pt": voice}
    refused = await browser.post(f"/cast/{member_id}/voices", {"voice": f"es:{voice}"})
    assert (refused.status_code, "no such voice of this language" in refused.text) == (400, True)
    assert (await browser.post(f"/cast/{member_id}/voices", {"voice": f":{voice}"})).status_code == 400
    assert (await browser.post(f"/cast/{member_id}/voices", {"language": "pt"})).status_code == 303
    assert await accounts.connection.fetchval(stored, member_id) == {}


async def test_speakers_of_a_video_are_set_and_removed(browser: Browser, accounts: Accounts, person: Person) -> None:
    member_id, video_id = await create(browser), await insert_speakers(accounts, person)
    path = f"/videos/{video_id}/speakers"
    assert (await browser.post(path, {"speaker": "speaker_2", "member": member_id})).status_code == 303
    assert f'<a href="/cast/{member_id}">Ana &amp; Duarte</a>' in (await browser.get(path)).text
    page = (await browser.get(f"/cast/{member_id}")).text
    assert "Speaker 2" in page
    assert "Confirmed" in page
    cleared = {"speaker": "speaker_2", "member": "", "current": member_id}
    assert (await browser.post(path, cleared)).status_code == 303
    assert "None yet" in (await browser.get(f"/cast/{member_id}")).text


async def test_a_recognized_speaker_is_confirmed_or_removed(
    browser: Browser, accounts: Accounts, person: Person
) -> None:
    member_id, video_id = await create(browser), await insert_speakers(accounts, person)
    row = {
        "library_id": person.library_id,
        "id": new_id(),
        "member_id": member_id,
        "video_id": video_id,
        "speaker": "speaker_1",
        "source": "recognized",
        "similarity": 0.87,
        "embedding_status": "none",
        "created_at": system_clock(),
    }
    await insert(accounts.connection, "cast_appearances", row)
    assert "Recognized, 0.87 similar" in (await browser.get(f"/cast/{member_id}")).text
    fields = {"video": video_id, "speaker": "speaker_1"}
    assert (await browser.post(f"/cast/{member_id}/confirm", fields)).status_code == 303
    source = "SELECT source FROM cast_appearances WHERE member_id = $1"
    assert await accounts.connection.fetchval(source, member_id) == "confirmed"
    assert (await browser.post(f"/cast/{member_id}/remove", fields)).status_code == 303
    assert await accounts.connection.fetchval(source, member_id) is None


async def test_recognition_takes_a_confirmation(browser: Browser, accounts: Accounts, person: Person) -> None:
    refused = await browser.post("/cast/recognition", {"place": "library"})
    assert (refused.status_code, "Confirm that the people have agreed." in refused.text) == (400, True)
    scopes = "SELECT count(*) FROM cast_scopes WHERE library_id = $1"
    assert await accounts.connection.fetchval(scopes, person.library_id) == 0
    assert (await browser.post("/cast/recognition", {"place": "library", "consent": "on"})).status_code == 303
    assert "recognized by their voices in all videos" in (await browser.get("/cast")).text
    empty = await browser.post("/cast/run")
    assert (empty.status_code, "There is no voice print yet." in empty.text) == (409, True)
    assert (await browser.post("/cast/recognition", {"place": ""})).status_code == 303
    assert await accounts.connection.fetchval(scopes, person.library_id) == 0


async def test_members_belong_to_their_library(browser: Browser, sign_in: SignIn, accounts: Accounts) -> None:
    member_id = await create(browser)
    outsider = await sign_in(await accounts.person())
    assert (await outsider.get(f"/cast/{member_id}")).status_code == 404
    assert (await outsider.post(f"/cast/{member_id}/delete")).status_code == 404
