"""Runs admin commands: those that change something leave an entry, and `admin audit verify` finds manipulations."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from cutroom.audit import service
from cutroom.audit.service import AuditFilter
from cutroom.platform.settings import Settings
from dev.scratch import Accounts, environment_of
from proofs.audit.tally import AuditTally

COMMAND = (sys.executable, "-m", "cutroom.entrypoints.cli", "admin")
MAX_ENTRIES = 100
ACTOR = {"kind": "system", "id": "admin"}


async def prove_admin_actions(accounts: Accounts, settings: Settings, tally: AuditTally) -> None:
    """An operator's reset of a second factor, apps, and a rotation of the key ring."""
    operator, person = Operator(accounts, settings, tally), await accounts.person()
    targets = {"userId": person.user_id}
    reset = ("account", "reset-second-factor", person.email)
    await operator.act("secondFactor.reset", reset, library_id=person.library_id, targets=targets)
    create = ("client", "create", "Reader", "--redirect", "https://reader.example.com/callback")
    client_id = (await operator.act("oauth.client.create", create)).get("clientId", "")
    await operator.act("oauth.client.revoke", ("client", "revoke", client_id), targets={"clientId": client_id})
    await operator.act("keyRing.rotate", ("keys", "rotate"))


@dataclass(frozen=True)
class Operator:
    """Runs commands that change something."""

    accounts: Accounts
    settings: Settings
    tally: AuditTally

    async def act(
        self,
        action: str,
        arguments: Sequence[str],
        *,
        library_id: str = service.INSTALLATION,
        targets: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Runs a command, checks the entry that it left, and returns its output."""
        before = await service.read_head(self.accounts.connection, library_id)
        code, result = await _run(self.settings, *arguments)
        if code != 0:
            self.tally.skipped.add(f"{action}: {code} {result}")
            return {}
        name = f"{action} (command)"  # users have actions of the same name
        entries = await self._entries_after(before.sequence, library_id)
        self.tally.check(name, entries, actor=ACTOR, targets=targets or {}, is_request=False)
        return result

    async def _entries_after(self, sequence: int, library_id: str) -> list[dict[str, Any]]:
        found, _ = await service.list_entries(
            self.accounts.connection, library_id, AuditFilter(), before=None, limit=MAX_ENTRIES
        )
        return [
            {
                "action": f"{each.entry.action} (command)",
                "actor": {"kind": each.entry.actor_kind, "id": each.entry.actor_id},
                "targets": each.entry.targets,
            }
            for each in found
            if each.entry.sequence > sequence
        ]


async def prove_command(client: httpx.AsyncClient, accounts: Accounts, settings: Settings) -> list[str]:
    """What the command gets wrong."""
    person, connection, wrong = await accounts.person(), accounts.connection, []
    headers = (await accounts.key(person)).headers
    for name in ("Talks", "Lectures"):
        (await client.post("/v1/folders", json={"name": name}, headers=headers)).raise_for_status()
    head = await service.read_head(connection, person.library_id)
    code, result = await _run(settings, "audit", "verify")
    if code != 0 or not result["ok"]:
        wrong.append(f"untouched logs: {code} {result}")
    async with connection.transaction():
        await connection.execute("ALTER TABLE audit_entries DISABLE TRIGGER USER")
        await connection.execute("DELETE FROM audit_entries WHERE library_id = $1 AND sequence = 2", person.library_id)
        await connection.execute(
            """UPDATE audit_heads h SET sequence = 1, hash = e.hash FROM audit_entries e
               WHERE h.library_id = $1 AND e.library_id = $1""",
            person.library_id,
        )
        await connection.execute("ALTER TABLE audit_entries ENABLE TRIGGER USER")
    code, result = await _run(settings, "audit", "verify", "--library", person.library_id, "--head", str(head))
    if code != 1 or result["ok"] or result["libraries"][0]["faultCount"] != 1:
        wrong.append(f"a truncated log against a kept head: {code} {result}")
    return wrong


async def _run(settings: Settings, *arguments: str) -> tuple[int, dict[str, Any]]:
    done = await asyncio.to_thread(
        subprocess.run,
        [*COMMAND, *arguments],
        env=environment_of(settings),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, json.loads(done.stdout or "{}") or {"ok": None, "stderr": done.stderr}
