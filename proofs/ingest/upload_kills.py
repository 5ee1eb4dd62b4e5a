"""Kills the API with SIGKILL repeatedly during an upload; the client queries the offset and resumes."""

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
from proofs.ingest.upload_rows import create_target
from proofs.stage.report import Report

SEND_BYTES = 64 * 1024
MAX_CHUNKS = 100  # of 256 KiB in one PUT
DEADLINE_SECONDS = 900.0


class Client:
    """A resumable upload client: sends chunks, and queries the status after any failure."""

    def __init__(self, url: str, file: Path, rng: random.Random) -> None:
        self._url = url
        self._data = file.read_bytes()
        self.size = len(self._data)
        self._chance = rng
        self.sent = 0  # highest offset sent
        self.acknowledged = 0  # highest offset acknowledged
        self.lost_acknowledgements = 0
        self.finished = False

    async def run(self) -> None:
        deadline = time.monotonic() + DEADLINE_SECONDS
        async with httpx.AsyncClient(timeout=30) as client:
            while not self.finished and time.monotonic() < deadline:
                with suppress(httpx.TransportError):
                    at = await self._query_offset(client)
                    while not self.finished:
                        length = self._chance.randint(1, MAX_CHUNKS) * CHUNK_BYTES
                        response = await self._put(client, at, min(at + length, self.size))
                        if response.status_code not in {200, 308}:
                            break
                        at = self._parse_offset(response)
                await asyncio.sleep(0.05)

    async def _query_offset(self, client: httpx.AsyncClient) -> int:
        response = await client.put(self._url, headers={"Content-Range": f"bytes */{self.size}"})
        return self._parse_offset(response)

    async def _put(self, client: httpx.AsyncClient, at: int, end: int) -> httpx.Response:
        headers = {"Content-Range": f"bytes {at}-{end - 1}/{self.size}", "Content-Length": str(end - at)}
        return await client.put(self._url, content=self._body(at, end), headers=headers)

    async def _body(self, at: int, end: int) -> AsyncIterator[bytes]:
        for start in range(at, end, SEND_BYTES):
            stop = min(start + SEND_BYTES, end)
            self.sent = max(self.sent, stop)
            yield self._data[start:stop]

    def _parse_offset(self, response: httpx.Response) -> int:
        if response.status_code == 200:
            self.finished = True
            return self.size
        if response.status_code != 308:
            raise httpx.TransportError(f"got {response.status_code}")
        match = re.fullmatch(r"bytes=0-(\d+)", response.headers.get("range", ""))
        at = int(match[1]) + 1 if match else 0
        self.lost_acknowledgements += at < self.acknowledged
        self.acknowledged = at
        return at


async def prove_kills(report: Report, accounts: Accounts, server: Server, *, file: Path, kills: int) -> None:
    rng, killed = random.Random(), 0
    target = await create_target(accounts)
    async with httpx.AsyncClient(timeout=30) as starter:
        started = await starter.post(target.start_url(server.url), headers={"x-goog-resumable": "start"})
    client = Client(started.headers["location"], file, rng)
    sending = asyncio.create_task(client.run())
    # The last kill comes after all bytes are sent, during completion.
    points = [*sorted(rng.randrange(client.size) for _ in range(kills - 1)), client.size]
    for point in points:
        while client.sent < point and not sending.done():
            await asyncio.sleep(0.002)
        await asyncio.sleep(rng.uniform(0, 0.05))
        if client.finished and point != client.size:
            break
        server.kill()
        killed += 1
        await asyncio.to_thread(server.start)
    await sending
    fault = await target.find_fault(file) if client.finished else "not finished"
    await target.delete()
    held = fault is None and client.lost_acknowledgements == 0 and killed == kills
    report.claim("kills with SIGKILL during one upload", expected=str(kills), measured=killed, holds=killed == kills)
    report.claim(
        "... acknowledged bytes lost",
        expected="0",
        measured=client.lost_acknowledgements,
        holds=not client.lost_acknowledgements,
    )
    report.claim("... the object", expected="one, identical", measured=fault or "one, identical", holds=fault is None)
    report.figures(upload_kills_ok=held)
