"""Waiting requests: a limit of their own, no place in others, and an end when the client or the process goes."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from prometheus_client import CollectorRegistry
from starlette.responses import Response
from starlette.types import Message

from cutroom.accounts.plans import PlanName
from cutroom.entrypoints.api import build_app
from cutroom.platform.settings import Settings
from cutroom.platform.telemetry import AccessLog
from cutroom.web.outer_middleware import RequestMiddleware
from cutroom.web.runtime import Runtime, open_runtime
from cutroom.web.waiting import unless_disconnected
from dev.scratch import Accounts, write_plans
from tests.events.conftest import Library

WAITS = 2


@dataclass(frozen=True)
class Process:
    """An API process with one database connection, whose plan allows one request at once, and two waits."""

    client: httpx.AsyncClient
    library: Library
    runtime: Runtime

    async def begin_waits(self, count: int) -> list["asyncio.Task[httpx.Response]"]:
        waits = [asyncio.create_task(self.client.get("/events?wait=60")) for _ in range(count)]
        while self.runtime.events.subscriptions < count:
            await asyncio.sleep(0)
        return waits


@pytest.fixture
async def process(settings: Settings, tmp_path: Path, accounts: Accounts) -> AsyncIterator[Process]:
    limits = {"library_waits": WAITS, "concurrent_requests": 1}
    changed = {"plans_file": write_plans(tmp_path / "plans.toml", free=limits), "database_pool_size": 1}
    person = await accounts.person(PlanName.FREE)
    app = build_app(lambda: open_runtime(settings.model_copy(update=changed)))
    async with app.router.lifespan_context(app):
        edge = RequestMiddleware(app, registry=CollectorRegistry(), tracer=None, access_log=AccessLog("WARNING"))
        transport, headers = httpx.ASGITransport(app=edge), (await accounts.key(person)).headers
        async with httpx.AsyncClient(transport=transport, base_url="http://x.test/v1", headers=headers) as client:
            runtime: Runtime = app.state.runtime
            yield Process(client, Library(runtime, person.library_id), runtime)


async def test_waits_have_a_limit_of_their_own(process: Process) -> None:
    waits = await process.begin_waits(1)
    waits += [asyncio.create_task(process.client.get("/events?wait=60"))]
    while process.runtime.events.subscriptions < WAITS:
        await asyncio.sleep(0)
    refused = await process.client.get("/events?wait=60")
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "RATE_LIMITED")
    assert refused.json()["error"]["details"] == {"limit": "waits", "per": "library"}
    assert int(refused.headers["retry-after"]) >= 1
    assert "ratelimit-limit" in refused.headers
    ordinary = await process.client.get("/library")  # the only request at once, on the only connection
    assert ordinary.status_code == 200
    assert ordinary.json()["limits"]["libraryWaits"] == WAITS
    await process.library.publish("one")
    assert [(await wait).status_code for wait in waits] == [200, 200]
    assert "ratelimit-limit" in waits[0].result().headers
    again = asyncio.create_task(process.client.get("/events?wait=60"))
    assert (await again).json()["hasMore"] is False


async def test_a_wait_ends_with_the_process(process: Process) -> None:
    [wait] = await process.begin_waits(1)
    process.runtime.events.end()
    response = await wait
    assert (response.status_code, response.json()["events"]) == (200, [])


async def test_work_is_cancelled_when_the_client_disconnects() -> None:
    messages: asyncio.Queue[Message] = asyncio.Queue()
    cancelled, started = asyncio.Event(), asyncio.Event()

    async def work() -> Response:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        raise AssertionError

    waiting = asyncio.create_task(unless_disconnected(messages.get, work()))
    await started.wait()
    await messages.put({"type": "http.request", "body": b"", "more_body": False})
    await messages.put({"type": "http.disconnect"})
    assert await waiting is None
    assert cancelled.is_set()
