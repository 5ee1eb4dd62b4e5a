"""Sends many calls through a faulty proxy, and examines every attempt and what the library holds afterwards."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from proofs.clients.drivers import Driver, Kind, driver
from proofs.clients.fault_proxy import FaultProxy, fault_proxy
from proofs.clients.faults import Fault, wrong_repetitions
from proofs.contract.stage import OWNER, Stage

DRIVERS = 4


@dataclass
class Traffic:
    """What was sent, and what came of it."""

    calls: int = 0
    attempts: int = 0
    failed: int = 0
    faults: Counter[Fault] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    created: set[str] = field(default_factory=set)  # names that a call reported as created


async def send_traffic(stage: Stage, kind: Kind, state: Path, *, calls: int) -> Traffic:
    """Several drivers at a time, each behind a proxy of its own."""
    traffic = Traffic()
    port = int(stage.url.rpartition(":")[2])
    await asyncio.gather(
        *(_run(stage, kind, state, port, number, traffic, calls // DRIVERS) for number in range(DRIVERS))
    )
    return traffic


async def _run(stage: Stage, kind: Kind, state: Path, port: int, number: int, traffic: Traffic, calls: int) -> None:
    key = stage.callers[OWNER].headers["Authorization"].split()[1]
    async with fault_proxy(port, number) as proxy, driver(kind, proxy.port, key, state) as client:
        requests = _requests(Random(number), f"{kind.name}-{number}")
        for _ in range(calls):
            request = next(requests)
            seen = len(proxy.attempts)
            response = await client.ask(request)
            _record(traffic, request, response, proxy, seen)


def _requests(random: Random, prefix: str) -> Iterator[dict[str, Any]]:
    """Creations, each with a name of its own, and reads and changes of what exists."""
    number = 0
    while True:
        number += 1
        name = f"{prefix}-{number}"
        choices: list[dict[str, Any]] = [
            {"operation": "createVideo", "body": {"source": {"type": "upload", "fileName": f"{name}.mp4"}}},
            {"operation": "createFolder", "body": {"name": name}},
            {"operation": "listVideos", "query": {"limit": 2}},
            {"operation": "listFolders"},
            {"operation": "updateRetention", "body": {"originalsDays": 100 + number}},
            {"operation": "deleteVideo", "path": {"videoId": "missing"}},
            {"operation": "getLibrary"},
        ]
        [chosen] = random.choices(choices, weights=[6, 3, 1, 1, 2, 1, 1])
        yield chosen


def _record(
    traffic: Traffic, request: Mapping[str, Any], response: Mapping[str, Any], proxy: FaultProxy, seen: int
) -> None:
    attempts = proxy.attempts[seen:]
    traffic.calls += 1
    traffic.attempts += len(attempts)
    traffic.faults.update(each.fault for each in attempts)
    traffic.wrong += wrong_repetitions(attempts)
    body = request.get("body") or {}
    name = body.get("name") or body.get("source", {}).get("fileName")
    if response["ok"] and name:
        traffic.created.add(name)
    traffic.failed += not response["ok"]


async def duplicates(stage: Stage, kind: Kind, created: set[str]) -> tuple[int, int]:
    """How many names of this client exist twice, and how many that were reported as created do not exist."""
    library = stage.callers[OWNER].ids["libraryId"]
    found: Counter[str] = Counter()
    for table, column in (("videos", "title"), ("folders", "name")):
        rows = await stage.accounts.connection.fetch(
            f"SELECT {column} AS name FROM {table} WHERE library_id = $1 AND {column} LIKE $2",  # noqa: S608 (constants)
            library,
            f"{kind.name}-%",
        )
        found.update(row["name"] for row in rows)
    return sum(count > 1 for count in found.values()), len(created - found.keys())


async def spend(stage: Stage, client: Driver) -> tuple[int, int]:
    """Requests with a limit below their price that were charged all the same, and those that were sent."""
    overspent = sent = 0
    caller = stage.callers[OWNER]
    for language in ("de", "es", "fr", "pt"):
        before = await _balance(stage)
        video = await stage.rows.video()
        request = {"operation": "createDubs", "path": {"videoId": video}, "body": {"languages": [language]}}
        response = await client.ask(
            {**request, "maxCredits": 0.001, "apiKey": caller.headers["Authorization"].split()[1]}
        )
        sent += 1
        overspent += response["ok"] or await _balance(stage) != before
    return overspent, sent


async def _balance(stage: Stage) -> float:
    response = await stage.call("GET /library")
    balance: float = response.document["credits"]["balance"]
    return balance
