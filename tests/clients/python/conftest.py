"""A real API process for the clients, and a client of a new library for each test."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from cutroom_client import Cutroom, RetryPolicy

from cutroom.platform.settings import Settings
from dev.scratch import Keyring, environment_of
from dev.server import Server

QUICK = RetryPolicy(base_seconds=0.01, cap_seconds=0.05)


@pytest.fixture(scope="session")
async def api_process(settings: Settings) -> AsyncIterator[Server]:
    server = Server(environment_of(settings))
    server.start()
    yield server
    server.stop()


@pytest.fixture
def client(api_process: Server, key: Keyring, tmp_path: Path) -> Iterator[Cutroom]:
    with Cutroom(key.secret, api_process.url, retry=QUICK, state_dir=tmp_path / "state") as opened:
        yield opened
