"""Tests the exports on the storage page: access, starting, the polled list, downloading and deleting."""

import itertools
import re
from datetime import timedelta
from typing import Any

import pytest

from cutroom.accounts.principals import Role
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from cutroom.platform.storage.links import saved_name
from cutroom.retention.exports.rules import MAX_READY
from dev.scratch import Accounts, Person
from tests.console.conftest import Browser, SignIn

FRAGMENT = {"HX-Request": "true"}
LIVE = 'data-live="exports" hx-get="/storage/exports" hx-trigger="live"'
BUTTON = "Export everything"
MARKUP = "<script>alert(1)</script>"
STATE = re.compile(r'<span class="state (\w+)"><span>(.*?)</span></span>')
READY = {"progress": 100, "archive_bytes": 1_234_000_000, "sha256": "0" * 64}
FAILURE = {"error_code": "FAILED_PRECONDITION", "error_message": f"The library is too large. {MARKUP}"}


_milliseconds = itertools.count()


async def add_export(accounts: Accounts, library_id: str, status: str, **columns: Any) -> str:  # noqa: ANN401 (columns)
    now = system_clock()
    export_id = new_id(now.timestamp() + next(_milliseconds) / 1000)  # ids sort by millisecond
    row = {"library_id": library_id, "id": export_id, "status": status, "created_at": now}
    row["finished_at"] = now if status in {"ready", "failed"} else None
    await insert(accounts.connection, "exports", {**row, "expires_at": now + timedelta(days=7), **columns})
    return export_id


async def add_ready(accounts: Accounts, person: Person) -> str:
    return await add_export(accounts, person.library_id, "ready", **READY)


async def list_statuses(accounts: Accounts, person: Person) -> list[str]:
    sql = "SELECT status FROM exports WHERE library_id = $1 AND deleted_at IS NULL ORDER BY id"
    return [row["status"] for row in await accounts.connection.fetch(sql, person.library_id)]


async def list_actions(accounts: Accounts, person: Person) -> list[str]:
    sql = "SELECT action FROM audit_entries WHERE library_id = $1 ORDER BY sequence"
    return [row["action"] for row in await accounts.connection.fetch(sql, person.library_id)]


def alert(page: str) -> str:
    found = re.search(r'<p class="error" role="alert">(.*?)</p>', page)
    assert found is not None
    return found[1]


async def test_started_export_is_listed_and_followed(browser: Browser, accounts: Accounts, person: Person) -> None:
    before = (await browser.get("/storage")).text
    assert BUTTON in before
    started = await browser.post("/storage/exports")
    assert (started.status_code, started.headers["location"]) == (303, "/storage?notice=export-started#export")
    shown = (await browser.get(started.headers["location"])).text
    assert "Export started." in shown
    assert LIVE in shown
    assert BUTTON not in shown
    assert await list_statuses(accounts, person) == ["queued"]
    assert await list_actions(accounts, person) == ["createLibraryExport"]


async def test_list_is_a_fragment_for_scripts_only(browser: Browser, accounts: Accounts, person: Person) -> None:
    await add_export(accounts, person.library_id, "processing", progress=43.7)
    fragment = await browser.get("/storage/exports", headers=FRAGMENT)
    assert fragment.text.lstrip().startswith('<div id="exports"')
    assert LIVE in fragment.text
    assert "Preparing 43 %" in fragment.text
    finished = (
        "UPDATE exports SET status = 'failed', error_code = 'INTERNAL', finished_at = now() WHERE library_id = $1"
    )
    await accounts.connection.execute(finished, person.library_id)
    assert "Failed" in (await browser.get("/storage/exports", headers=FRAGMENT)).text
    whole = await browser.get("/storage/exports")
    assert (whole.status_code, whole.headers["location"]) == (303, "/storage#export")


async def test_states_are_words_that_agree_with_their_dots(
    browser: Browser, accounts: Accounts, person: Person
) -> None:
    ready = await add_ready(accounts, person)
    failed = await add_export(accounts, person.library_id, "failed", **FAILURE)
    await add_export(accounts, person.library_id, "processing", progress=0.4)
    shown = (await browser.get("/storage")).text
    assert STATE.findall(shown) == [
        ("processing", "Preparing 0 %"),
        ("failed", "Failed: The library is too large. &lt;script&gt;alert(1)&lt;/script&gt;"),
        ("ready", "Ready"),
    ]
    assert MARKUP not in shown
    assert "1.23 GB" in shown
    assert f'href="/storage/exports/{ready}"' in shown
    assert f'href="/storage/exports/{failed}"' not in shown


async def test_unfinished_export_and_full_library_are_explained(
    browser: Browser, accounts: Accounts, person: Person
) -> None:
    await browser.post("/storage/exports")
    refused = await browser.post("/storage/exports")
    assert refused.status_code == 409
    assert alert(refused.text) == "An export of this library is not finished yet."
    await accounts.connection.execute("DELETE FROM exports WHERE library_id = $1", person.library_id)
    for _ in range(MAX_READY):
        await add_ready(accounts, person)
    refused = await browser.post("/storage/exports")
    assert refused.status_code == 409
    assert alert(refused.text) == f"The library has {MAX_READY} exports. Delete one first."
    assert f"A library keeps {MAX_READY} exports." in refused.text
    assert BUTTON not in refused.text
    assert await list_actions(accounts, person) == ["createLibraryExport"]


async def test_download_redirects_to_the_archive(browser: Browser, accounts: Accounts, person: Person) -> None:
    ready = await add_ready(accounts, person)
    location = (await browser.get(f"/storage/exports/{ready}")).headers["location"]
    assert f"exports/{ready}/archive.zip" in location
    assert saved_name(location).startswith("library-export-")
    queued = await add_export(accounts, person.library_id, "queued")
    unfinished = await browser.get(f"/storage/exports/{queued}")
    assert (unfinished.status_code, unfinished.headers["location"]) == (303, "/storage#export")


async def test_deleted_export_is_gone(browser: Browser, accounts: Accounts, person: Person) -> None:
    ready = await add_ready(accounts, person)
    deleted = await browser.post(f"/storage/exports/{ready}/delete")
    assert (deleted.status_code, deleted.headers["location"]) == (303, "/storage?notice=export-deleted#export")
    shown = (await browser.get(deleted.headers["location"])).text
    assert "Export deleted." in shown
    assert ready not in shown
    for again in (
        await browser.post(f"/storage/exports/{ready}/delete"),
        await browser.get(f"/storage/exports/{ready}"),
    ):
        assert again.status_code == 404
        assert alert(again.text).startswith("This export no longer exists")
    assert await list_actions(accounts, person) == ["deleteLibraryExport"]


async def test_export_of_another_library_is_not_found(accounts: Accounts, person: Person, sign_in: SignIn) -> None:
    ready = await add_ready(accounts, person)
    other = await sign_in(await accounts.person())
    assert (await other.get(f"/storage/exports/{ready}")).status_code == 404
    assert (await other.post(f"/storage/exports/{ready}/delete")).status_code == 404
    assert ready not in (await other.get("/storage")).text
    assert await list_statuses(accounts, person) == ["ready"]


@pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR, Role.ADMIN])
async def test_exports_are_for_owners_and_admins(
    accounts: Accounts, person: Person, sign_in: SignIn, role: Role
) -> None:
    workspace_id, member = await accounts.workspace(person), await accounts.person()
    await accounts.member(workspace_id, member, role=role)
    export_id = await add_export(accounts, workspace_id, "ready", **READY)
    browser = await sign_in(member)
    await browser.post("/switch", {"library": workspace_id})
    shown = await browser.get("/storage")
    assert shown.status_code == 200
    responses = [
        await browser.get("/storage/exports", headers=FRAGMENT),
        await browser.get(f"/storage/exports/{export_id}"),
        await browser.post("/storage/exports"),
        await browser.post(f"/storage/exports/{export_id}/delete"),
    ]
    statuses = [each.status_code for each in responses]
    if role is Role.ADMIN:
        assert BUTTON in shown.text
        assert statuses == [200, 303, 303, 303]
    else:
        assert "Owners and admins can export the library." in shown.text
        assert BUTTON not in shown.text
        assert export_id not in shown.text
        assert statuses == [403, 403, 403, 403]


async def test_forms_without_a_token_are_refused(browser: Browser, accounts: Accounts, person: Person) -> None:
    ready = await add_ready(accounts, person)
    for path in ("/storage/exports", f"/storage/exports/{ready}/delete"):
        assert (await browser.client.post(path, data={"csrf": "0" * 40})).status_code == 403
        assert (await browser.client.post(path)).status_code == 403
    assert await list_statuses(accounts, person) == ["ready"]


async def test_visitors_sign_in_first(outsider: Browser) -> None:
    for path in ("/storage", f"/storage/exports/{new_id()}"):
        assert (await outsider.get(path)).headers["location"].startswith("/sign-in")
