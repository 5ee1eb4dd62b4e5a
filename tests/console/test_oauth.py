"""Tests OAuth consent, token exchange and app registration; `just prove oauth` covers misuse."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from cutroom.accounts.oauth import OAuthClientInfo, register_client
from cutroom.platform.clock import system_clock
from dev.scratch import Accounts, Person
from tests.accounts.test_oauth import CHALLENGE, VERIFIER
from tests.console.conftest import Browser

CALLBACK = "https://app.example.com/callback?from=cutroom"


@pytest.fixture
async def program(accounts: Accounts) -> OAuthClientInfo:
    return await register_client(accounts.connection, "Reader", [CALLBACK], owner_id=None, now=system_clock())


def asked(program: OAuthClientInfo) -> dict[str, str]:
    return {
        "response_type": "code",
        "client_id": program.id,
        "redirect_uri": CALLBACK,
        "scope": "tts:read",
        "state": "s t&",
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
    }


async def exchange(browser: Browser, program: OAuthClientInfo, code: str) -> dict[str, Any]:
    fields = {
        "grant_type": "authorization_code",
        "client_id": program.id,
        "code": code,
        "redirect_uri": CALLBACK,
        "code_verifier": VERIFIER,
    }
    answer = await browser.client.post("/oauth/token", data=fields)
    assert answer.headers["cache-control"] == "no-store"
    found: dict[str, Any] = answer.json()
    return found


async def test_consent_binds_tokens_to_the_selected_library(
    browser: Browser, program: OAuthClientInfo, accounts: Accounts, person: Person
) -> None:
    workspace_id = await accounts.workspace(person)
    page = await browser.get("/oauth/authorize", params=asked(program))
    assert "Allow Reader to access Cutroom?" in page.text
    assert "https://app.example.com" in page.headers["content-security-policy"]
    sent = await browser.post("/oauth/authorize", {**asked(program), "library": workspace_id, "answer": "allow"})
    target = urlsplit(sent.headers["location"])
    answer = parse_qs(target.query)
    assert (target.netloc, answer["from"], answer["state"]) == ("app.example.com", ["cutroom"], ["s t&"])
    tokens = await exchange(browser, program, answer["code"][0])
    assert (tokens["token_type"], tokens["expires_in"], tokens["scope"]) == ("Bearer", 3600, "tts:read")
    row = await accounts.connection.fetchrow(
        "SELECT library_id, user_id FROM oauth_tokens WHERE client_id = $1", program.id
    )
    assert row is not None
    assert tuple(row) == (workspace_id, person.user_id)
    voices = await browser.get("/v1/voices", headers={"Authorization": f"Bearer {tokens['access_token']}"})
    assert voices.status_code == 200
    assert (await exchange(browser, program, answer["code"][0]))["error"] == "invalid_grant"
    voices = await browser.get("/v1/voices", headers={"Authorization": f"Bearer {tokens['access_token']}"})
    assert voices.status_code == 401


async def test_grants_and_revocations_are_logged_in_the_selected_library(
    browser: Browser, program: OAuthClientInfo, accounts: Accounts, person: Person
) -> None:
    workspace_id = await accounts.workspace(person)
    fields = {**asked(program), "library": workspace_id, "answer": "allow"}
    for ending in ("reused code", "revoked token", "unknown token"):
        sent = await browser.post("/oauth/authorize", fields)
        code = parse_qs(urlsplit(sent.headers["location"]).query)["code"][0]
        tokens = await exchange(browser, program, code)
        if ending == "reused code":
            await exchange(browser, program, code)
        else:
            token = tokens["refresh_token"] if ending == "revoked token" else "ort_unknown"
            revoked = await browser.client.post("/oauth/revoke", data={"client_id": program.id, "token": token})
            assert revoked.status_code == 200
    rows = await accounts.connection.fetch(
        """SELECT action, actor_kind, user_id, targets->>'clientId' AS client_id FROM audit_entries
           WHERE library_id = $1 ORDER BY sequence""",
        workspace_id,
    )
    granted, ended = ("oauth.grant", "person", person.user_id), ("oauth.revoke", "token", None)
    assert [tuple(row)[:3] for row in rows] == [granted, ended, granted, ended, granted]
    assert {row["client_id"] for row in rows} == {program.id}
    exists = "SELECT EXISTS (SELECT FROM audit_entries WHERE library_id = $1)"
    assert not await accounts.connection.fetchval(exists, person.library_id)


async def test_users_register_and_delete_apps(browser: Browser, outsider: Browser) -> None:
    refused = await browser.post("/apps", {"name": "Mine", "redirects": "http://elsewhere.example/"})
    assert refused.status_code == 400
    assert "Use https" in refused.text
    assert (await browser.post("/apps", {"name": "<b>Mine</b>", "redirects": CALLBACK})).status_code == 303
    page = (await browser.get("/apps")).text
    assert "&lt;b&gt;Mine&lt;/b&gt;" in page
    client_id = page.split("<code>", 1)[1].split("</code>", 1)[0]
    assert (await browser.post(f"/apps/{client_id}/remove")).status_code == 303
    assert (await browser.post(f"/apps/{client_id}/remove")).status_code == 404
    metadata = (await outsider.get("/.well-known/oauth-authorization-server")).json()
    assert metadata["code_challenge_methods_supported"] == ["S256"]
