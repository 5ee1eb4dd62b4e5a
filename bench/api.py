"""CPU time of `GET /v1/videos/{id}` with a key lookup, compared with a bare Starlette and asyncpg route.

Each server is one process; measured is its CPU time (user and system) per request under the same load: keep-alive
connections that send the next request as soon as they get a response. Rounds alternate, so that other load on the
machine affects both equally.
"""

import argparse
import asyncio
import hmac
import json
import statistics
import sys
import time
from contextlib import nullcontext

import psutil
from rich.console import Console
from rich.table import Table

from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from cutroom.platform.pooler import Pooler
from dev.pgbouncer import pgbouncer
from dev.scratch import Accounts, environment_of, scratch
from dev.server import Server
from dev.services import control

GOAL = 2.0
CONNECTIONS = 16
KEYS = 8


async def _send_requests(port: int, requests: list[bytes], count: int) -> None:
    """Send `count` requests in sequence over one keep-alive connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for number in range(count):
        writer.write(requests[number % len(requests)])
        head = await reader.readuntil(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(head.decode())
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        await reader.readexactly(length)
    writer.close()
    await writer.wait_closed()


async def _round(server: Server, requests: list[bytes], count: int) -> tuple[float, float]:
    """CPU microseconds per request, and requests per second, of one round."""
    process = psutil.Process(server.pid)
    before, started = process.cpu_times(), time.perf_counter()
    await asyncio.gather(*(_send_requests(server.port, requests, count // CONNECTIONS) for _ in range(CONNECTIONS)))
    after, seconds = process.cpu_times(), time.perf_counter() - started
    cpu = (after.user + after.system) - (before.user + before.system)
    return cpu / count * 1e6, count / seconds


async def _create_requests(accounts: Accounts) -> list[bytes]:
    requests = []
    for _ in range(KEYS):
        person = await accounts.person()
        key, video_id = await accounts.key(person), new_id()
        video = {
            "library_id": person.library_id,
            "id": video_id,
            "status": "ready",
            "title": "How a lens sees",
            "duration_seconds": 192.4,
            "media_type": "video",
            "default_language_code": "en",
            "import_status": "ready",
            "created_at": system_clock(),
        }
        await insert(accounts.connection, "videos", video)
        lines = [f"GET /v1/videos/{video_id} HTTP/1.1", "Host: localhost", f"Authorization: Bearer {key.secret}"]
        requests.append(("\r\n".join(lines) + "\r\n\r\n").encode())
    return requests


async def measure(*, rounds: int, count: int, pooler: Pooler) -> list[tuple[float, float, float, float]]:
    control.start_all()
    settings = await scratch("bench_api")
    accounts = await Accounts.open(settings)
    requests = await _create_requests(accounts)
    await accounts.close()
    hash_key = hmac.digest(settings.secret_key.get_secret_value().encode(), b"cutroom/credential", "sha256").hex()
    bare = Server({**environment_of(settings), "BARE_HASH_KEY": hash_key})
    bare.arguments = ("-m", "bench.bare_api", str(bare.port))
    with nullcontext(settings) if pooler is Pooler.NONE else pgbouncer(settings) as pooled:
        return await _alternate(Server(environment_of(pooled)), bare, requests, rounds=rounds, count=count)


async def _alternate(
    ours: Server, bare: Server, requests: list[bytes], *, rounds: int, count: int
) -> list[tuple[float, float, float, float]]:
    try:
        ours.start()
        bare.start()
        for server in (ours, bare):  # warms up prepared statements, pools and code paths
            await _round(server, requests, count // 2)
        return [(*await _round(ours, requests, count), *await _round(bare, requests, count)) for _ in range(rounds)]
    finally:
        ours.stop()
        bare.stop()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="fewer requests")
    parser.add_argument(
        "--pooler", type=Pooler, choices=list(Pooler), default=Pooler.NONE, help="put PgBouncer before ours, not bare"
    )
    arguments = parser.parse_args()
    short = arguments.short
    measured_rounds = measure(rounds=3 if short else 7, count=1600 if short else 8000, pooler=arguments.pooler)
    rounds = asyncio.run(measured_rounds)
    table = Table("round", "ours, µs CPU", "bare, µs CPU", "ratio", "ours, req/s", "bare, req/s")
    for number, (ours, ours_rate, bare, bare_rate) in enumerate(rounds, 1):
        figures = (f"{ours:.0f}", f"{bare:.0f}", f"{ours / bare:.2f}", f"{ours_rate:.0f}", f"{bare_rate:.0f}")
        table.add_row(str(number), *figures)
    Console().print(table)
    ratio = statistics.median(ours / bare for ours, _, bare, _ in rounds)
    measured = {
        "ratio": round(ratio, 2),
        "ours_us": round(statistics.median(row[0] for row in rounds)),
        "bare_us": round(statistics.median(row[2] for row in rounds)),
        "goal": GOAL,
    }
    print(json.dumps({**measured, "ok": ratio <= GOAL}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
