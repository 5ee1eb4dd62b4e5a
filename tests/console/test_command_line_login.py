"""Tests the browser login of the command line: consent, the key that it creates, misuse, and revocation."""

import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from cutroom.accounts.command_line import COMMAND_LINE, is_loopback_redirect, key_name
from cutroom.accounts.scopes import ALL_SCOPES
from dev.scratch import Accounts, Person
from tests.accounts.test_oauth import CHALLENGE, VERIFIER
from tests.console.conftest import Browser

CALLBACK = "http://127.0.0.1:49152/callback"
ASKED = {
    "response_type": "code",
    "client_id": COMMAND_LINE.id,
    "redirect_uri": CALLBACK,
    "state": "s t&",
    "code_challenge": CHALLENGE,
    "code_challenge_method": "S256",
}
EVERYTHING = sorted(scope.value for scope in ALL_SCOPES)
Form = dict[str, str | list[str]]


async def consent(browser: Browser, library_id: str, *, scopes: list[str] = EVERYTHING, **changes: str) -> str:
    """Allows the login, and returns the code."""
    form: Form = {**ASKED, "library": library_id, "scope_granted": scopes, "answer": "allow", **changes}
    sent = await browser.post("/oauth/authorize", form)
    target = urlsplit(sent.headers["location"])
    answer = parse_qs(target.query)
    assert (target.scheme, target.netloc, target.path) == ("http", "127.0.0.1:49152", "/callback")
    assert (answer["state"], "iss" in answer) == (["s t&"], True)
    return answer["code"][0]


async def exchange(browser: Browser, code: str, **changes: str) -> tuple[int, dict[str, Any]]:
    fields = {
        "grant_type": "authorization_code",
        "client_id": COMMAND_LINE.id,
        "code": code,
        "redirect_uri": CALLBACK,
        "code_verifier": VERIFIER,
        "device_name": "laptop",
        **changes,
    }
    answer = await browser.client.post("/oauth/token", data=fields)
    assert answer.headers["cache-control"] == "no-store"
    return answer.status_code, answer.json()


async def status_with(browser: Browser, key: str) -> int:
    return (await browser.get("/v1/videos", headers={"Authorization": f"Bearer {key}"})).status_code


async def actions(accounts: Accounts, library_id: str) -> list[tuple[str, str]]:
    rows = await accounts.connection.fetch(
        "SELECT action, actor_kind FROM audit_entries WHERE library_id = $1 ORDER BY sequence", library_id
    )
    return [(row["action"], row["actor_kind"]) for row in rows]


async def test_a_login_creates_a_key_of_the_selected_library(
    browser: Browser, accounts: Accounts, person: Person
) -> None:
    workspace_id = await accounts.workspace(person)
    page = await browser.get("/oauth/authorize", params=ASKED)
    assert "Sign in to the Cutroom command line?" in page.text
    assert "127.0.0.1:49152" in page.text
    assert page.text.count('name="scope_granted"') == len(ALL_SCOPES)
    assert "http://127.0.0.1:49152" in page.headers["content-security-policy"]
    status, answer = await exchange(browser, await consent(browser, workspace_id))
    assert (status, answer["token_type"], answer["scope"].split()) == (200, "Bearer", EVERYTHING)
    assert answer["access_token"].startswith("cr_")
    assert "refresh_token" not in answer
    row = await accounts.connection.fetchrow(
        "SELECT library_id, user_id, name FROM api_keys WHERE hint = $1 AND library_id = $2",
        answer["access_token"][-4:],
        workspace_id,
    )
    assert row is not None
    assert tuple(row) == (workspace_id, person.user_id, "Command line on laptop")
    assert await status_with(browser, answer["access_token"]) == 200
    assert await actions(accounts, workspace_id) == [("oauth.grant", "person"), ("key.create", "token")]


async def test_a_key_has_only_the_ticked_scopes(browser: Browser, person: Person) -> None:
    chosen = ["jobs:read", "videos:read"]
    _, answer = await exchange(browser, await consent(browser, person.library_id, scopes=chosen))
    assert answer["scope"].split() == chosen
    more = await consent(browser, person.library_id, scopes=[*chosen, "videos:write"], scope="videos:read")
    assert (await exchange(browser, more))[1]["scope"] == "videos:read"
    form: Form = {**ASKED, "library": person.library_id, "scope_granted": ["everything"], "answer": "allow"}
    refused = await browser.post("/oauth/authorize", form)
    assert (refused.status_code, "location" in refused.headers) == (400, False)


async def test_the_key_is_listed_and_revoked_like_any_other(browser: Browser, person: Person) -> None:
    _, answer = await exchange(browser, await consent(browser, person.library_id))
    page = (await browser.get("/keys")).text
    assert "Command line on laptop" in page
    found = re.search(r"/keys/([0-9a-z]{26})/revoke", page)
    assert found is not None
    assert (await browser.post(f"/keys/{found[1]}/revoke")).status_code == 303
    assert await status_with(browser, answer["access_token"]) == 401


@pytest.mark.parametrize("ending", ["reused code", "logout"])
async def test_reuse_and_logout_revoke_the_key(
    browser: Browser, accounts: Accounts, person: Person, ending: str
) -> None:
    workspace_id = await accounts.workspace(person)
    code = await consent(browser, workspace_id)
    _, answer = await exchange(browser, code)
    if ending == "reused code":
        assert (await exchange(browser, code))[1]["error"] == "invalid_grant"
    else:
        fields = {"client_id": COMMAND_LINE.id, "token": answer["access_token"]}
        assert (await browser.client.post("/oauth/revoke", data=fields)).status_code == 200
    assert await status_with(browser, answer["access_token"]) == 401
    assert (await actions(accounts, workspace_id))[-1] == ("key.revoke", "token")


async def test_keys_that_no_login_has_created_are_not_revoked(
    browser: Browser, accounts: Accounts, person: Person
) -> None:
    key = await accounts.key(person)
    fields = {"client_id": COMMAND_LINE.id, "token": key.secret}
    assert (await browser.client.post("/oauth/revoke", data=fields)).status_code == 200
    assert await status_with(browser, key.secret) == 200


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"code_verifier": "x" * 43}, "invalid_grant"),
        ({"code_verifier": ""}, "invalid_grant"),
        ({"redirect_uri": "http://127.0.0.1:49153/callback"}, "invalid_grant"),
        ({"grant_type": "refresh_token", "refresh_token": "ort_unknown"}, "invalid_grant"),
        ({"grant_type": "password"}, "unsupported_grant_type"),
        ({"client_secret": "x"}, "invalid_client"),
        ({"client_id": "cutroom-cli2"}, "invalid_client"),
    ],
)
async def test_a_wrong_exchange_creates_no_key(
    browser: Browser, accounts: Accounts, person: Person, changes: dict[str, str], error: str
) -> None:
    code = await consent(browser, person.library_id)
    status, answer = await exchange(browser, code, **changes)
    assert (status, answer["error"]) == (401 if error == "invalid_client" else 400, error)
    count = "SELECT count(*) FROM api_keys WHERE library_id = $1"
    assert await accounts.connection.fetchval(count, person.library_id) == 0
    assert (await exchange(browser, code))[0] == 200  # the control: the code itself was valid


async def test_a_code_expires_after_a_minute(browser: Browser, accounts: Accounts, person: Person) -> None:
    code = await consent(browser, person.library_id)
    await accounts.connection.execute(
        "UPDATE oauth_grants SET code_expires_at = now() - interval '1 second' WHERE library_id = $1", person.library_id
    )
    assert (await exchange(browser, code))[1]["error"] == "invalid_grant"


@pytest.mark.parametrize(
    "uri",
    [
        "http://localhost:49152/callback",
        "https://127.0.0.1:49152/callback",
        "http://127.0.0.1/callback",
        "http://127.0.0.1:70000/callback",
        "http://127.0.0.1:80/callback",
        "http://127.0.0.1:049152/callback",
        "http://127.0.0.1:49152/callback/",
        "http://127.0.0.1:49152/callback?next=x",
        "http://127.0.0.1:49152/callback#x",
        "http://127.0.0.1:49152/Callback",
        "http://127.0.0.1:49152@evil.example/callback",
        "http://127.0.0.1.evil.example:49152/callback",
        "http://[::1]:49152/callback",
        "http://127.0.0.1:49152/callback\n",
        "http://127.0.0.1:٤٩١٥٢/callback",
        "cutroom://callback",
    ],
)
async def test_other_redirects_are_shown_and_not_followed(browser: Browser, uri: str) -> None:
    assert not is_loopback_redirect(uri)
    shown = await browser.get("/oauth/authorize", params={**ASKED, "redirect_uri": uri})
    assert (shown.status_code, "location" in shown.headers) == (400, False)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"state": ""}, "invalid_request"),
        ({"scope": "everything"}, "invalid_scope"),
    ],
)
async def test_faulty_requests_return_to_the_command_line(
    browser: Browser, person: Person, changes: dict[str, str], error: str
) -> None:
    shown = await browser.get("/oauth/authorize", params={**ASKED, **changes})
    assert parse_qs(urlsplit(shown.headers["location"]).query)["error"] == [error]
    form: Form = {**ASKED, "library": person.library_id, "scope_granted": EVERYTHING, "answer": "allow", **changes}
    sent = await browser.post("/oauth/authorize", form)
    assert parse_qs(urlsplit(sent.headers["location"]).query)["error"] == [error]


async def test_consent_needs_a_session_a_csrf_token_and_a_library_of_the_person(
    browser: Browser, outsider: Browser, person: Person, accounts: Accounts
) -> None:
    form: Form = {**ASKED, "library": person.library_id, "scope_granted": EVERYTHING, "answer": "allow"}
    assert (await browser.client.post("/oauth/authorize", data=form)).status_code == 403
    crossed = {**form, "csrf": await browser.token()}
    headers = {"Origin": "https://evil.example"}
    assert (await browser.client.post("/oauth/authorize", data=crossed, headers=headers)).status_code == 403
    signed_out = await outsider.get("/oauth/authorize", params=ASKED)
    assert signed_out.headers["location"].startswith("/sign-in?next")
    third = await accounts.person()
    foreign = await browser.post("/oauth/authorize", {**form, "library": third.library_id})
    assert (foreign.status_code, "location" in foreign.headers) == (400, False)
    denied = await browser.post("/oauth/authorize", {**form, "answer": "deny"})
    assert parse_qs(urlsplit(denied.headers["location"]).query)["error"] == ["access_denied"]


def test_keys_are_named_after_the_computer() -> None:
    assert key_name("laptop") == "Command line on laptop"
    assert key_name(" \x1b[31m\n") == "Command line on [31m"
    assert key_name("\n") == "Command line"
    assert len(key_name("x" * 1000)) <= 120
