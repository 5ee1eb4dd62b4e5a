"""Tests deleting videos in the web app, the trash, and who may do what with it."""

import re
from datetime import timedelta
from typing import Any

import pytest

from cutroom.accounts.principals import Role
from cutroom.console.pages import trash as trash_pages
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from cutroom.products.ingest.rules import SourceType, source_fingerprint
from dev.scratch import Accounts, Person
from tests.console.conftest import Browser, SignIn
from tests.console.pages.test_library import MARKUP, SHOWN, put_video
from tests.console.pages.test_video import put_job, text_of

FRAGMENT = {"HX-Request": "true"}
SOURCE = "https://example.com/talk.mp4"


@pytest.fixture
async def video_id(accounts: Accounts, person: Person) -> str:
    return await put_video(accounts, person.library_id, title=f"Walk {MARKUP}", spoken="We walk.")


@pytest.fixture
async def trashed_id(browser: Browser, video_id: str) -> str:
    assert (await browser.post(f"/videos/{video_id}/delete")).status_code == 303
    return video_id


async def is_in_trash(accounts: Accounts, video_id: str) -> bool:
    sql = "SELECT deleted_at IS NOT NULL AND purged_at IS NULL FROM videos WHERE id = $1"
    return bool(await accounts.connection.fetchval(sql, video_id))


async def is_being_removed(accounts: Accounts, video_id: str) -> bool:
    found = await accounts.connection.fetchval("SELECT purged_at IS NOT NULL FROM videos WHERE id = $1", video_id)
    return bool(found)


async def logged(accounts: Accounts, video_id: str) -> list[dict[str, Any]]:
    """The log entries of deletions of a video, oldest first."""
    sql = """SELECT details -> 'after' AS after FROM audit_entries
             WHERE action = 'deleteVideo' AND targets ->> 'videoId' = $1 ORDER BY sequence"""
    return [row["after"] for row in await accounts.connection.fetch(sql, video_id)]


def revision_in(page: str) -> str:
    found = re.search(r'name="revision" value="([^"]*)"', page)
    assert found is not None
    return found[1].replace("&#34;", '"')


async def test_confirmation_names_what_goes(
    browser: Browser, accounts: Accounts, person: Person, video_id: str
) -> None:
    page = (await browser.get(f"/videos/{video_id}")).text
    assert f'href="/videos/{video_id}/delete" hx-get="/videos/{video_id}/delete" hx-target="#confirm-deletion"' in page
    whole = (await browser.get(f"/videos/{video_id}/delete")).text
    assert MARKUP not in whole
    assert f"Delete “Walk {SHOWN}”?" in whole
    for words in ("transcript, captions, dubs", "Unfinished jobs are canceled and refunded", "trash for 30 days"):
        assert words in text_of(whole)
    await put_job(accounts, person, video_id, id=f"shorts_{new_id()}", type="shorts", status="queued")
    fragment = (await browser.get(f"/videos/{video_id}/delete", headers=FRAGMENT)).text
    assert "<html" not in fragment
    assert "1 unfinished job is canceled and refunded" in text_of(fragment)


async def test_video_is_deleted_and_restored_by_undo(
    browser: Browser, accounts: Accounts, person: Person, video_id: str
) -> None:
    job_id = f"shorts_{new_id()}"
    await put_job(accounts, person, video_id, id=job_id, type="shorts", status="processing")
    revision = revision_in((await browser.get(f"/videos/{video_id}/delete")).text)
    deleted = await browser.post(f"/videos/{video_id}/delete", {"revision": revision})
    assert deleted.headers["location"] == f"/library?notice=trashed&video={video_id}"
    assert await is_in_trash(accounts, video_id)
    status = await accounts.connection.fetchval("SELECT error_code FROM jobs WHERE id = $1", job_id)
    assert status == "CANCELLED"
    library = (await browser.get(deleted.headers["location"])).text
    assert f"Moved to the trash: “Walk {SHOWN}”" in library
    assert f'action="/trash/{video_id}/restore"' in library
    assert f'href="/videos/{video_id}' not in library
    restored = await browser.post(f"/trash/{video_id}/restore")
    assert restored.headers["location"] == f"/videos/{video_id}?notice=restored"
    assert "Video restored." in (await browser.get(restored.headers["location"])).text
    assert not await is_in_trash(accounts, video_id)
    assert "Moved to the trash" not in (await browser.get(deleted.headers["location"])).text  # nothing to undo
    assert await logged(accounts, video_id) == [{"permanently": False}]


async def test_video_that_was_changed_is_confirmed_again(browser: Browser, accounts: Accounts, video_id: str) -> None:
    revision = revision_in((await browser.get(f"/videos/{video_id}/delete")).text)
    await browser.post(f"/videos/{video_id}/title", {"title": "Newer"})
    asked = await browser.post(f"/videos/{video_id}/delete", {"revision": revision})
    assert asked.status_code == 409
    assert "Someone else changed this video" in asked.text
    assert "Delete “Newer”?" in asked.text
    assert not await is_in_trash(accounts, video_id)
    again = await browser.post(f"/videos/{video_id}/delete", {"revision": revision_in(asked.text)})
    assert again.status_code == 303
    assert await is_in_trash(accounts, video_id)


async def test_video_deleted_in_another_tab_stays_in_the_trash(
    browser: Browser, accounts: Accounts, trashed_id: str
) -> None:
    again = await browser.post(f"/videos/{trashed_id}/delete")
    assert again.headers["location"] == f"/library?notice=trashed&video={trashed_id}"
    assert await logged(accounts, trashed_id) == [{"permanently": False}]


async def test_trash_lists_videos_with_their_times(browser: Browser, accounts: Accounts, trashed_id: str) -> None:
    page = (await browser.get("/trash")).text
    assert "The trash is empty" not in page
    assert MARKUP not in page
    assert page.count(SHOWN) == 3  # the title, and the names of two buttons
    assert "29 days left" in page
    deleted, purged = re.findall(r'<time datetime="([^"]+)"', page)
    sql = "SELECT $1::text::timestamptz - date_trunc('second', deleted_at) FROM videos WHERE id = $2"
    assert await accounts.connection.fetchval(sql, deleted, trashed_id) == timedelta(0)
    assert await accounts.connection.fetchval(sql, purged, trashed_id) == timedelta(days=30)
    ended = system_clock() - timedelta(days=31)  # the purge has not run yet
    await accounts.connection.execute("UPDATE videos SET deleted_at = $2 WHERE id = $1", trashed_id, ended)
    assert "less than a day left" in (await browser.get("/trash")).text
    assert 'aria-current="page">Trash</a>' in page


async def test_empty_trash_says_what_it_is_for(browser: Browser) -> None:
    page = text_of((await browser.get("/trash")).text)
    assert "The trash is empty" in page
    assert "stay here for 30 days" in page


async def test_trash_is_paginated(
    browser: Browser, accounts: Accounts, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trash_pages, "PAGE_SIZE", 2)
    at = system_clock()
    videos = [await put_video(accounts, person.library_id, title=f"No. {n}", deleted_at=at) for n in range(3)]
    first = (await browser.get("/trash")).text
    link = re.search(r'href="(/trash\?page=[^"]+)"', first)
    assert link is not None
    second = (await browser.get(link[1])).text
    shown = [re.findall(r'id="trashed-(\w+)"', page) for page in (first, second)]
    assert shown == [[videos[2], videos[1]], [videos[0]]]
    assert ">Older<" not in second
    assert (await browser.get("/trash?page=x")).status_code == 400


async def test_video_is_restored_from_the_trash(browser: Browser, accounts: Accounts, trashed_id: str) -> None:
    for _ in range(2):  # the second time, it was restored in another tab
        restored = await browser.post(f"/trash/{trashed_id}/restore", {"stay": "1"})
        assert restored.headers["location"] == f"/trash?notice=restored&video={trashed_id}"
        assert f'<a href="/videos/{trashed_id}">Open it</a>' in (await browser.get(restored.headers["location"])).text
    assert not await is_in_trash(accounts, trashed_id)
    crafted = (await browser.get("/trash?notice=restored&video=../keys")).text
    assert "Open it" not in crafted


async def test_video_is_deleted_permanently(browser: Browser, accounts: Accounts, trashed_id: str) -> None:
    asked = (await browser.get(f"/trash/{trashed_id}/delete")).text
    assert MARKUP not in asked
    assert f"Delete “Walk {SHOWN}” permanently?" in asked
    assert "You cannot undo this." in asked
    removed = await browser.post(f"/trash/{trashed_id}/delete")
    assert removed.headers["location"] == "/trash?notice=removed"
    assert await is_being_removed(accounts, trashed_id)
    assert await logged(accounts, trashed_id) == [{"permanently": False}, {"permanently": True}]
    page = (await browser.get("/trash?notice=removed")).text
    assert "Video deleted permanently." in page
    assert "The trash is empty" in page
    for path in (f"/trash/{trashed_id}/restore", f"/trash/{trashed_id}/delete"):  # from another tab
        gone = await browser.post(path)
        assert (gone.status_code, "no longer in the trash" in gone.text) == (404, True), path
    assert len(await logged(accounts, trashed_id)) == 2


async def test_video_that_was_restored_is_not_deleted_permanently(
    browser: Browser, accounts: Accounts, trashed_id: str
) -> None:
    await browser.post(f"/trash/{trashed_id}/restore")
    refused = await browser.post(f"/trash/{trashed_id}/delete")
    assert (refused.status_code, "no longer in the trash" in refused.text) == (404, True)
    assert (await browser.get(f"/trash/{trashed_id}/delete")).status_code == 404
    assert not await is_being_removed(accounts, trashed_id)
    assert (await browser.get(f"/videos/{trashed_id}")).status_code == 200


async def test_other_libraries_see_and_change_nothing(
    sign_in: SignIn, accounts: Accounts, person: Person, trashed_id: str
) -> None:
    live_id = await put_video(accounts, person.library_id, title="Ride")
    outsider = await sign_in(await accounts.person())
    assert "Walk" not in (await outsider.get("/trash")).text
    assert "Walk" not in (await outsider.get(f"/library?notice=trashed&video={trashed_id}")).text
    for path in (f"/videos/{live_id}/delete", f"/trash/{trashed_id}/delete"):
        refused = await outsider.get(path)
        assert (refused.status_code, "Walk" in refused.text) == (404, False), path
    posted = (f"/videos/{live_id}/delete", f"/trash/{trashed_id}/restore", f"/trash/{trashed_id}/delete")
    for path in (*posted, "/videos/x/delete", "/trash/x/restore", "/trash/x/delete"):
        assert (await outsider.post(path)).status_code == 404, path
    assert await is_in_trash(accounts, trashed_id)
    assert not await is_in_trash(accounts, live_id)


async def test_viewer_sees_the_trash_without_buttons(sign_in: SignIn, accounts: Accounts, person: Person) -> None:
    workspace_id, viewer = await accounts.workspace(person), await accounts.person()
    await accounts.member(workspace_id, viewer, role=Role.VIEWER)
    live_id = await put_video(accounts, workspace_id, title="Ours")
    trashed_id = await put_video(accounts, workspace_id, title="Old one", deleted_at=system_clock())
    browser = await sign_in(viewer)
    await browser.post("/switch", {"library": workspace_id})
    page = (await browser.get("/trash")).text
    assert "Old one" in page
    assert f"/trash/{trashed_id}/" not in page
    assert f"/videos/{live_id}/delete" not in (await browser.get(f"/videos/{live_id}")).text
    assert f"/trash/{trashed_id}/" not in (await browser.get(f"/library?notice=trashed&video={trashed_id}")).text
    for path in (f"/videos/{live_id}/delete", f"/trash/{trashed_id}/delete"):
        assert (await browser.get(path)).status_code == 403, path
    for path in (f"/videos/{live_id}/delete", f"/trash/{trashed_id}/delete", f"/trash/{trashed_id}/restore"):
        assert (await browser.post(path)).status_code == 403, path
    assert await is_in_trash(accounts, trashed_id)
    assert not await is_in_trash(accounts, live_id)


async def test_forms_need_their_token(browser: Browser, accounts: Accounts, person: Person, trashed_id: str) -> None:
    live_id = await put_video(accounts, person.library_id, title="Ride")
    for path in (f"/videos/{live_id}/delete", f"/trash/{trashed_id}/restore", f"/trash/{trashed_id}/delete"):
        assert (await browser.client.post(path)).status_code == 403, path
    assert await is_in_trash(accounts, trashed_id)
    assert not await is_in_trash(accounts, live_id)


async def test_trash_requires_a_session(outsider: Browser, video_id: str) -> None:
    for path in ("/trash", f"/trash/{video_id}/delete", f"/videos/{video_id}/delete"):
        response = await outsider.get(path)
        assert (response.status_code, response.headers["location"].startswith("/sign-in")) == (303, True), path


async def test_import_of_a_source_in_the_trash_offers_to_restore_it(
    browser: Browser, accounts: Accounts, person: Person, trashed_id: str
) -> None:
    source = {
        "library_id": person.library_id,
        "video_id": trashed_id,
        "type": SourceType.HTTPS.value,
        "storage_path": "none",
        "fingerprint": source_fingerprint(SourceType.HTTPS, SOURCE),
        "created_at": system_clock(),
    }
    await insert(accounts.connection, "sources", source)
    folder = (await browser.post("/library/folders", {"name": "Talks"})).headers["location"].partition("folder=")[2]
    refused = await browser.post("/library/imports", {"url": SOURCE, "folder": folder})
    assert refused.headers["location"] == f"/library?notice=in-trash&video={trashed_id}&folder={folder}"
    page = (await browser.get(refused.headers["location"])).text
    assert MARKUP not in page
    alert = re.search(r'role="alert"><span>(A video of this source.*?)</form>', page, re.DOTALL)
    assert alert is not None
    assert f'action="/trash/{trashed_id}/restore"' in alert[1]
    assert "Restore it" in alert[1]
    videos = "SELECT count(*) FROM videos WHERE library_id = $1"
    assert await accounts.connection.fetchval(videos, person.library_id) == 1
    await browser.post(f"/trash/{trashed_id}/restore")
    assert "A video of this source" not in (await browser.get(refused.headers["location"])).text
    again = await browser.post("/library/imports", {"url": SOURCE})
    assert again.headers["location"] == f"/videos/{trashed_id}?notice=exists"
