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
    assert re.search(r'hx-get="/library/downloads\?ids=\w+,\w+" hx-trigger="every 2s"', page)
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
