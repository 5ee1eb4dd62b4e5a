"""Performs changes that only the console offers, as a signed-in user over HTTP."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from cutroom.accounts.passwords import hash_password
from cutroom.accounts.principals import PrincipalKind
from cutroom.platform.ids import new_id
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from proofs.audit.operations import new_entries, untargeted
from proofs.audit.tally import AuditTally
from proofs.stage.oauth_client import CALLBACK, AuthorizationRequest, BrowserUser

PASSWORD = "a long enough phrase"  # noqa: S105 (of a scratch user)
_INVITATION = re.compile(r'action="(/workspace/invitations/\w+/end)"')
_LINK = re.compile(r'<code id="link">http://[^/]+(/invitations/[\w-]+)</code>')


@dataclass
class ConsoleUser:
    """A user with a session and with a key to read the log."""

    user: BrowserUser
    api: httpx.AsyncClient
    headers: Mapping[str, str]
    tally: AuditTally
    page: str = ""  # the response to the last form

    async def act(self, action: str, path: str, fields: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Submits a form, checks the entry that it left, and returns the entry."""
        _, last = await new_entries(self.api, self.headers, 0)
        response = await self.user.client.post(path, data={"csrf": await self.user.csrf(), **(fields or {})})
        self.page = response.text
        if response.status_code >= 400:
            self.tally.skipped.add(f"{action}: {response.status_code}")
            return {}
        entries, _ = await new_entries(self.api, self.headers, last)
        actor = {"kind": PrincipalKind.PERSON.value, "userId": self.user.person.user_id}
        self.tally.check(action, [entry | untargeted(entry) for entry in entries], actor=actor, targets={})
        return entries[0] if entries else {}


async def prove_console_actions(runtime: Runtime, url: str, accounts: Accounts, tally: AuditTally) -> None:
    person = await accounts.person()
    await accounts.connection.execute("SELECT set_password($1, $2, now())", person.user_id, hash_password(PASSWORD))
    user = await BrowserUser.sign_in(runtime, url, person)
    async with httpx.AsyncClient(base_url=url, timeout=60) as api, user.client:
        console = ConsoleUser(user, api, (await accounts.key(person)).headers, tally)
        await _prove_settings(console)
        await _prove_credentials(console, person)
        await _prove_workspace(console, runtime, accounts, url)
        await console.act("password.change", "/account/password", {"current": PASSWORD, "password": PASSWORD + "!"})
        await console.act("session.end", "/sign-out")
        await _prove_sign_in(console, person, url)
        await _prove_sign_up(console, accounts, url)


async def _prove_settings(console: ConsoleUser) -> None:
    folder = await console.act("createFolder", "/library/folders", {"name": "Talks"})
    folder_id = folder["targets"]["id"]
    await console.act("updateFolder", f"/library/folders/{folder_id}/rename", {"name": "Lectures"})
    await console.act("deleteFolder", f"/library/folders/{folder_id}/delete")
    brand = {"name": "Quiet", "guidelines": "Whisper.", "colors": ""}
    brand_id = (await console.act("brandVoice.create", "/brand-voices", brand))["targets"]["brandVoiceId"]
    await console.act("updateBrandVoice", f"/brand-voices/{brand_id}", {**brand, "name": "Loud"})
    await console.act("deleteBrandVoice", f"/brand-voices/{brand_id}/delete")
    await console.act("library.change", "/credits/drafts", {"drafts": "refuse"})
    times = {"originalsDays": "365", "intermediatesDays": "30", "outputsDays": ""}
    await console.act("updateRetention", "/storage", times)
    registered = {"url": "https://hooks.example.com/audit", "events": "job.ready"}
    hook = await console.act("createWebhookEndpoint", "/webhooks", registered)
    endpoint_id = hook["targets"]["id"]
    await console.act("sendTestWebhook", f"/webhooks/{endpoint_id}/test")
    await console.act("deleteWebhookEndpoint", f"/webhooks/{endpoint_id}/delete")


async def _prove_credentials(console: ConsoleUser, person: Person) -> None:
    key_id = (await console.act("key.create", "/keys", {"name": "Nightly"}))["targets"]["keyId"]
    await console.act("key.revoke", f"/keys/{key_id}/revoke")
    client = await console.act("oauth.client.create", "/apps", {"name": "Reader", "redirects": CALLBACK})
    request = AuthorizationRequest(client["targets"]["clientId"])
    consent = {**request.fields(), "library": person.library_id, "answer": "allow"}
    grant = await console.act("oauth.grant", "/oauth/authorize", consent)
    await console.act("oauth.revoke", f"/apps/connections/{grant['targets']['grantId']}/end")
    await console.act("oauth.client.revoke", f"/apps/{request.client_id}/remove")


async def _prove_workspace(console: ConsoleUser, runtime: Runtime, accounts: Accounts, url: str) -> None:
    """The workspace has a log of its own, which starts with its creation."""
    user, personal = console.user, console.headers
    await user.client.post("/workspace", data={"csrf": await user.csrf(), "name": "Team"})
    workspace_id = await accounts.connection.fetchval(
        """SELECT m.library_id FROM members m JOIN libraries l ON l.id = m.library_id
           WHERE m.user_id = $1 AND l.kind = 'workspace'""",
        user.person.user_id,
    )
    console.headers = (await accounts.key(user.person, library_id=workspace_id)).headers
    entries, _ = await new_entries(console.api, console.headers, 0)
    actor = {"kind": PrincipalKind.PERSON.value, "userId": user.person.user_id}
    console.tally.check("workspace.create", [entry | untargeted(entry) for entry in entries], actor=actor, targets={})
    guest = await accounts.person()
    invited = await user.client.post(
        "/workspace/invitations", data={"csrf": await user.csrf(), "email": guest.email, "role": "viewer"}
    )
    await console.act("member.invite", "/workspace/invitations", {"email": "a@example.com", "role": "viewer"})
    ends = _INVITATION.findall((await user.client.get("/workspace")).text)
    await console.act("invitation.revoke", ends[0])
    link = _LINK.search(invited.text)
    assert link is not None
    joining = await BrowserUser.sign_in(runtime, url, guest)
    async with joining.client:
        await ConsoleUser(joining, console.api, console.headers, console.tally).act("invitation.accept", link[1])
    await console.act("member.change", f"/workspace/members/{guest.user_id}", {"role": "editor"})
    await console.act("member.remove", f"/workspace/members/{guest.user_id}", {"role": "remove"})
    console.headers = personal


async def _prove_sign_in(console: ConsoleUser, person: Person, url: str) -> None:
    _, last = await new_entries(console.api, console.headers, 0)
    await _submit(url, "/sign-in", {"email": person.email, "password": PASSWORD + "!"})
    entries, _ = await new_entries(console.api, console.headers, last)
    console.tally.check(
        "session.create",
        [{**entry, "targets": {"library": "own"}} for entry in entries],
        actor={"kind": "person", "userId": person.user_id},
        targets={},
    )


async def _prove_sign_up(console: ConsoleUser, accounts: Accounts, url: str) -> None:
    """A new account has two entries: its creation and its first session."""
    email = f"{new_id()}@example.com"
    await _submit(url, "/sign-up", {"email": email, "name": "Ada", "password": PASSWORD})
    row = await accounts.connection.fetchrow(
        "SELECT m.user_id, m.library_id FROM members m JOIN users u ON u.id = m.user_id WHERE u.email = $1", email
    )
    assert row is not None
    person = Person(row["user_id"], row["library_id"], email)
    entries, _ = await new_entries(console.api, (await accounts.key(person)).headers, 0)
    if [entry["action"] for entry in entries] != ["session.create", "user.create"]:
        console.tally.wrong.append(f"a new account left {[entry['action'] for entry in entries]}")
    actor, targets = {"kind": "person", "userId": person.user_id}, {"userId": person.user_id}
    console.tally.check("user.create", entries[1:], actor=actor, targets=targets)


async def _submit(url: str, path: str, fields: Mapping[str, str]) -> None:
    """Submits a form as a browser without a session."""
    async with httpx.AsyncClient(base_url=url, timeout=60) as client:
        csrf = re.search(r'name="csrf" value="([0-9a-f]+)"', (await client.get(path)).text)
        assert csrf is not None
        response = await client.post(path, data={"csrf": csrf[1], "next": "/account", **fields})
        assert response.status_code == 303, response.text
