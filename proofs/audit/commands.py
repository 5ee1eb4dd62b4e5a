"""Runs `cutroom-server admin audit verify` on an untouched and on a manipulated log."""

import asyncio
import json
import subprocess
import sys
from typing import Any

import httpx

from cutroom.audit import service
from cutroom.platform.settings import Settings
from dev.scratch import Accounts, environment_of

COMMAND = (sys.executable, "-m", "cutroom.entrypoints.cli", "admin", "audit", "verify")


async def prove_command(client: httpx.AsyncClient, accounts: Accounts, settings: Settings) -> list[str]:
    """What the command gets wrong."""
    person, connection, wrong = await accounts.person(), accounts.connection, []
    headers = (await accounts.key(person)).headers
    for name in ("Talks", "Lectures"):
        (await client.post("/v1/folders", json={"name": name}, headers=headers)).raise_for_status()
    head = await service.read_head(connection, person.library_id)
    code, result = await _run(settings)
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
    code, result = await _run(settings, "--library", person.library_id, "--head", str(head))
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
