"""Tests changing the title, description and labels of a video."""

import re
from typing import Any

import pytest

from cutroom.accounts.principals import Role
from cutroom.jobs.ids import AutomationType
from cutroom.library.rules import MAX_LABEL, MAX_LABELS
from cutroom.platform.clock import system_clock
from dev.scratch import Accounts, Person
from tests.console.conftest import Browser, SignIn
from tests.console.pages.test_library import MARKUP, SHOWN, put_video
from tests.console.pages.test_video import put_job

HTMX = {"HX-Request": "true"}
CHANGED = "Someone else changed this in the meantime."


@pytest.fixture
async def video_id(accounts: Accounts, person: Person) -> str:
    return await put_video(accounts, person.library_id, title="Walk", spoken="We walk along the harbor.")


async def column(accounts: Accounts, video_id: str, name: str) -> Any:  # noqa: ANN401 (a column)
    return await accounts.connection.fetchval(f"SELECT {name} FROM videos WHERE id = $1", video_id)  # noqa: S608


async def opened(browser: Browser, path: str) -> dict[str, str]:
    """The hidden fields of a form."""
    page = (await browser.get(path, headers=HTMX)).text
    fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page))
    return {name: value.replace("&#34;", '"') for name, value in fields.items()}


async def test_title_is_renamed_in_place_and_without_scripts(
    browser: Browser, accounts: Accounts, video_id: str
) -> None:
    path = f"/videos/{video_id}/title"
    whole, fragment = await browser.get(path), await browser.get(path, headers=HTMX)
    assert "<h1>Rename video</h1>" in whole.text
    assert "hx-post" not in whole.text
    assert "<h1" not in fragment.text
    assert f'hx-post="{path}"' in fragment.text
    fields = await opened(browser, path)
    inside = await browser.client.post(path, data={**fields, "title": MARKUP}, headers=HTMX)
    assert (inside.status_code, inside.headers["hx-trigger"]) == (200, "saved")
    heading = (await browser.get(f"/videos/{video_id}/heading", headers=HTMX)).text
    assert MARKUP not in heading
    assert f'<h1 class="break shown">{SHOWN}</h1>' in heading
    assert SHOWN in (await browser.get(path)).text
    fields = await opened(browser, path)
    plain = await browser.client.post(path, data={**fields, "title": "Harbor"})
    assert (plain.status_code, plain.headers["location"]) == (303, f"/videos/{video_id}?notice=saved")
    assert await column(accounts, video_id, "title") == "Harbor"


async def test_conflict_shows_the_current_title_and_keeps_the_input(
    browser: Browser, accounts: Accounts, video_id: str
) -> None:
    path = f"/videos/{video_id}/title"
    fields = await opened(browser, path)
    await accounts.connection.execute("UPDATE videos SET title = $2 WHERE id = $1", video_id, f"Theirs {MARKUP}")
    for headers in (HTMX, {}):
        refused = await browser.client.post(path, data={**fields, "title": "Mine"}, headers=headers)
        assert refused.status_code == 409
        assert CHANGED in refused.text
        assert f"Theirs {SHOWN}" in refused.text
        assert 'value="Mine"' in refused.text
        assert MARKUP not in refused.text
        assert (refused.headers["hx-reswap"], refused.headers["hx-trigger"]) == ("innerHTML", "saved")
    assert await column(accounts, video_id, "title") == f"Theirs {MARKUP}"
    again = await opened(browser, path)
    saved = await browser.client.post(path, data={**again, "title": "Mine"}, headers=HTMX)
    assert saved.status_code == 200
    assert await column(accounts, video_id, "title") == "Mine"


async def test_change_of_another_field_is_no_conflict(browser: Browser, accounts: Accounts, video_id: str) -> None:
    path = f"/videos/{video_id}/title"
    fields = await opened(browser, path)
    await accounts.connection.execute("UPDATE videos SET description = 'New' WHERE id = $1", video_id)
    assert (await browser.client.post(path, data={**fields, "title": "Mine"})).status_code == 303
    assert await column(accounts, video_id, "title") == "Mine"


@pytest.mark.parametrize("title", ["", " ", "x" * 501])
async def test_invalid_title_is_shown_with_the_form(
    browser: Browser, accounts: Accounts, video_id: str, title: str
) -> None:
    refused = await browser.client.post(
        f"/videos/{video_id}/title",
        data={**await opened(browser, f"/videos/{video_id}/title"), "title": title},
        headers=HTMX,
    )
    assert refused.status_code == 400
    assert 'class="error"' in refused.text
    assert f'value="{title.strip()}"' in refused.text
    assert await column(accounts, video_id, "title") == "Walk"


async def test_description_is_edited_and_cleared(browser: Browser, accounts: Accounts, video_id: str) -> None:
    path, tab = f"/videos/{video_id}/description", f"/videos/{video_id}?tab=publish"
    assert "No description yet." in (await browser.get(tab)).text
    assert (await browser.post(path, {"description": f"One\r\n{MARKUP}"})).headers["location"].startswith(tab)
    assert await column(accounts, video_id, "description") == f"One\n{MARKUP}"
    page = (await browser.get(tab)).text
    assert f"One\n{SHOWN}" in page
    assert MARKUP not in page
    await browser.post(path, {"description": ""})
    assert await column(accounts, video_id, "description") is None


async def test_candidate_is_chosen(browser: Browser, accounts: Accounts, person: Person, video_id: str) -> None:
    candidates = ["Walk", f"A walk {MARKUP}", "Along the harbor"]
    await put_job(
        accounts,
        person,
        video_id,
        id=f"packaging_{video_id}_generateTitle",
        type="packaging",
        automation_type=AutomationType.TITLE.value,
        status="ready",
        progress=100,
        finished_at=system_clock(),
        result={"title": "Walk", "candidates": candidates, "engine": "none"},
    )
    page = (await browser.get(f"/videos/{video_id}?tab=publish")).text
    assert MARKUP not in page
    assert page.count("Use this<") == 2
    assert '<span class="state ready">Current title</span>' in page
    fields = await opened(browser, f"/videos/{video_id}/texts")
    path = f"/videos/{video_id}/title"
    assert (await browser.client.post(path, data={**fields, "title": candidates[1]}, headers=HTMX)).status_code == 200
    assert await column(accounts, video_id, "title") == candidates[1]
    refused = await browser.client.post(path, data={**fields, "title": candidates[2]}, headers=HTMX)
    assert refused.status_code == 409  # the page still shows the first one
    assert CHANGED in refused.text


async def test_labels_are_added_removed_and_filter_the_library(
    browser: Browser, accounts: Accounts, person: Person, video_id: str
) -> None:
    path = f"/videos/{video_id}/labels"
    for label in ("season 2", MARKUP, "season 2"):
        assert (await browser.post(path, {"label": label})).status_code == 303
    assert await column(accounts, video_id, "labels") == ["season 2", MARKUP]
    other = await put_video(accounts, person.library_id, title="Ride")
    for address in (f"/videos/{video_id}", "/library"):
        page = (await browser.get(address)).text
        assert MARKUP not in page
        assert SHOWN in page
        assert 'href="/library?label=season+2"' in page
    page = (await browser.get("/library?label=season 2")).text
    assert f"/videos/{video_id}" in page
    assert other not in page
    assert "No video has the label" in (await browser.get("/library?label=none")).text
    assert f'<option value="{SHOWN}">' in (await browser.get(f"/videos/{other}/labels")).text  # a suggestion
    removed = await browser.post(f"{path}/remove", {"label": MARKUP})
    assert removed.status_code == 303
    assert await column(accounts, video_id, "labels") == ["season 2"]


async def test_invalid_labels_are_shown_with_the_form(browser: Browser, accounts: Accounts, video_id: str) -> None:
    path = f"/videos/{video_id}/labels"
    for label in ("", "x" * (MAX_LABEL + 1)):
        assert (await browser.post(path, {"label": label})).status_code == 400
    many = [f"label {number}" for number in range(MAX_LABELS)]
    await accounts.connection.execute("UPDATE videos SET labels = $2 WHERE id = $1", video_id, many)
    refused = await browser.post(path, {"label": "one more"})
    assert refused.status_code == 400
    assert 'value="one more"' in refused.text
    assert await column(accounts, video_id, "labels") == many


async def test_changes_require_the_token_the_library_and_the_role(
    browser: Browser, sign_in: SignIn, accounts: Accounts, person: Person, video_id: str
) -> None:
    changes = {"title": {"title": "A"}, "description": {"description": "A"}, "labels": {"label": "A"}}
    changes |= {"labels/remove": {"label": "A"}}
    outsider = await sign_in(await accounts.person())
    workspace_id, viewer = await accounts.workspace(person), await accounts.person()
    await accounts.member(workspace_id, viewer, role=Role.VIEWER)
    looking = await sign_in(viewer)
    await looking.post("/switch", {"library": workspace_id})
    shared = await put_video(accounts, workspace_id, title="Ours", spoken="words")
    for name, fields in changes.items():
        assert (await browser.client.post(f"/videos/{video_id}/{name}", data=fields)).status_code == 403
        assert (await outsider.post(f"/videos/{video_id}/{name}", fields)).status_code == 404
        assert (await looking.post(f"/videos/{shared}/{name}", fields)).status_code == 403
    for name in ("title", "description", "labels"):
        assert (await outsider.get(f"/videos/{video_id}/{name}")).status_code == 404
        assert (await looking.get(f"/videos/{shared}/{name}")).status_code == 403
    for name in ("heading", "texts"):
        assert (await outsider.get(f"/videos/{video_id}/{name}")).status_code == 404
        page = (await looking.get(f"/videos/{shared}/{name}")).text
        assert "Rename" not in page
        assert "Edit" not in page
    assert await column(accounts, video_id, "title") == "Walk"
