"""Tests the API keys page."""

import re

import pytest

from cutroom.accounts.plans import PlanName
from cutroom.accounts.principals import Role
from cutroom.accounts.scopes import ALL_SCOPES
from dev.scratch import Accounts, Person
from tests.console.conftest import Browser, SignIn

_SECRET = re.compile(r'<code id="new-key">(cr_[0-9A-Za-z]+)</code>')


async def make(browser: Browser, name: str, *scopes: str) -> str:
    response = await browser.post("/keys", {"name": name, "scope": list(scopes)})
    found = _SECRET.search(response.text)
    assert found is not None, response.text
    return found[1]


async def test_key_without_selected_scopes_has_all_and_is_shown_once(browser: Browser, accounts: Accounts) -> None:
    secret = await make(browser, "<i>laptop</i>")
    assert (await browser.get("/v1/folders", headers={"X-Api-Key": secret})).status_code == 200
    page = (await browser.get("/keys")).text
    assert secret not in page
    assert f"…{secret[-4:]}" in page
    assert "&lt;i&gt;laptop" in page
    stored = await accounts.connection.fetchval("SELECT scopes FROM api_keys WHERE hint = $1", secret[-4:])
    assert set(stored) == set(ALL_SCOPES)


async def test_key_is_limited_to_its_scopes_until_revoked(browser: Browser) -> None:
    secret = await make(browser, "reader", "videos:read")
    headers = {"X-Api-Key": secret}
    assert (await browser.get("/v1/folders", headers=headers)).status_code == 200
    assert (await browser.client.post("/v1/folders", json={"name": "a"}, headers=headers)).status_code == 403
    key_id = re.findall(r'action="/keys/(\w+)/revoke"', (await browser.get("/keys")).text)[0]
    assert (await browser.post(f"/keys/{key_id}/revoke")).status_code == 303
    assert (await browser.get("/v1/folders", headers=headers)).status_code == 401
    assert (await browser.post(f"/keys/{key_id}/revoke")).status_code == 404


async def test_speech_scope_requires_a_plan_with_speech(sign_in: SignIn, accounts: Accounts) -> None:
    browser = await sign_in(await accounts.person(plan=PlanName.FREE))
    refused = await browser.post("/keys", {"name": "a", "scope": "tts:read"})
    assert refused.status_code == 403
    assert "does not include speech" in refused.text


@pytest.mark.parametrize("fields", [{"name": ""}, {"name": "a", "scope": "everything"}])
async def test_key_requires_a_name_and_known_scopes(browser: Browser, fields: dict[str, str]) -> None:
    assert (await browser.post("/keys", fields)).status_code == 400
    assert "No API keys yet" in (await browser.get("/keys")).text


async def test_members_manage_their_own_keys_and_owners_all(
    sign_in: SignIn, accounts: Accounts, person: Person
) -> None:
    workspace_id, guest = await accounts.workspace(person), await accounts.person()
    await accounts.member(workspace_id, guest, role=Role.EDITOR)
    owner_browser, guest_browser = await sign_in(person), await sign_in(guest)
    for browser in (owner_browser, guest_browser):
        assert (await browser.post("/switch", {"library": workspace_id})).status_code == 303
    await make(owner_browser, "of-the-owner")
    await make(guest_browser, "of-the-guest")
    assert "of-the-owner" not in (await guest_browser.get("/keys")).text
    page = (await owner_browser.get("/keys")).text
    assert "of-the-guest" in page
    newest, oldest = re.findall(r'action="/keys/(\w+)/revoke"', page)
    assert (await guest_browser.post(f"/keys/{oldest}/revoke")).status_code == 404
    assert (await owner_browser.post(f"/keys/{newest}/revoke")).status_code == 303
