"""Fixtures: publishing in a library, and a real server for streams."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

import httpx
import pytest
import uvicorn

from cutroom.entrypoints.http_protocol import EnvelopeProtocol
from cutroom.events.rules import EventType
from cutroom.events.service import LoggedEvent, announce_progress, read_events
from cutroom.platform.clock import system_clock
from cutroom.web.outer_middleware import RequestMiddleware
from cutroom.web.runtime import Runtime
from cutroom.webhooks.publishing import publish_event
from dev.scratch import Keyring, Person


@dataclass(frozen=True)
class Library:
    """A library whose events a test publishes."""

    runtime: Runtime
    id: str

    async def publish(self, *names: str, type_: EventType = "job.ready", now: datetime | None = None) -> None:
        """Events of jobs with these ids, in one transaction."""
        async with self.runtime.database.transaction(self.id) as connection:
            for name in names:
                data = {"id": name}
                await publish_event(connection, self.id, type=type_, data=data, now=now or system_clock())

    async def roll_back(self) -> None:
        """An event and progress of a transaction that does not commit."""
        with suppress(ZeroDivisionError):
            async with self.runtime.database.transaction(self.id) as connection:
                data = {"id": "rolled back"}
                await publish_event(connection, self.id, type="job.ready", data=data, now=system_clock())
                announce_progress(self.id, "rolled back", data)
                raise ZeroDivisionError

    async def log(self, after: int = 0) -> list[LoggedEvent]:
        async with self.runtime.database.transaction(self.id) as connection:
            return await read_events(connection, self.id, after=after, limit=1_000)

    async def names(self) -> list[str]:
        return names_of(await self.log())


def names_of(events: object) -> list[str]:
    """Ids of the jobs that events are about."""
    assert isinstance(events, list | tuple)
    return [each.data["id"] if isinstance(each, LoggedEvent) else each["data"]["id"] for each in events]


@pytest.fixture
def library(runtime: Runtime, person: Person) -> Library:
    return Library(runtime, person.library_id)


@pytest.fixture(scope="session")
async def served(service: RequestMiddleware) -> AsyncIterator[str]:
    """The URL of a real server with the application of this process: streams need one."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        config = uvicorn.Config(service, http=EnvelopeProtocol, lifespan="off", log_config=None, access_log=False)
        server = uvicorn.Server(config)
        server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        yield f"http://127.0.0.1:{port}/v1"
        server.should_exit = True
        await serving


@pytest.fixture
async def client(served: str, key: Keyring) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the real server with every scope."""
    async with httpx.AsyncClient(base_url=served, headers=key.headers, timeout=60, trust_env=False) as opened:
        yield opened
