"""Performs what protects an account, as its owner over HTTP: mailed links, codes, passkeys and sessions."""

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from cutroom.accounts.mails.service import MailRef, load_mail
from cutroom.accounts.passwords import hash_password
from cutroom.accounts.second_factor.rules import step_at, totp
from cutroom.platform.clock import system_clock
from cutroom.platform.settings import Settings
from cutroom.web.runtime import Runtime, open_runtime
from dev.scratch import Accounts, Person, environment_of
from dev.server import Server, free_port
from proofs.audit.console_actions import PASSWORD, ConsoleUser
from proofs.audit.operations import new_entries, untargeted
from proofs.audit.tally import AuditTally
from proofs.stage.oauth_client import BrowserUser
from tests.support.devices.software_authenticator import SoftwareAuthenticator

_CSRF = re.compile(r'name="csrf" value="([0-9a-f]+)"')
_SESSION = re.compile(r'action="(/account/sessions/\w+/end)"')
_SECRET = re.compile(r'<code class="break">([A-Z2-7 ]+)</code>')
_CODES = re.compile(r'<code id="recovery-codes">([^<]+)</code>')
_PENDING = re.compile(r'name="pending" value="([^"]+)"')


@dataclass
class AccountStage:
    """An API that sends mail, at a host where passkeys work. Mails stay where a worker would read them."""

    runtime: Runtime
    url: str
    accounts: Accounts
    tally: AuditTally

    async def console(self, api: httpx.AsyncClient) -> ConsoleUser:
        """A new user with a password. Each is throttled on their own."""
        person = await self.accounts.person()
        connection = self.accounts.connection
        await connection.execute("SELECT set_password($1, $2, now())", person.user_id, hash_password(PASSWORD))
        user = await BrowserUser.sign_in(self.runtime, self.url, person)
        return ConsoleUser(user, api, (await self.accounts.key(person)).headers, self.tally)

    async def secret_of_mail(self, person: Person, kind: str) -> str:
        """The secret of the last mailed link, as the worker reads it."""
        sql = "SELECT id FROM account_mails WHERE library_id = $1 AND kind = $2 ORDER BY id DESC LIMIT 1"
        ref = MailRef(person.library_id, await self.accounts.connection.fetchval(sql, person.library_id, kind))
        secret_box = self.runtime.secret_box
        mail = await load_mail(self.accounts.connection, ref, secret_box=secret_box, now=system_clock())
        assert mail is not None
        assert mail.secret is not None
        return mail.secret


async def prove_account_actions(settings: Settings, accounts: Accounts, tally: AuditTally) -> None:
    port = free_port()
    changes = {
        "public_url": f"http://localhost:{port}",
        "smtp_host": "127.0.0.1",  # never called: no worker runs
        "mail_from": "Cutroom <cutroom@example.com>",
    }
    changed = settings.model_copy(update=changes)
    server = Server(environment_of(changed), port=port)
    server.start()
    try:
        async with open_runtime(changed) as runtime, httpx.AsyncClient(base_url=server.url, timeout=60) as api:
            stage = AccountStage(runtime, server.url, accounts, tally)
            await _prove_mails(stage, await stage.console(api))
            await _prove_sessions(stage, await stage.console(api))
            await _prove_second_factor(stage, await stage.console(api))
            await _prove_passkeys(stage, await stage.console(api), origin=changed.base_url)
    finally:
        server.stop()


async def _prove_mails(stage: AccountStage, console: ConsoleUser) -> None:
    person = console.user.person
    async with console.user.client:
        await console.act("email.requestVerification", "/account/verification")
        secret = await stage.secret_of_mail(person, "verify_email")
        await console.act("email.verify", f"/verify-email/{secret}", {"password": PASSWORD})
    await _act_signed_out(stage, console, ["password.requestReset"], "/forgot-password", {"email": person.email})
    link = f"/reset-password/{await stage.secret_of_mail(person, 'reset_password')}"
    await _act_signed_out(stage, console, ["password.reset"], link, {"password": PASSWORD + "!"})


async def _prove_sessions(stage: AccountStage, console: ConsoleUser) -> None:
    """Ends one other session, then all others."""
    async with console.user.client as client:
        for _ in range(3):
            await (await BrowserUser.sign_in(stage.runtime, stage.url, console.user.person)).client.aclose()
        ends = _SESSION.findall((await client.get("/account/sessions")).text)
        await console.act("session.end", ends[0])
        await console.act("session.end", "/account/sessions/end-others")


async def _prove_second_factor(stage: AccountStage, console: ConsoleUser) -> None:
    async with console.user.client:
        await console.act("secondFactor.setUp", "/account/second-factor/setup", {"password": PASSWORD})
        text = _found(_SECRET, console.page).replace(" ", "")
        secret, used = base64.b32decode(text + "=" * (-len(text) % 8)), 0

        def code() -> dict[str, str]:
            """Three different codes are valid at any time; each works once."""
            nonlocal used
            used = max(used + 1, step_at(system_clock()) - 1)
            return {"code": totp(secret, used)}

        await console.act("secondFactor.enable", "/account/second-factor/enable", code())
        recovery_code = _found(_CODES, console.page).split()[0]
        await _sign_in_with_code(stage, console, recovery_code)
        confirmed = {"password": PASSWORD, **code()}
        await console.act("recoveryCodes.create", "/account/second-factor/recovery-codes", confirmed)
        await console.act("secondFactor.disable", "/account/second-factor/disable", {"password": PASSWORD, **code()})


async def _sign_in_with_code(stage: AccountStage, console: ConsoleUser, code: str) -> None:
    _, last = await new_entries(console.api, console.headers, 0)
    async with httpx.AsyncClient(base_url=stage.url, timeout=60) as client:
        fields = {"email": console.user.person.email, "password": PASSWORD, "next": "/account"}
        asked = await _submit(client, "/sign-in", fields)
        if (await new_entries(console.api, console.headers, last))[0]:
            stage.tally.wrong.append("a password without its code left an entry")
        await _submit(client, "/sign-in/code", {"pending": _found(_PENDING, asked.text), "code": code})
    await _check(console, ["recoveryCode.use", "session.create"], last)


async def _prove_passkeys(stage: AccountStage, console: ConsoleUser, *, origin: str) -> None:
    device, client = SoftwareAuthenticator(origin), console.user.client
    async with client:
        form = {"csrf": await console.user.csrf(), "password": PASSWORD}
        asked = (await client.post("/account/passkeys/options", data=form)).json()
        fields = {"credential": device.create(asked["options"]), "state": asked["state"], "name": "Laptop"}
        created = await console.act("passkey.create", "/account/passkeys", fields)
        _, last = await new_entries(console.api, console.headers, 0)
        async with httpx.AsyncClient(base_url=stage.url, timeout=60) as elsewhere:
            asked = (await _submit(elsewhere, "/sign-in/passkey/options", {})).json()
            fields = {"credential": device.get(asked["options"]), "state": asked["state"], "next": "/account"}
            await _submit(elsewhere, "/sign-in/passkey", fields)
        await _check(console, ["passkey.use", "session.create"], last)
        await console.act("passkey.delete", f"/account/passkeys/{created['targets']['passkeyId']}/delete")


async def _act_signed_out(
    stage: AccountStage, console: ConsoleUser, actions: Sequence[str], path: str, fields: Mapping[str, str]
) -> None:
    _, last = await new_entries(console.api, console.headers, 0)
    async with httpx.AsyncClient(base_url=stage.url, timeout=60) as client:
        await _submit(client, path, fields)
    await _check(console, actions, last)


async def _check(console: ConsoleUser, actions: Sequence[str], last: int) -> None:
    """Checks that exactly these entries are new, in this order."""
    entries: list[dict[str, Any]] = [*reversed((await new_entries(console.api, console.headers, last))[0])]
    if len(entries) != len(actions):
        console.tally.wrong.append(f"{actions}: left {[entry['action'] for entry in entries]}")
    actor = {"kind": "person", "userId": console.user.person.user_id}
    for action, entry in zip(actions, entries, strict=False):
        console.tally.check(action, [entry | untargeted(entry)], actor=actor, targets={})


async def _submit(client: httpx.AsyncClient, path: str, fields: Mapping[str, str]) -> httpx.Response:
    """Submits a form as a browser without a session."""
    csrf = _found(_CSRF, (await client.get("/sign-in")).text)
    response = await client.post(path, data={"csrf": csrf, **fields})
    assert response.status_code in {200, 303}, response.text
    return response


def _found(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    assert match is not None, pattern.pattern
    return match[1]
