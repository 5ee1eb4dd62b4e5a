"""Readiness follows dependencies without flapping, and is served on a port."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
import httpx
import pytest

from cutroom.platform.process.health import APPLICATION, FAILURES_TO_UNREADY, PostgresCheck, Readiness, health_server
from cutroom.platform.settings import Settings
from dev.server import free_port

NOBODY_LISTENS = "postgresql://nobody@127.0.0.1:9/none"


class Switch:
    """A dependency that can be switched off."""

    on = True

    async def __call__(self) -> None:
        if not self.on:
            raise ConnectionError


async def _ready_after(readiness: Readiness, switch: Switch, states: str) -> list[bool]:
    found = []
    for state in states:
        switch.on = state == "1"
        await readiness.check()
        found.append(readiness.is_ready)
    return found


@pytest.mark.parametrize(
    ("states", "ready"),
    [
        ("111", [True, True, True]),
        ("1001", [True, True, True, True]),  # two failures in a row are no outage
        ("010101", [True] * 6),
        ("0000", [True, True, False, False]),
        ("00010", [True, True, False, True, True]),  # back at the first success
    ],
)
async def test_readiness_does_not_flap(states: str, ready: list[bool]) -> None:
    switch = Switch()
    readiness = Readiness({"switch": switch})
    readiness.start()
    assert await _ready_after(readiness, switch, states) == ready


async def test_ready_only_while_serving() -> None:
    readiness = Readiness({})
    states = [readiness.is_ready]
    readiness.start()
    states.append(readiness.is_ready)
    readiness.stop()
    states.append(readiness.is_ready)
    assert states == [False, True, False]


async def test_postgres_is_checked_on_a_connection_of_its_own_that_is_opened_again(settings: Settings) -> None:
    readiness = Readiness({"postgres": (check := PostgresCheck(settings.api_database))})
    readiness.start()
    same_role = await asyncpg.connect(settings.api_database)  # a role may end its own connections
    try:
        for _ in range(FAILURES_TO_UNREADY + 1):
            await check()
            assert await _end_connections(same_role) >= 1  # others are of the API in this process
            await readiness.check()
            assert readiness.is_ready
    finally:
        check.close()
        await same_role.close()


async def test_a_connection_that_is_just_being_ended_is_opened_again(settings: Settings) -> None:
    """The server's last message arrives before, while or after the query is sent."""
    check = PostgresCheck(settings.api_database)
    same_role = await asyncpg.connect(settings.api_database)
    try:
        for turns in range(30):
            await check()
            assert await _end_connections(same_role, wait=False) >= 1
            for _ in range(turns):
                await asyncio.sleep(0)  # lets the event loop read what has arrived
            await check()
    finally:
        check.close()
        await same_role.close()


async def _end_connections(connection: asyncpg.Connection, *, wait: bool = True) -> int:
    """End the connections of checks, and wait until they are gone; returns how many there were."""
    named = (
        "FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database() AND usename = current_user"
    )
    pids = [each["pid"] for each in await connection.fetch(f"SELECT pid {named}", APPLICATION)]
    await connection.fetch("SELECT pg_terminate_backend(pid) FROM unnest($1::int[]) AS pid", pids)
    async with asyncio.timeout(60):
        while wait and await connection.fetchval("SELECT count(*) FROM pg_stat_activity WHERE pid = ANY($1)", pids):
            await asyncio.sleep(0.02)
    return len(pids)


async def test_a_database_that_does_not_respond_makes_the_process_unready() -> None:
    readiness = Readiness({"postgres": PostgresCheck(NOBODY_LISTENS)})
    readiness.start()
    for _ in range(FAILURES_TO_UNREADY):
        assert readiness.is_ready
        await readiness.check()
    assert not readiness.is_ready
    assert readiness.dependencies() == {"postgres": False}


@asynccontextmanager
async def _served(readiness: Readiness) -> AsyncIterator[httpx.AsyncClient]:
    port = free_port()
    async with (
        health_server(readiness, port, host="127.0.0.1"),
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client,
    ):
        yield client


async def test_server_distinguishes_liveness_from_readiness() -> None:
    readiness = Readiness({})
    async with _served(readiness) as client:
        assert [(await client.get(path)).status_code for path in ("/live", "/ready", "/")] == [200, 503, 404]
        readiness.start()
        response = await client.get("/ready")
        assert (response.status_code, response.json()) == (200, {"ready": True, "dependencies": {}})


async def test_server_survives_what_is_not_http() -> None:
    async with _served(Readiness({})) as client:
        assert client.base_url.port is not None
        for sent in (b"", b"\0\n", b"x" * 100_000):
            _, writer = await asyncio.open_connection("127.0.0.1", client.base_url.port)
            writer.write(sent)
            writer.close()
        assert (await client.get("/live")).json() == {"live": True}


async def test_the_api_is_ready_with_its_database(viewer: httpx.AsyncClient) -> None:
    response = await viewer.get("/ready")
    assert (response.status_code, json.loads(response.content)) == (
        200,
        {"ready": True, "dependencies": {"postgres": True}},
    )
