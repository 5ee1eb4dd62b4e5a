"""Removing a member ends everything through which they could still receive something."""

import base64
import hashlib
from dataclasses import dataclass
from datetime import timedelta

import httpx
import pytest

from cutroom.accounts.oauth import Consent, OAuthError, OAuthTokenService, register_client
from cutroom.accounts.principals import Role
from cutroom.accounts.scopes import Scope
from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.web.runtime import Runtime
from cutroom.webhooks.deliveries import Delivery, load_webhook
from cutroom.webhooks.publishing import publish_event
from cutroom.webhooks.service import MEMBER_REMOVED
from dev.scratch import Accounts, Keyring, Person
from tests.console.conftest import Browser, SignIn

URL = "https://hooks.example.com/guest"


@dataclass
class Team:
    """A workspace with an owner at a browser, and a guest with a key."""

    workspace_id: str
    owner: Browser
    guest: Person
    key: Keyring

    async def remove(self) -> httpx.Response:
        return await self.owner.post(f"/workspace/members/{self.guest.user_id}", {"role": "remove"})


@pytest.fixture
async def team(browser: Browser, accounts: Accounts, person: Person) -> Team:
    workspace_id, guest = await accounts.workspace(person), await accounts.person()
    await accounts.member(workspace_id, guest, role=Role.ADMIN)
    await browser.post("/switch", {"library": workspace_id})
    return Team(workspace_id, browser, guest, await accounts.key(guest, library_id=workspace_id))


async def status_of(anonymous: httpx.AsyncClient, key: Keyring, path: str = "/videos") -> int:
    return (await anonymous.get(path, headers=key.headers)).status_code


async def test_keys_stay_revoked_after_the_member_returns(
    team: Team, accounts: Accounts, anonymous: httpx.AsyncClient
) -> None:
    assert await status_of(anonymous, team.key) == 200
    assert (await team.remove()).status_code == 303
    assert await status_of(anonymous, team.key) == 401
    await accounts.member(team.workspace_id, team.guest, role=Role.ADMIN)
    assert await status_of(anonymous, team.key) == 401


async def test_session_loses_the_workspace(team: Team, sign_in: SignIn) -> None:
    guest = await sign_in(team.guest)
    await guest.post("/switch", {"library": team.workspace_id})
    assert (await guest.get("/workspace")).text.count(team.guest.email)
    await team.remove()
    assert (await guest.post("/switch", {"library": team.workspace_id})).status_code == 404
    assert "Invite" not in (await guest.get("/workspace")).text


async def test_oauth_tokens_and_refresh_tokens_are_revoked(
    team: Team, accounts: Accounts, runtime: Runtime, anonymous: httpx.AsyncClient
) -> None:
    now, service, redirect = system_clock(), OAuthTokenService(runtime.secret_box), "https://app.example.com/back"
    client = await register_client(accounts.connection, "App", [redirect], owner_id=None, now=now)
    verifier = "v" * 43
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    consent = Consent(
        client.id, team.guest.user_id, team.workspace_id, frozenset({Scope.TTS_READ}), redirect, challenge
    )
    async with runtime.database.transaction(team.workspace_id) as connection:
        issued = await service.issue_code(connection, consent, now=now)
        pair = await service.exchange(
            connection, issued.code, client_id=client.id, redirect_uri=redirect, verifier=verifier, now=now
        )
    bearer = {"Authorization": f"Bearer {pair.access}"}
    before = (await anonymous.get("/voices", headers=bearer)).status_code
    await team.remove()
    after = (await anonymous.get("/voices", headers=bearer)).status_code
    assert (before, after) == (200, 401)
    await accounts.member(team.workspace_id, team.guest, role=Role.ADMIN)
    async with runtime.database.connection() as connection, connection.transaction():
        with pytest.raises(OAuthError, match="no longer valid"):
            await service.refresh(connection, pair.refresh, client_id=client.id, scope="", now=now)


async def test_webhook_endpoint_is_disabled_with_a_reason_and_an_entry(
    team: Team, accounts: Accounts, runtime: Runtime, anonymous: httpx.AsyncClient, person: Person
) -> None:
    created = (await anonymous.post("/webhook-endpoints", json={"url": URL}, headers=team.key.headers)).json()
    own = await accounts.key(person, library_id=team.workspace_id)
    async with runtime.database.transaction(team.workspace_id) as connection:
        data = {"id": "import_x"}
        event_id = await publish_event(connection, team.workspace_id, type="job.ready", data=data, now=system_clock())
    await team.remove()
    shown = (await anonymous.get(f"/webhook-endpoints/{created['id']}", headers=own.headers)).json()
    assert (shown["enabled"], shown["disabledReason"]) == (False, MEMBER_REMOVED)
    delivery = Delivery(team.workspace_id, event_id, created["id"])
    async with runtime.database.transaction(team.workspace_id) as connection:
        assert await load_webhook(connection, delivery, secret_box=runtime.secret_box) is None
    entries = await accounts.connection.fetch(
        "SELECT action, targets FROM audit_entries WHERE library_id = $1 ORDER BY sequence DESC LIMIT 2",
        team.workspace_id,
    )
    assert [row["action"] for row in entries] == ["webhookEndpoint.disable", "member.remove"]
    assert MEMBER_REMOVED in (await team.owner.get(f"/webhooks/{created['id']}")).text
    again = await anonymous.post("/webhook-endpoints", json={"url": URL}, headers=own.headers)
    assert again.status_code == 201


async def test_endpoint_registered_while_its_member_was_removed_receives_nothing(
    team: Team, accounts: Accounts, runtime: Runtime, anonymous: httpx.AsyncClient
) -> None:
    created = (await anonymous.post("/webhook-endpoints", json={"url": URL}, headers=team.key.headers)).json()
    await accounts.connection.execute(
        "DELETE FROM members WHERE user_id = $1 AND library_id = $2", team.guest.user_id, team.workspace_id
    )
    async with runtime.database.transaction(team.workspace_id) as connection:
        event_id = await publish_event(
            connection, team.workspace_id, type="job.ready", data={"id": "x"}, now=system_clock()
        )
        delivery = Delivery(team.workspace_id, event_id, created["id"])
        assert await load_webhook(connection, delivery, secret_box=runtime.secret_box) is None


async def test_invitations_by_and_to_the_member_end(team: Team, accounts: Accounts) -> None:
    now, rows = system_clock(), []
    for email, inviter in (("second@example.com", team.guest.user_id), (team.guest.email, new_id())):
        rows.append(new_id())
        await accounts.connection.execute(
            """INSERT INTO invitations (library_id, id, email, role, hash, invited_by, created_at, expires_at)
               VALUES ($1, $2, $3, 'admin', $4, $5, $6, $7)""",
            team.workspace_id,
            rows[-1],
            email,
            rows[-1].encode(),
            inviter,
            now,
            now + timedelta(days=1),
        )
    await team.remove()
    open_ones = await accounts.connection.fetchval(
        "SELECT count(*) FROM invitations WHERE id = ANY ($1) AND ended_at IS NULL", rows
    )
    assert open_ones == 0
