"""The API dies with -9 again and again while a file comes in; the client asks how far it has come, and goes on."""

import asyncio
import random
import re
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import httpx

from cutroom.products.uploads.rules import CHUNK_BYTES
from dev.scratch import Accounts
from dev.server import Server
from proofs.ingest.upload_rows import reserve
from proofs.stage.report import Report

PIECE_BYTES = 64 * 1024
MAX_CHUNKS = 100  # of 256 KiB in one PUT
DEADLINE_SECONDS = 900.0


class Client:
    """Sends a file as a patient client does: chunk after chunk, and after any trouble a status query."""

    def __init__(self, url: str, file: Path, chance: random.Random) -> None:
        self._url = url
        self._data = file.read_bytes()
        self.size = len(self._data)
        self._chance = chance
        self.sent = 0  # the furthest byte that left us
        self.promised = 0  # the furthest byte that was acknowledged
        self.broken_promises = 0
        self.finished = False

    async def run(self) -> None:
        deadline = time.monotonic() + DEADLINE_SECONDS
        async with httpx.AsyncClient(timeout=30) as client:
            while not self.finished and time.monotonic() < deadline:
                with suppress(httpx.TransportError):
                    at = await self._ask(client)
                    while not self.finished:
                        length = self._chance.randint(1, MAX_CHUNKS) * CHUNK_BYTES
                        answer = await self._put(client, at, min(at + length, self.size))
                        if answer.status_code not in {200, 308}:
                            break
                        at = self._understand(answer)
                await asyncio.sleep(0.05)

    async def _ask(self, client: httpx.AsyncClient) -> int:
        answer = await client.put(self._url, headers={"Content-Range": f"bytes */{self.size}"})
        return self._understand(answer)

    async def _put(self, client: httpx.AsyncClient, at: int, end: int) -> httpx.Response:
        headers = {"Content-Range": f"bytes {at}-{end - 1}/{self.size}", "Content-Length": str(end - at)}
        return await client.put(self._url, content=self._body(at, end), headers=headers)

    async def _body(self, at: int, end: int) -> AsyncIterator[bytes]:
        for start in range(at, end, PIECE_BYTES):
            stop = min(start + PIECE_BYTES, end)
            self.sent = max(self.sent, stop)
            yield self._data[start:stop]

    def _understand(self, answer: httpx.Response) -> int:
        if answer.status_code == 200:
            self.finished = True
            return self.size
        if answer.status_code != 308:
            raise httpx.TransportError(f"answered {answer.status_code}")
        match = re.fullmatch(r"bytes=0-(\d+)", answer.headers.get("range", ""))
        at = int(match[1]) + 1 if match else 0
        self.broken_promises += at < self.promised
        self.promised = at
        return at


async def prove_kills(report: Report, accounts: Accounts, server: Server, *, file: Path, kills: int) -> None:
    chance, killed = random.Random(), 0
    reserved = await reserve(accounts)
    async with httpx.AsyncClient(timeout=30) as starter:
        started = await starter.post(reserved.start_url(server.url), headers={"x-goog-resumable": "start"})
    client = Client(started.headers["location"], file, chance)
    sending = asyncio.create_task(client.run())
    # One of the kills comes when every byte has been sent: somewhere in the finish.
    points = [*sorted(chance.randrange(client.size) for _ in range(kills - 1)), client.size]
    for point in points:
        while client.sent < point and not sending.done():
            await asyncio.sleep(0.002)
        await asyncio.sleep(chance.uniform(0, 0.05))
        if client.finished and point != client.size:
            break
        server.kill()
        killed += 1
        await asyncio.to_thread(server.start)
    await sending
    fault = await reserved.fault(file) if client.finished else "it never ended"
    await reserved.delete()
    held = fault is None and client.broken_promises == 0 and killed == kills
    report.claim("kills with -9 during one upload", wanted=str(kills), measured=killed, holds=killed == kills)
    report.claim(
        "... acknowledged bytes lost", wanted="0", measured=client.broken_promises, holds=not client.broken_promises
    )
    report.claim("... the object", wanted="one, identical", measured=fault or "one, identical", holds=fault is None)
    report.figures(upload_kills_ok=held)
