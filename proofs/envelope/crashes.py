"""Kills the API with SIGKILL at six points of a POST, and retries at another process."""

import asyncio
import sys
from collections import Counter
from contextlib import suppress

import httpx

from dev.child_process import die_with_parent
from dev.scratch import Accounts, Keyring, Person, environment_of
from dev.server import Server, free_port
from proofs.envelope.crashing_api import POINTS
from proofs.stage.report import Report

COMMITTED = {"after the commit", "while the response is sent"}  # committed; only the response was lost
START_SECONDS = 300.0  # to import the code on a busy machine; a process that ends is noticed at once
COUNT = """SELECT (SELECT count(*) FROM folders WHERE library_id = $1 AND name = $2),
                  (SELECT count(*) FROM idempotency_records WHERE library_id = $1 AND key = $2)"""


async def prove_crashes(report: Report, accounts: Accounts, *, repeats: int) -> None:
    environment = environment_of(accounts.settings)
    healthy = Server(environment)
    healthy.start()
    crashing = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "proofs.envelope.crashing_api"),
        env=environment,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        preexec_fn=die_with_parent,
    )
    outcomes: Counter[str] = Counter()
    person = await accounts.person()
    crash_test = CrashTest(accounts, crashing, healthy, person=person, key=await accounts.key(person))
    try:
        for point in POINTS:
            for number in range(repeats):
                outcomes.update(await crash_test.crash_at(point, f"{point} {number}"))
    finally:
        healthy.stop()
        crashing.kill()
        await crashing.wait()
    crashes = len(POINTS) * repeats
    report.claim(
        "processes killed with SIGKILL inside a POST",
        expected=str(crashes),
        measured=outcomes["died"],
        holds=outcomes["died"] == crashes,
    )
    for word in ("killed elsewhere", "partially committed", "duplicated", "lost", "with different responses"):
        report.claim(f"... requests {word}", expected="0", measured=outcomes[word], holds=outcomes[word] == 0)
    report.figures(
        crashes=outcomes["died"],
        crash_duplicates=outcomes["duplicated"],
        crash_lost=outcomes["lost"] + outcomes["partially committed"] + outcomes["with different responses"],
    )


class CrashTest:
    """A crashing API process for each request, and a healthy one for retries."""

    def __init__(
        self, accounts: Accounts, crashing: asyncio.subprocess.Process, healthy: Server, *, person: Person, key: Keyring
    ) -> None:
        self.accounts = accounts
        self.crashing = crashing
        self.healthy = healthy
        self.person = person
        self.key = key

    async def crash_at(self, point: str, name: str) -> list[str]:
        """Crash a POST at this point, inspect the database and retry; returns the outcomes."""
        outcomes = []
        if await self._post_until_crash(point, name):
            outcomes.append("died")
        folders, stored_responses = await self._count(name)
        if folders != stored_responses:
            outcomes.append("partially committed")
        if folders != (point in COMMITTED):
            outcomes.append("killed elsewhere")
        async with httpx.AsyncClient(base_url=self.healthy.url, timeout=30) as client:
            responses = [await self._post(client, name) for _ in range(2)]
        if responses[0].status_code != 201 or responses[0].content != responses[1].content:
            outcomes.append("with different responses")
        folders, stored_responses = await self._count(name)
        if folders > 1:
            outcomes.append("duplicated")
        if folders < 1 or stored_responses != 1:
            outcomes.append("lost")
        return outcomes

    async def _post_until_crash(self, point: str, name: str) -> bool:
        port = free_port()
        assert self.crashing.stdin is not None
        assert self.crashing.stdout is not None
        self.crashing.stdin.write(f"{point} {port}\n".encode())
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
            await self._wait_until_listening(port)
            with suppress(httpx.TransportError):
                response = await self._post(client, name)
                raise RuntimeError(f"the process should have died {point}, but returned {response.status_code}")
        return await asyncio.wait_for(self.crashing.stdout.readline(), timeout=30) == b"died\n"

    async def _post(self, client: httpx.AsyncClient, name: str) -> httpx.Response:
        headers = {**self.key.headers, "Idempotency-Key": name}
        return await client.post("/v1/folders", json={"name": name}, headers=headers)

    async def _count(self, name: str) -> tuple[int, int]:
        row = await self.accounts.connection.fetchrow(COUNT, self.person.library_id, name)
        assert row is not None
        return row[0], row[1]

    async def _wait_until_listening(self, port: int) -> None:
        async with asyncio.timeout(START_SECONDS):
            while self.crashing.returncode is None:
                with suppress(OSError):
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                    writer.close()
                    return
                await asyncio.sleep(0.02)
        raise RuntimeError("the process ended before it was listening")
