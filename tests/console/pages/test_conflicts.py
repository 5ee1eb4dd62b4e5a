"""Tests that forms of folders, characters, brand voices, voices and webhook endpoints lose no updates."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from dev.scratch import Accounts, Person
from tests.console.conftest import Browser, SignIn
from tests.console.pages.test_library import MARKUP, SHOWN
from tests.console.pages.test_video_editing import CHANGED, HTMX, opened
from tests.console.pages.test_voices import WAVE


@dataclass(frozen=True, slots=True)
class Edited:
    """A resource, the form that changes it, and a change."""

    table: str
    column: str
    row: Mapping[str, Any]
    form: str
    fields: Mapping[str, str]
    typed: str

    def path(self, row_id: str) -> str:
        return self.form.format(id=row_id)


FOLDER = Edited(
    "folders", "name", {"name": "Old", "depth": 1}, "/library/folders/{id}/rename", {"name": "Mine"}, 'value="Mine"'
)
CHARACTER = Edited("characters", "name", {"name": "Old"}, "/characters/{id}/rename", {"name": "Mine"}, 'value="Mine"')
BRAND_VOICE = Edited(
    "brand_voices",
    "guidelines",
    {"name": "Calm", "guidelines": "Old"},
    "/brand-voices/{id}",
    {"name": "Calm", "guidelines": "Mine", "colors": "#102030"},
    ">\nMine</textarea>",
)
VOICE = Edited(
    "voices",
    "name",
    {"name": "Old", "consent": "on"},  # of the form that clones a voice
    "/voices/{id}",
    {"name": "Mine", "description": ""},
    'value="Mine"',
)
ALL = (FOLDER, CHARACTER, BRAND_VOICE, VOICE)


async def put(browser: Browser, accounts: Accounts, person: Person, edited: Edited) -> str:
    if edited is VOICE:
        assert (await browser.send("/voices", edited.row, WAVE)).status_code == 303
        sql = "SELECT id FROM voices WHERE library_id = $1"
        return str(await accounts.connection.fetchval(sql, person.library_id))
    row_id, here = new_id(), {"library_id": person.library_id, "created_at": system_clock()}
    await insert(accounts.connection, edited.table, {**here, "id": row_id, **edited.row})
    return row_id


async def current(accounts: Accounts, edited: Edited, row_id: str) -> str:
    sql = f"SELECT {edited.column} FROM {edited.table} WHERE id = $1"  # noqa: S608 (constants)
    found: str = await accounts.connection.fetchval(sql, row_id)
    return found


@pytest.mark.parametrize("edited", ALL, ids=lambda each: each.table)
async def test_form_is_saved(browser: Browser, accounts: Accounts, person: Person, edited: Edited) -> None:
    row_id = await put(browser, accounts, person, edited)
    fields = await fields_of(browser, edited, row_id)
    assert fields["revision"] == '"1"'
    saved = await browser.client.post(edited.path(row_id), data={**fields, **edited.fields})
    assert saved.status_code == 303
    assert await current(accounts, edited, row_id) == "Mine"


async def fields_of(browser: Browser, edited: Edited, row_id: str) -> dict[str, str]:
    """The folder's form is a part of the library page."""
    if edited is not FOLDER:
        return await opened(browser, edited.path(row_id))
    page = (await browser.get(f"/library?folder={row_id}")).text
    form = page.partition(f'action="{edited.path(row_id)}"')[2].partition("</form>")[0]
    values = [each.partition('name="')[2] for each in form.split("<input")[1:] if 'type="hidden"' in each]
    pairs = [value.split('" value="') for value in values]
    return {name: rest.partition('"')[0].replace("&#34;", '"') for name, rest in pairs}


@pytest.mark.parametrize("edited", ALL, ids=lambda each: each.table)
async def test_conflict_shows_the_current_value_and_keeps_the_input(
    browser: Browser, accounts: Accounts, person: Person, edited: Edited
) -> None:
    row_id = await put(browser, accounts, person, edited)
    fields = await fields_of(browser, edited, row_id)
    sql = f"UPDATE {edited.table} SET {edited.column} = $2 WHERE id = $1"  # noqa: S608 (constants)
    await accounts.connection.execute(sql, row_id, f"Theirs {MARKUP}")
    refused = await browser.client.post(edited.path(row_id), data={**fields, **edited.fields})
    assert refused.status_code == 409
    assert CHANGED in refused.text
    assert f"Theirs {SHOWN}" in refused.text
    assert MARKUP not in refused.text
    assert edited.typed in refused.text
    assert await current(accounts, edited, row_id) == f"Theirs {MARKUP}"


@pytest.mark.parametrize("edited", ALL, ids=lambda each: each.table)
async def test_form_requires_the_token_and_the_own_library(
    browser: Browser, sign_in: SignIn, accounts: Accounts, person: Person, edited: Edited
) -> None:
    row_id = await put(browser, accounts, person, edited)
    assert (await browser.client.post(edited.path(row_id), data=edited.fields)).status_code == 403
    outsider = await sign_in(await accounts.person())
    assert (await outsider.post(edited.path(row_id), edited.fields)).status_code == 404
    if edited is not FOLDER:
        assert (await outsider.get(edited.path(row_id))).status_code == 404
    assert await current(accounts, edited, row_id) == "Old"


@pytest.mark.parametrize("edited", ALL[1:], ids=lambda each: each.table)
async def test_lists_reload_after_a_change(
    browser: Browser, accounts: Accounts, person: Person, edited: Edited
) -> None:
    row_id = await put(browser, accounts, person, edited)
    fields = await opened(browser, edited.path(row_id))
    saved = await browser.client.post(edited.path(row_id), data={**fields, **edited.fields}, headers=HTMX)
    assert (saved.status_code, saved.headers["hx-trigger"]) == (200, "saved")
    listing = "/" + edited.form.split("/")[1]
    page = (await browser.get(listing, headers=HTMX)).text
    assert "<html" not in page
    assert "saved from:body" in page
    assert f'hx-target="#edit-{row_id}"' in page
    assert f'id="edit-{row_id}"' in page
    assert f'data-confirm="Delete this {edited.table.replace("_", " ")[:-1]}' in page


async def test_deletion_of_a_changed_folder_is_confirmed_again(
    browser: Browser, accounts: Accounts, person: Person
) -> None:
    row_id = await put(browser, accounts, person, FOLDER)
    fields = await fields_of(browser, FOLDER, row_id)
    await accounts.connection.execute("UPDATE folders SET name = $2 WHERE id = $1", row_id, MARKUP)
    refused = await browser.client.post(f"/library/folders/{row_id}/delete", data=fields)
    assert refused.status_code == 409
    assert CHANGED in refused.text
    assert f"<dd>{SHOWN}</dd>" in refused.text
    again = {**fields, "revision": '"2"'}
    assert (await browser.client.post(f"/library/folders/{row_id}/delete", data=again)).status_code == 303


async def test_stock_voice_has_no_form(browser: Browser) -> None:
    assert (await browser.get(f"/voices/{new_id()}")).status_code == 404
