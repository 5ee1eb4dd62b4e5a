"""Tests the library and video pages."""

import json
from datetime import datetime
from typing import Any

import pytest

from cutroom.accounts.principals import Role
from cutroom.credits import ledger
from cutroom.library.search import like_pattern
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from dev.scratch import Accounts, Person
from tests.console.conftest import Browser, SignIn

MARKUP = "<script>alert(1)</script>"
SHOWN = "&lt;script&gt;alert(1)&lt;/script&gt;"


async def put_video(
    accounts: Accounts,
    library_id: str,
    *,
    title: str,
    spoken: str | None = None,
    **row: Any,  # noqa: ANN401 (column values)
) -> str:
    video_id, now = new_id(), system_clock()
    here: dict[str, Any] = {"library_id": library_id, "created_at": now}
    states = {"status": "ready", "import_status": "ready", "transcript_status": "ready" if spoken else None}
    video = {**here, **states, "id": video_id, "title": title, "duration_seconds": 60.0, "media_type": "video"}
    await insert(accounts.connection, "videos", {**video, **row})
    for kind in ("import", "transcript"):
        await insert(accounts.connection, "jobs", job(here, f"{kind}_{video_id}", kind, video_id=video_id, now=now))
    if spoken:
        segment = {"start": 1.5, "end": 4.0, "speaker": "speaker_1", "text": spoken, "deleted": False, "words": 0}
        transcript = {
            **here,
            "video_id": video_id,
            "language": "en",
            "segments": [segment],
            "speakers": [{"id": "speaker_1", "label": MARKUP}],
            "alignment_path": "none",
            "engine": "none",
        }
        await insert(accounts.connection, "transcripts", transcript)
    return video_id


def job(here: dict[str, Any], job_id: str, kind: str, *, video_id: str, now: datetime) -> dict[str, Any]:
    done = {"attempt": 1, "plan": {}, "depends_on": [], "progress": 0, "updated_at": now, "finished_at": now}
    return {**here, **done, "id": job_id, "type": kind, "status": "ready", "video_id": video_id}


async def test_titles_transcripts_and_folder_names_are_escaped(
    browser: Browser, accounts: Accounts, person: Person
) -> None:
    video_id = await put_video(accounts, person.library_id, title=MARKUP, spoken=MARKUP)
    await browser.post("/library/folders", {"name": MARKUP})
    for path in ("/library", "/library?q=script", f"/videos/{video_id}", f"/videos/{video_id}?tab=transcript"):
        page = (await browser.get(path)).text
        assert MARKUP not in page, path
        assert SHOWN in page, path


@pytest.mark.parametrize(
    ("text", "found"),
    [("harbor", {"a"}), ("LIGHTHOUSE", {"b"}), ("100%", {"b"}), ("100_", set()), ("nowhere", set())],
)
async def test_search_matches_titles_and_transcripts(
    browser: Browser, accounts: Accounts, person: Person, text: str, found: set[str]
) -> None:
    ids = {
        "a": await put_video(accounts, person.library_id, title="The harbor"),
        "b": await put_video(accounts, person.library_id, title="Walk", spoken="It is 100% a lighthouse."),
    }
    page = (await browser.get("/library", params={"q": text})).text
    assert {name for name, video_id in ids.items() if f"/videos/{video_id}" in page} == found


async def test_search_does_not_cross_libraries(browser: Browser, accounts: Accounts) -> None:
    outsider = await accounts.person()
    video_id = await put_video(accounts, outsider.library_id, title="Secret harbor", spoken="harbor")
    assert video_id not in (await browser.get("/library?q=harbor")).text
    assert (await browser.get(f"/videos/{video_id}")).status_code == 404
    assert (await browser.get(f"/videos/{video_id}/subtitles/en.vtt")).status_code == 404
    asked = {"kind": "captions", "captions": "de"}
    assert (await browser.post(f"/videos/{video_id}/make", asked)).status_code == 404


async def test_folder_shows_its_own_videos_only(browser: Browser, accounts: Accounts, person: Person) -> None:
    made = await browser.post("/library/folders", {"name": "Interviews"})
    folder_id = made.headers["location"].partition("folder=")[2]
    inside = await put_video(accounts, person.library_id, title="In", folder_ids=[folder_id])
    outside = await put_video(accounts, person.library_id, title="Out")
    page = (await browser.get(f"/library?folder={folder_id}")).text
    assert inside in page
    assert outside not in page


async def test_upload_creates_the_recipe_jobs_and_a_session(
    browser: Browser, accounts: Accounts, person: Person
) -> None:
    await ledger.grant(
        accounts.connection, person.library_id, millicredits=1_000_000, reference="a", now=system_clock()
    )
    fields: dict[str, str | list[str]] = {
        "name": "video.mp4",
        "type": "video/mp4",
        "dub": ["es", "fr"],
        "shorts": "promo",
    }
    made = await browser.post("/library/uploads", fields)
    assert made.status_code == 200
    video_id = made.json()["videoId"]
    types = await accounts.connection.fetch("SELECT type FROM jobs WHERE video_id = $1 ORDER BY type", video_id)
    assert [row["type"] for row in types] == ["dub", "dub", "import", "shorts", "transcript"]
    started = await browser.client.post(made.json()["url"], headers={"x-goog-resumable": "start"})
    assert started.status_code == 201


async def test_price_of_recipes_is_shown_before_the_import(browser: Browser) -> None:
    free = (await browser.get("/library/price")).text
    assert "Import and transcript are free" in free
    exact = (await browser.get("/library/price", params={"dub": "es", "seconds": "192.4"})).text
    assert "6.6 credits" in exact  # 3.3 minutes, at 2 credits a minute
    assert "missing" in exact
    by_minute = (await browser.get("/library/price", params={"dub": "es"})).text
    assert "2 credits per minute" in by_minute
    assert (await browser.get("/library/price", params={"dub": MARKUP})).status_code == 400


async def test_unsupported_url_shows_an_error_page(browser: Browser) -> None:
    response = await browser.post("/library/imports", {"url": "ftp://example.com/video.mp4"})
    assert response.status_code == 400
    assert "INVALID_ARGUMENT" in response.text


async def test_viewer_can_look_but_not_create(sign_in: SignIn, accounts: Accounts, person: Person) -> None:
    workspace_id, viewer = await accounts.workspace(person), await accounts.person()
    await accounts.member(workspace_id, viewer, role=Role.VIEWER)
    video_id = await put_video(accounts, workspace_id, title="Ours", spoken="words")
    browser = await sign_in(viewer)
    await browser.post("/switch", {"library": workspace_id})
    page = (await browser.get("/library")).text
    assert "Ours" in page
    assert 'id="drop"' not in page
    assert "make-dub" not in (await browser.get(f"/videos/{video_id}?tab=dubs")).text
    assert 'class="offer"' not in (await browser.get(f"/videos/{video_id}")).text
    for path, fields in {
        "/library/uploads": {"name": "video.mp4"},
        "/library/imports": {"url": "https://example.com/video.mp4"},
        "/library/folders": {"name": "Mine"},
        f"/videos/{video_id}/make": {"kind": "captions", "captions": "de"},
    }.items():
        assert (await browser.post(path, fields)).status_code == 403, path


async def test_button_shows_the_price_that_is_held(browser: Browser, accounts: Accounts, person: Person) -> None:
    video_id = await put_video(accounts, person.library_id, title="Walk", spoken="words")
    await ledger.grant(accounts.connection, person.library_id, millicredits=10_000, reference="a", now=system_clock())
    await accounts.connection.execute(
        """INSERT INTO translation_routes (engine, source, target, quality, via, seen_at)
           VALUES ('proof', 'en', 'pt', 'publishable', '{}', now()) ON CONFLICT DO NOTHING"""
    )
    asked = {"kind": "captions", "captions": "pt"}
    button = (await browser.get(f"/videos/{video_id}/price", params=asked)).text
    assert "Create captions in Portuguese · 0.5 credits" in button
    assert "9.5 credits left" in button
    assert (await browser.post(f"/videos/{video_id}/make", asked)).status_code == 303
    held = await accounts.connection.fetchval(
        "SELECT escrow FROM ledger_balances WHERE library_id = $1", person.library_id
    )
    assert held == 500
    page = (await browser.get(f"/videos/{video_id}")).text
    assert "Captions</strong> Portuguese" in page
    assert f'data-live="video:{video_id}"' in page  # the page follows what is under way


async def test_suspended_library_is_closed_except_for_the_account(
    browser: Browser, accounts: Accounts, person: Person
) -> None:
    video_id = await put_video(accounts, person.library_id, title="Walk")
    assert '<video id="player"' in (await browser.get(f"/videos/{video_id}")).text
    await accounts.connection.execute("UPDATE libraries SET suspended_at = now() WHERE id = $1", person.library_id)
    for path in (f"/videos/{video_id}", "/library", "/keys"):
        page = await browser.get(path)
        assert (page.status_code, "This library is suspended." in page.text) == (403, True), path
    assert (await browser.post("/keys", {"name": "New"})).status_code == 403
    workspace_id = await accounts.workspace(person)
    assert (await browser.get("/account")).status_code == 200
    assert (await browser.post("/switch", {"library": workspace_id})).status_code == 303
    assert (await browser.get("/library")).status_code == 200


def test_search_text_is_escaped_for_like() -> None:
    assert like_pattern("  50%  a_b\\ ") == "%50\\% a\\_b\\\\%"
    assert len(like_pattern("x" * 500)) == 202


async def test_errors_are_json_for_scripts(browser: Browser) -> None:
    token = await browser.token()
    headers = {"accept": "application/json", "x-csrf-token": token}
    response = await browser.client.post("/library/uploads", data={"name": "a/b"}, headers=headers)
    assert response.status_code == 400
    assert json.loads(response.text)["code"] == "INVALID_ARGUMENT"
