"""What a thousand idle waits cost."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

import asyncpg

from proofs.events.fleet import Fleet

WAITS = 1_000
WAIT_SECONDS = 60
AT_ONCE = 20  # requests before they wait; the plan allows 32
ORDINARY = 100  # requests beside the waits
ESTABLISH_SECONDS = 30.0
SETTLE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Idleness:
    """The share of a core that all API processes used, and what the waits kept from others."""

    cpu_share: float
    refused: int  # ordinary requests of the same key that did not succeed
    busy_connections: int  # of the database, in a transaction
    answered: int  # waits that ended before their time


async def measure_waits(
    fleet: Fleet,
    key: str,
    connection: "asyncpg.Connection[asyncpg.Record]",
    *,
    waiting: Callable[[], Awaitable[int]],
    seconds: float,
) -> Idleness:
    request = f"GET /v1/events?wait={WAIT_SECONDS} HTTP/1.1\r\nHost: proof\r\nAuthorization: Bearer {key}\r\n\r\n"
    deadline = time.monotonic() + ESTABLISH_SECONDS
    waits: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
    while len(waits) < WAITS:
        waits += [await _send(fleet.urls[number % len(fleet.urls)], request) for number in range(AT_ONCE)]
        while await waiting() < len(waits) and time.monotonic() < deadline:
            await asyncio.sleep(0.01)
    await asyncio.sleep(SETTLE_SECONDS)
    before, started = fleet.cpu_seconds(), time.monotonic()
    await asyncio.sleep(seconds)  # what is measured
    share = (fleet.cpu_seconds() - before) / (time.monotonic() - started)
    busy = await connection.fetchval(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'cutroom-api' AND state <> 'idle'"
    )
    ordinary = f"GET /v1/library HTTP/1.1\r\nHost: proof\r\nAuthorization: Bearer {key}\r\nConnection: close\r\n\r\n"
    refused = 0
    for number in range(ORDINARY):
        reader, writer = await _send(fleet.urls[number % len(fleet.urls)], ordinary)
        refused += not (await reader.read()).startswith(b"HTTP/1.1 200")
        writer.close()
    answered = sum(bool(reader._buffer) for reader, _ in waits)  # type: ignore[attr-defined] # noqa: SLF001
    for _, writer in waits:
        writer.transport.abort()
    return Idleness(share, refused, busy, answered)


async def _send(url: str, request: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(url).port)
    writer.write(request.encode())
    await writer.drain()
    return reader, writer
