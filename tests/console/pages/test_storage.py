"""Tests the storage page: figures, the dry run, and the form."""

from datetime import timedelta

import pytest

from cutroom.accounts.principals import Role
from cutroom.accounts.service import set_quotas
from cutroom.console.framework.rendering import format_size
from cutroom.library.usage import Usage, add_usage
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from dev.scratch import Accounts, Person
from tests.console.conftest import Browser, SignIn

MARKUP = "<script>alert(1)</script>"


async def add_stored_video(accounts: Accounts, person: Person) -> str:
    video_id, now = new_id(), system_clock()
    row = {"library_id": person.library_id, "id": video_id, "status": "ready", "title": MARKUP, "created_at": now}
    await insert(accounts.connection, "videos", row)
    stored = {"video_id": video_id, "kind": "intermediate", "objects": 1, "bytes": 1_234_000_000}
    day = (now - timedelta(days=40)).date()
    await insert(accounts.connection, "storage_usage", {"library_id": person.library_id, **stored, "changed_on": day})
    figures = {"originals_bytes": 5, "intermediates_bytes": 1_234_000_000, "outputs_bytes": 0, "unknown_objects": 0}
    await insert(accounts.connection, "storage_scans", {"library_id": person.library_id, **figures, "measured_at": now})
    return video_id


async def test_page_shows_what_uses_space_and_what_can_go(browser: Browser, accounts: Accounts, person: Person) -> None:
    empty = (await browser.get("/storage")).text
    assert empty.count("Not measured yet.") == 2
    assert empty.count("0 bytes") == 1  # of the quota
    video_id = await add_stored_video(accounts, person)
    shown = (await browser.get("/storage")).text
    assert shown.count(f'href="/videos/{video_id}"') == 2
    assert "frees about 1.23 GB" in shown
    assert MARKUP not in shown
    assert 'href="/storage"' in (await browser.get("/library")).text


async def test_page_shows_quotas(browser: Browser, accounts: Accounts, person: Person) -> None:
    quotas = {"storage_bytes": 5_000_000, "media_minutes": 1_500, "unfinished_jobs": 7}
    await set_quotas(accounts.connection, person.library_id, quotas=quotas)
    await add_usage(
        accounts.connection, person.library_id, Usage(source_bytes=2_000_000, imported_milliseconds=120_000)
    )
    shown = (await browser.get("/storage")).text
    assert all(text in shown for text in ("2 MB of 5 MB", "2 of 1,500 minutes", "0 of 7"))


async def test_times_are_saved_and_empty_keeps_for_ever(browser: Browser, accounts: Accounts, person: Person) -> None:
    fields = {"originalsDays": "365", "intermediatesDays": "", "outputsDays": "30", "revision": '"1"'}
    saved = await browser.post("/storage", fields)
    assert (saved.status_code, saved.headers["location"]) == (303, "/storage?notice=saved")
    row = await accounts.connection.fetchrow(
        "SELECT * FROM retention_policies WHERE library_id = $1", person.library_id
    )
    assert row is not None
    assert (row["originals_days"], row["intermediates_days"], row["outputs_days"]) == (365, None, 30)
    assert 'value="365"' in (await browser.get("/storage")).text
    audited = "SELECT count(*) FROM audit_entries WHERE library_id = $1 AND action = 'updateRetention'"
    assert await accounts.connection.fetchval(audited, person.library_id) == 1


@pytest.mark.parametrize(
    ("fields", "status"),
    [({"originalsDays": "0"}, 400), ({"originalsDays": "soon"}, 400), ({"outputsDays": "7", "revision": '"9"'}, 409)],
)
async def test_refused_times_are_shown_again(browser: Browser, fields: dict[str, str], status: int) -> None:
    given = {"originalsDays": "", "intermediatesDays": "30", "outputsDays": "", **fields}
    refused = await browser.post("/storage", given)
    assert refused.status_code == status
    assert 'role="alert"' in refused.text
    assert next(iter(fields.values())) in refused.text


async def test_editors_see_the_times_but_cannot_change_them(
    accounts: Accounts, person: Person, sign_in: SignIn
) -> None:
    workspace_id, editor = await accounts.workspace(person), await accounts.person()
    await accounts.member(workspace_id, editor, role=Role.EDITOR)
    browser = await sign_in(editor)
    await browser.post("/switch", {"library": workspace_id})
    shown = (await browser.get("/storage")).text
    assert "Owners and admins can change this." in shown
    assert '<form method="post" action="/storage">' not in shown
    refused = await browser.post("/storage", {"originalsDays": "1", "intermediatesDays": "", "outputsDays": ""})
    assert refused.status_code == 403


async def test_video_page_says_that_the_original_is_deleted(
    browser: Browser, accounts: Accounts, person: Person
) -> None:
    video_id, now = new_id(), system_clock()
    row = {"library_id": person.library_id, "id": video_id, "status": "ready", "import_status": "ready"}
    await insert(accounts.connection, "videos", {**row, "created_at": now, "original_deleted_at": now})
    shown = (await browser.get(f"/videos/{video_id}")).text
    assert "Original file deleted" in shown


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1_000, "1 kB"),
        (1_234_000_000, "1.23 GB"),
        (45_600_000_000_000, "45.6 TB"),
        (2_000_000_000_000_000, "2,000 TB"),
    ],
)
def test_sizes_have_units(size: int, text: str) -> None:
    assert format_size(size) == text
