"""Fixtures: reserved videos and a client of the upload protocol."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import google_crc32c
import httpx
import obstore
import pytest

from cutroom.platform.clock import system_clock
from cutroom.platform.db import Database, insert
from cutroom.platform.ids import new_id
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.settings import Settings
from cutroom.platform.storage.multipart import Multipart
from cutroom.platform.storage.objects import Storage
from cutroom.products.uploads.grants import Grant, sign_start_url
from cutroom.products.uploads.rules import START_LIFETIME, crc_text
from cutroom.products.uploads.service import Gateway
from cutroom.web.outer_middleware import RequestMiddleware
from dev.scratch import Accounts, Person
from tests.conftest import MovableClock

UPLOAD_WAIT = timedelta(hours=24)


@dataclass(frozen=True)
class Reserved:
    """A reserved video without its file."""

    library_id: str
    video_id: str
    storage_path: str

    def grant(self, now: datetime) -> Grant:
        until = int((now + START_LIFETIME).timestamp())
        return Grant(self.library_id, self.video_id, self.storage_path, content_type="video/mp4", expires_at=until)


async def reserve(accounts: Accounts, library_id: str) -> Reserved:
    """Inserts the rows that POST /videos creates for an upload."""
    video_id, now = new_id(), system_clock()
    path = f"tests/uploads/{video_id}/source"
    own = {"library_id": library_id, "created_at": now}
    await insert(accounts.connection, "videos", {**own, "id": video_id, "status": "queued"})
    source = {"video_id": video_id, "type": "upload", "storage_path": path, "upload_expires_at": now + UPLOAD_WAIT}
    await insert(accounts.connection, "sources", {**own, **source})
    await accounts.connection.execute(
        """INSERT INTO jobs (library_id, id, type, status, video_id, attempt, plan, depends_on, progress, created_at,
               updated_at) VALUES ($1, $2, 'import', 'queued', $3, 1, '{}', ARRAY[$4], 0, $5, $5)""",
        library_id,
        f"import_{video_id}",
        video_id,
        f"upload_{video_id}",
        now,
    )
    return Reserved(library_id, video_id, path)


@pytest.fixture
async def client(service: RequestMiddleware) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app=service)
    async with httpx.AsyncClient(transport=transport, base_url="http://cutroom.test") as opened:
        yield opened


@pytest.fixture(scope="session")
def store(settings: Settings) -> Storage:
    return Storage.connect(settings)


@pytest.fixture
async def gateway(settings: Settings, clock: MovableClock, store: Storage) -> AsyncIterator[Gateway]:
    """The upload gateway, for direct access."""
    database = await Database.connect(settings.database_url.get_secret_value(), 2, application="tests")
    multipart = Multipart.connect(settings)
    secret_box = SecretBox(settings.secret_key.get_secret_value())
    yield Gateway(database, multipart, storage=store, secret_box=secret_box, clock=clock, upload_wait=UPLOAD_WAIT)
    await multipart.close()
    await database.close()


@pytest.fixture
async def reserved(accounts: Accounts, person: Person) -> Reserved:
    return await reserve(accounts, person.library_id)


class Uploader:
    """A protocol client that can also send invalid requests."""

    def __init__(self, client: httpx.AsyncClient, gateway: Gateway, reserved: Reserved) -> None:
        self.client = client
        self.gateway = gateway
        self.reserved = reserved
        self.url = ""

    def start_url(self) -> str:
        return sign_start_url(self.gateway.secret_box, "http://cutroom.test", self.reserved.grant(self.gateway.clock()))

    async def start(self, **headers: str) -> str:
        response = await self.client.post(self.start_url(), headers={"x-goog-resumable": "start", **headers})
        assert response.status_code == 201, response.text
        self.url = httpx.URL(response.headers["location"]).raw_path.decode()
        return self.url

    async def put(self, data: bytes, content_range: str | None = None, **headers: str) -> httpx.Response:
        if content_range is not None:
            headers["Content-Range"] = f"bytes {content_range}"
        return await self.client.put(self.url, content=data, headers=headers)

    async def query(self, total: int | str = "*") -> httpx.Response:
        return await self.put(b"", f"*/{total}")

    async def stored(self) -> bytes:
        found = await obstore.get_async(self.gateway.storage.store, self.reserved.storage_path)
        return bytes(await found.bytes_async())

    async def row(self) -> dict[str, Any]:
        async with self.gateway.database.transaction(self.reserved.library_id) as connection:
            row = await connection.fetchrow(
                "SELECT * FROM upload_sessions WHERE video_id = $1 ORDER BY id DESC LIMIT 1", self.reserved.video_id
            )
        return dict(row) if row else {}

    async def partial_part_count(self) -> int:
        """Number of partial parts in the object store."""
        count = 0
        folder = f"libraries/{self.reserved.library_id}/uploads/"
        async for found in obstore.list(self.gateway.storage.store, folder):
            count += len(found)
        return count


@pytest.fixture
async def uploader(client: httpx.AsyncClient, gateway: Gateway, reserved: Reserved) -> AsyncIterator[Uploader]:
    yield Uploader(client, gateway, reserved)
    await gateway.storage.delete(reserved.storage_path)


def crc_of(data: bytes) -> str:
    return crc_text(google_crc32c.value(data))
