"""The API dies with -9 at six points of a POST; the caller tries again elsewhere, as any client would."""

import asyncio
import sys
from collections import Counter
from contextlib import suppress

import httpx

from dev.scratch import Accounts, Keyring, Person, environment_of
from dev.server import Server, free_port
from proofs.envelope.crashing_api import POINTS
from proofs.stage.report import Report

COMMITTED = {"after the commit", "while the answer is sent"}  # the work is done; only the answer got lost
COUNT = """SELECT (SELECT count(*) FROM folders WHERE library_id = $1 AND name = $2),
                  (SELECT count(*) FROM idempotency_records WHERE library_id = $1 AND key = $2)"""


async def prove_crashes(report: Report, accounts: Accounts, *, repeats: int) -> None:
    environment = environment_of(accounts.settings)
    healthy = Server(environment)
    healthy.start()
    dying = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "proofs.envelope.crashing_api", env=environment, stdin=-1, stdout=-1
    )
    seen: Counter[str] = Counter()
    person = await accounts.person()
    crash = Crash(accounts, dying, healthy, person=person, key=await accounts.key(person))
    try:
        for point in POINTS:
            for number in range(repeats):
                seen.update(await crash.once(point, f"{point} {number}"))
    finally:
        healthy.stop()
        dying.kill()
        await dying.wait()
    crashes = len(POINTS) * repeats
    report.claim(
        "processes killed with -9 inside a POST",
        wanted=str(crashes),
        measured=seen["died"],
        holds=seen["died"] == crashes,
    )
    for word in ("killed elsewhere", "half done", "duplicated", "lost", "answered differently"):
        report.claim(f"... requests {word}", wanted="0", measured=seen[word], holds=seen[word] == 0)
    report.figures(
        crashes=seen["died"],
        crash_duplicates=seen["duplicated"],
        crash_lost=seen["lost"] + seen["half done"] + seen["answered differently"],
    )


class Crash:
    """One dying process after another, and a healthy one beside them."""

    def __init__(
        self, accounts: Accounts, dying: asyncio.subprocess.Process, healthy: Server, *, person: Person, key: Keyring
    ) -> None:
        self.accounts = accounts
        self.dying = dying
        self.healthy = healthy
        self.person = person
        self.key = key

    async def once(self, point: str, name: str) -> list[str]:
        """Kill a process at this point of a POST, look at what it left, and try again; what was seen."""
        seen = []
        if await self._post_into_death(point, name):
            seen.append("died")
        folders, retained = await self._count(name)
        if folders != retained:
            seen.append("half done")
        if folders != (point in COMMITTED):
            seen.append("killed elsewhere")
        async with httpx.AsyncClient(base_url=self.healthy.url, timeout=30) as client:
            answers = [await self._post(client, name) for _ in range(2)]
        if answers[0].status_code != 201 or answers[0].content != answers[1].content:
            seen.append("answered differently")
        folders, retained = await self._count(name)
        if folders > 1:
            seen.append("duplicated")
        if folders < 1 or retained != 1:
            seen.append("lost")
        return seen

    async def _post_into_death(self, point: str, name: str) -> bool:
        port = free_port()
        assert self.dying.stdin is not None
        assert self.dying.stdout is not None
        self.dying.stdin.write(f"{point} {port}\n".encode())
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
            await _wait_until_listening(port)
            with suppress(httpx.TransportError):
                answer = await self._post(client, name)
                raise RuntimeError(f"the process should have died {point}, but answered {answer.status_code}")
        return await asyncio.wait_for(self.dying.stdout.readline(), timeout=30) == b"died\n"

    async def _post(self, client: httpx.AsyncClient, name: str) -> httpx.Response:
        headers = {**self.key.headers, "Idempotency-Key": name}
        return await client.post("/v1/folders", json={"name": name}, headers=headers)

    async def _count(self, name: str) -> tuple[int, int]:
        row = await self.accounts.connection.fetchrow(COUNT, self.person.library_id, name)
        assert row is not None
        return row[0], row[1]


async def _wait_until_listening(port: int) -> None:
    for _ in range(1_000):
        with suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            return
        await asyncio.sleep(0.02)
    raise RuntimeError("the process did not begin to listen")
