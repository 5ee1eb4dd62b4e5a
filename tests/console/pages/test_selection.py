"""Tests actions on the videos that are selected in the library."""

import re

import pytest

from cutroom.accounts.principals import Role
from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from tests.console.conftest import Browser, SignIn
from tests.console.pages.test_library import MARKUP, SHOWN, put_video
from tests.console.pages.test_video import put_job


@pytest.fixture
async def videos(accounts: Accounts, person: Person) -> list[str]:
    return [await put_video(accounts, person.library_id, title=f"{name} {MARKUP}") for name in ("Walk", "Ride")]


async def labels_of(accounts: Accounts, video_id: str) -> list[str]:
    found: list[str] = await accounts.connection.fetchval("SELECT labels FROM videos WHERE id = $1", video_id)
    return found


async def test_label_is_added_to_and_removed_from_all(browser: Browser, accounts: Accounts, videos: list[str]) -> None:
    fields: dict[str, str | list[str]] = {"video": videos, "label": "season 2", "in_q": "Walk", "in_label": "x"}
    added = await browser.post("/library/labels", {**fields, "change": "add"})
    assert (added.status_code, added.headers["location"]) == (303, "/library?notice=labeled&q=Walk&label=x")
    assert [await labels_of(accounts, each) for each in videos] == [["season 2"], ["season 2"]]
    await browser.post("/library/labels", {**fields, "change": "remove"})
    assert [await labels_of(accounts, each) for each in videos] == [[], []]
    for selected, label in ((videos, ""), ([], "A"), (videos, "x" * 51)):
        wrong: dict[str, str | list[str]] = {"change": "add", "video": selected, "label": label}
        assert (await browser.post("/library/labels", wrong)).status_code == 400


async def test_video_of_another_library_changes_nothing(
    browser: Browser, sign_in: SignIn, accounts: Accounts, person: Person, videos: list[str]
) -> None:
    theirs = await put_video(accounts, (await accounts.person()).library_id, title="Theirs")
    mixed: dict[str, str | list[str]] = {"video": [*videos, theirs], "label": "A", "change": "add"}
    assert (await browser.post("/library/labels", mixed)).status_code == 404
    assert (await browser.post("/library/downloads", mixed)).status_code == 404
    assert [await labels_of(accounts, each) for each in (*videos, theirs)] == [[], [], []]
    sql = "SELECT count(*) FROM jobs WHERE type = 'download' AND library_id = $1"
    assert await accounts.connection.fetchval(sql, person.library_id) == 0
    for path in ("/library/labels", "/library/downloads"):
        assert (await browser.client.post(path, data={"video": videos, "label": "A"})).status_code == 403
    workspace_id, viewer = await accounts.workspace(person), await accounts.person()
    await accounts.member(workspace_id, viewer, role=Role.VIEWER)
    shared = await put_video(accounts, workspace_id, title="Ours")
    looking = await sign_in(viewer)
    await looking.post("/switch", {"library": workspace_id})
    for path in ("/library/labels", "/library/downloads"):
        assert (await looking.post(path, {"video": shared, "label": "A", "change": "add"})).status_code == 403
    page = (await looking.get("/library")).text
    assert 'id="bulk"' not in page
    assert "tile-menu" not in page


async def test_downloads_are_prepared_or_linked(
    browser: Browser, sign_in: SignIn, accounts: Accounts, person: Person, videos: list[str], runtime: Runtime
) -> None:
    stored = f"tests/{new_id()}"
    await runtime.storage.put(stored, b"media")
    plan = {"artifact": "source", "language": "en", "tier": "full"}
    await put_job(
        accounts,
        person,
        videos[0],
        id=f"download_{new_id()}",
        type="download",
        status="ready",
        progress=100,
        finished_at=system_clock(),
        plan=plan,
        result={**plan, "storagePath": stored, "fileName": "walk.mp4"},
    )
    made = await browser.post("/library/downloads", {"video": videos})
    assert made.status_code == 303
    sql = "SELECT video_id FROM jobs WHERE type = 'download' AND status = 'queued' AND library_id = $1"
    assert [row["video_id"] for row in await accounts.connection.fetch(sql, person.library_id)] == [videos[1]]
    page = (await browser.get(made.headers["location"])).text
    assert MARKUP not in page
    assert page.count(SHOWN) == 2
    assert "Queued" in page
    assert page.count("Download <") == 1
    assert re.search(
        r'data-live="video:\w+ video:\w+" hx-get="/library/downloads\?ids=\w+,\w+" hx-trigger="live"', page
    )
    outsider = await sign_in(await accounts.person())
    assert (await outsider.get(made.headers["location"])).status_code == 404
    assert (await browser.get("/library/downloads")).status_code == 404
    assert (await browser.post("/library/downloads")).status_code == 400


async def test_menu_of_a_tile_moves_and_renames(browser: Browser, accounts: Accounts, videos: list[str]) -> None:
    made = await browser.post("/library/folders", {"name": "Interviews"})
    folder_id = made.headers["location"].partition("folder=")[2]
    page = (await browser.get("/library", headers={"HX-Request": "true"})).text
    assert f'hx-get="/videos/{videos[0]}/title" hx-target="#edit-{videos[0]}"' in page
    assert page.count('<option value="none">No folder</option>') == len(videos)
    fields = {"csrf": await browser.token(), "video": videos[0], "to": folder_id}
    moved = await browser.client.post("/library/move", data=fields, headers={"HX-Request": "true"})
    assert (moved.status_code, moved.headers["hx-trigger"]) == (200, "saved")
    sql = "SELECT folder_ids FROM videos WHERE id = $1"
    assert await accounts.connection.fetchval(sql, videos[0]) == [folder_id]


async def deleted_of(accounts: Accounts, video_ids: list[str]) -> list[bool]:
    sql = "SELECT deleted_at IS NOT NULL FROM videos WHERE id = $1"
    return [await accounts.connection.fetchval(sql, each) for each in video_ids]


async def test_selected_videos_are_deleted_after_a_confirmation(
    browser: Browser, accounts: Accounts, person: Person, videos: list[str]
) -> None:
    job_ids = [f"shorts_{new_id()}" for _ in videos]
    for video_id, job_id in zip(videos, job_ids, strict=True):
        await put_job(accounts, person, video_id, id=job_id, type="shorts", status="processing")
    assert 'formaction="/library/delete"' in (await browser.get("/library")).text
    fields: dict[str, str | list[str]] = {"video": [*videos, videos[0]], "in_q": "Walk", "in_label": MARKUP}
    asked = (await browser.post("/library/delete", fields)).text
    assert MARKUP not in asked
    assert "<h1>Delete 2 videos?</h1>" in asked
    assert f"<li>Walk {SHOWN}</li><li>Ride {SHOWN}</li>" in asked
    assert "canceled and refunded" in asked
    assert re.findall(r'name="video" value="(\w+)"', asked) == sorted(videos)
    assert f'name="in_label" value="{SHOWN}"' in asked
    assert await deleted_of(accounts, videos) == [False, False]
    deleted = await browser.post("/library/delete", {"video": videos, "in_q": "Walk", "confirmed": "1"})
    assert deleted.headers["location"] == "/library?notice=all-trashed&count=2&q=Walk"
    assert await deleted_of(accounts, videos) == [True, True]
    page = (await browser.get(deleted.headers["location"])).text
    assert '2 videos were moved to the trash. <a href="/trash">' in page
    sql = "SELECT error_code FROM jobs WHERE id = ANY ($1)"
    assert [row["error_code"] for row in await accounts.connection.fetch(sql, job_ids)] == ["CANCELLED", "CANCELLED"]
    sql = """SELECT targets, details -> 'after' AS after FROM audit_entries
             WHERE action = 'deleteVideo' AND library_id = $1 ORDER BY sequence"""
    entries = [(row["targets"], row["after"]) for row in await accounts.connection.fetch(sql, person.library_id)]
    assert entries == [({"videoId": each}, {"permanently": False}) for each in sorted(videos)]
    crafted = (await browser.get(f"/library?notice=all-trashed&count={MARKUP}")).text
    assert ">Videos were moved to the trash." in crafted


async def test_all_selected_videos_are_deleted_or_none(
    browser: Browser, sign_in: SignIn, accounts: Accounts, person: Person, videos: list[str]
) -> None:
    job_id = f"shorts_{new_id()}"
    await put_job(accounts, person, videos[0], id=job_id, type="shorts", status="processing")
    theirs = await put_video(accounts, (await accounts.person()).library_id, title="Theirs")
    trashed = await put_video(accounts, person.library_id, title="Old", deleted_at=system_clock())
    for other in (theirs, trashed, "x"):
        mixed: dict[str, str | list[str]] = {"video": [*videos, other]}
        assert (await browser.post("/library/delete", mixed)).status_code == 404
        assert (await browser.post("/library/delete", {**mixed, "confirmed": "1"})).status_code == 404
    assert await deleted_of(accounts, [*videos, theirs]) == [False, False, False]
    assert await accounts.connection.fetchval("SELECT status FROM jobs WHERE id = $1", job_id) == "processing"
    assert (await browser.post("/library/delete", {"confirmed": "1"})).status_code == 400
    many: dict[str, str | list[str]] = {"confirmed": "1", "video": [new_id() for _ in range(101)]}
    assert (await browser.post("/library/delete", many)).status_code == 400
    no_token = await browser.client.post("/library/delete", data={"video": videos, "confirmed": "1"})
    assert no_token.status_code == 403
    workspace_id, viewer = await accounts.workspace(person), await accounts.person()
    await accounts.member(workspace_id, viewer, role=Role.VIEWER)
    shared = await put_video(accounts, workspace_id, title="Ours")
    looking = await sign_in(viewer)
    await looking.post("/switch", {"library": workspace_id})
    assert (await looking.post("/library/delete", {"video": shared})).status_code == 403
    assert (await looking.post("/library/delete", {"video": shared, "confirmed": "1"})).status_code == 403
    assert await deleted_of(accounts, [*videos, shared]) == [False, False, False]


async def test_confirmation_names_ten_titles(browser: Browser, accounts: Accounts, person: Person) -> None:
    many = [await put_video(accounts, person.library_id, title=f"No. {number}") for number in range(12)]
    asked = (await browser.post("/library/delete", {"video": many})).text
    assert asked.count("<li>No. ") == 10
    assert "and 2 more" in asked
    assert asked.count('name="video"') == 12
