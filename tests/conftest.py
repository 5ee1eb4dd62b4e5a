"""Shared fixtures: real services, one fresh database per run, and a new user per test."""

import os
from collections.abc import AsyncIterator, Iterator
from datetime import datetime, timedelta

import httpx
import hypothesis
import pytest
from prometheus_client import CollectorRegistry

from cutroom.entrypoints.api import build_app
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Database
from cutroom.platform.settings import Settings
from cutroom.platform.telemetry import AccessLog
from cutroom.web.outer_middleware import RequestMiddleware
from cutroom.web.runtime import Runtime, open_runtime
from dev.scratch import Accounts, Keyring, Person, drop_scratch, scratch
from dev.services import control

# No deadline, because slow machines must not fail tests; the timeout of each test ends what hangs.
# CI uses fixed examples, so that failures are caused by the change; `just test` generates new ones.
hypothesis.settings.register_profile("cutroom", deadline=None, derandomize="CI" in os.environ)
hypothesis.settings.load_profile("cutroom")


class MovableClock:
    """The system clock plus an adjustable shift."""

    def __init__(self) -> None:
        self.shift = timedelta()

    def __call__(self) -> datetime:
        return system_clock() + self.shift


@pytest.fixture(scope="session")
async def settings() -> AsyncIterator[Settings]:
    control.start_all()
    name = f"tests_{os.getpid()}"  # concurrent runs use separate databases
    yield await scratch(name)
    await drop_scratch(name)


@pytest.fixture(scope="session")
async def accounts(settings: Settings) -> AsyncIterator[Accounts]:
    opened = await Accounts.open(settings)
    yield opened
    await opened.close()


@pytest.fixture
async def person(accounts: Accounts) -> Person:
    return await accounts.person()


@pytest.fixture
async def key(accounts: Accounts, person: Person) -> Keyring:
    return await accounts.key(person)


@pytest.fixture(scope="session")
def session_clock() -> MovableClock:
    return MovableClock()


@pytest.fixture
def clock(session_clock: MovableClock) -> Iterator[MovableClock]:
    """The API's clock; its shift is reset after each test."""
    yield session_clock
    session_clock.shift = timedelta()


@pytest.fixture(scope="session")
async def service(settings: Settings, session_clock: MovableClock) -> AsyncIterator[RequestMiddleware]:
    """The API application, in this process."""
    app = build_app(lambda: open_runtime(settings, session_clock))
    async with app.router.lifespan_context(app):
        yield RequestMiddleware(app, registry=CollectorRegistry(), tracer=None, access_log=AccessLog("WARNING"))


@pytest.fixture(scope="session")
async def runtime(settings: Settings, session_clock: MovableClock) -> AsyncIterator[Runtime]:
    """The runtime of an API process, whose database role also has the rights of a worker and of the relay."""
    async with open_runtime(settings.model_copy(update={"api_database_url": None}), session_clock) as opened:
        yield opened


@pytest.fixture(scope="session")
async def api_database(settings: Settings) -> AsyncIterator[Database]:
    """Connections with the rights of the API only."""
    opened = await Database.connect(settings.api_database, 5, application="cutroom-tests")
    yield opened
    await opened.close()


@pytest.fixture(scope="session")
async def worker_database(settings: Settings) -> AsyncIterator[Database]:
    """Connections with the rights of a worker only."""
    opened = await Database.connect(settings.worker_database, 5, application="cutroom-tests")
    yield opened
    await opened.close()


@pytest.fixture
async def anonymous(service: RequestMiddleware) -> AsyncIterator[httpx.AsyncClient]:
    """A client without an API key."""
    transport = httpx.ASGITransport(app=service)
    async with httpx.AsyncClient(transport=transport, base_url="http://cutroom.test/v1") as client:
        yield client


@pytest.fixture
async def viewer(service: RequestMiddleware) -> AsyncIterator[httpx.AsyncClient]:
    """A client that opens signed URLs, without credentials."""
    transport = httpx.ASGITransport(app=service)
    async with httpx.AsyncClient(transport=transport, base_url="http://cutroom.test") as client:
        yield client


@pytest.fixture
async def api(anonymous: httpx.AsyncClient, key: Keyring) -> httpx.AsyncClient:
    """A client with every scope in a personal library."""
    anonymous.headers.update(key.headers)
    return anonymous
