"""Slots, silence and memory of uploads."""

import asyncio
import os
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import httpx
import pytest
from prometheus_client import CollectorRegistry
from redis.asyncio import Redis
from starlette.types import Message

from cutroom.entrypoints.api import build_app
from cutroom.platform.settings import Settings
from cutroom.platform.telemetry import AccessLog
from cutroom.products.uploads.rules import CHUNK_BYTES, PART_BYTES
from cutroom.products.uploads.service import Gateway
from cutroom.products.uploads.spool import MEMORY_BYTES
from cutroom.web.outer_middleware import RequestMiddleware
from cutroom.web.runtime import open_runtime
from dev.scratch import Accounts, Person
from tests.conftest import MovableClock
from tests.products.uploads.conftest import Uploader, reserve
from tests.products.uploads.test_objects import PATH, related
from tests.products.uploads.test_protocol import error_of

DATA = os.urandom(PART_BYTES + CHUNK_BYTES)
SIZE = len(DATA)
FULL = (429, "rateLimitExceeded")


@asynccontextmanager
async def api_process(settings: Settings, clock: MovableClock, **changed: object) -> AsyncIterator[RequestMiddleware]:
    """An API process with other settings."""
    app = build_app(lambda: open_runtime(settings.model_copy(update=changed), clock))
    async with app.router.lifespan_context(app):
        yield RequestMiddleware(app, registry=CollectorRegistry(), tracer=None, access_log=AccessLog("WARNING"))


async def uploader_of(
    stack: AsyncExitStack, process: RequestMiddleware, gateway: Gateway, accounts: Accounts, library_id: str
) -> Uploader:
    client = httpx.AsyncClient(transport=httpx.ASGITransport(app=process), base_url="http://cutroom.test")
    await stack.enter_async_context(client)
    started = Uploader(client, gateway, await reserve(accounts, library_id))
    await started.start()
    return started


class SilentSender:
    """Sends the beginning of a file, then nothing until `disconnect` is called."""

    def __init__(self, process: RequestMiddleware, uploader: Uploader) -> None:
        self._uploader = uploader
        self._is_waiting, self._disconnect = asyncio.Event(), asyncio.Event()
        self._messages: list[Message] = [{"type": "http.request", "body": DATA[:100], "more_body": True}]
        url = httpx.URL(uploader.url)
        scope = {"type": "http", "method": "PUT", "path": url.path, "query_string": url.query, "state": {}}
        self._sending = asyncio.create_task(process({**scope, "headers": []}, self._receive, self._send))

    async def _receive(self) -> Message:
        if self._messages:
            return self._messages.pop()
        self._is_waiting.set()
        await self._disconnect.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        """The sender does not read the response."""

    async def holds_slot(self) -> None:
        await self._is_waiting.wait()

    async def disconnect(self) -> None:
        self._disconnect.set()
        await self._sending


@pytest.mark.parametrize("bound", ["upload_slots", "upload_slots_per_library", "upload_slots_per_account"])
async def test_uploads_beyond_a_bound_are_refused_until_one_ends(
    settings: Settings, clock: MovableClock, gateway: Gateway, accounts: Accounts, person: Person, bound: str
) -> None:
    async with AsyncExitStack() as stack:
        process = await stack.enter_async_context(api_process(settings, clock, **{bound: 2}))
        uploaders = [await uploader_of(stack, process, gateway, accounts, person.library_id) for _ in range(3)]
        if bound == "upload_slots_per_account":
            await accounts.connection.execute(
                "UPDATE upload_sessions SET account_id = $1 WHERE library_id = $2", person.user_id, person.library_id
            )
        senders = [SilentSender(process, each) for each in uploaders[:2]]
        for sender in senders:
            await sender.holds_slot()
        refused = await uploaders[2].put(DATA)
        assert error_of(refused) == FULL
        assert refused.headers["retry-after"] == "5"
        assert "Too many concurrent uploads" in refused.json()["error"]["message"]
        await senders[0].disconnect()
        assert (await uploaders[2].put(DATA)).status_code == 200
        await senders[1].disconnect()
        assert (await uploaders[1].query()).headers["range"] == "bytes=0-99"


async def test_one_library_leaves_slots_to_others(
    settings: Settings, clock: MovableClock, gateway: Gateway, accounts: Accounts, person: Person
) -> None:
    async with AsyncExitStack() as stack:
        process = await stack.enter_async_context(api_process(settings, clock, upload_slots_per_library=1))
        other = await accounts.person()
        first, second = [await uploader_of(stack, process, gateway, accounts, person.library_id) for _ in range(2)]
        neighbor = await uploader_of(stack, process, gateway, accounts, other.library_id)
        sender = SilentSender(process, first)
        await sender.holds_slot()
        assert error_of(await second.put(DATA)) == FULL
        assert (await neighbor.put(DATA)).status_code == 200
        await sender.disconnect()


async def test_bound_of_a_library_holds_across_processes(
    settings: Settings, clock: MovableClock, gateway: Gateway, accounts: Accounts, person: Person
) -> None:
    async with AsyncExitStack() as stack:
        processes = [
            await stack.enter_async_context(api_process(settings, clock, upload_slots_per_library=1)) for _ in range(2)
        ]
        first, second = [await uploader_of(stack, each, gateway, accounts, person.library_id) for each in processes]
        sender = SilentSender(processes[0], first)
        await sender.holds_slot()
        assert error_of(await second.put(DATA)) == FULL
        await sender.disconnect()
        assert (await second.put(DATA)).status_code == 200


async def test_slots_of_a_killed_process_end_with_their_lease(
    settings: Settings, clock: MovableClock, gateway: Gateway, accounts: Accounts, person: Person
) -> None:
    redis = Redis.from_url(settings.redis_url.get_secret_value())
    key = f"slots:{{upload:library:{person.library_id}}}"
    async with AsyncExitStack() as stack:
        stack.push_async_callback(redis.aclose)
        process = await stack.enter_async_context(api_process(settings, clock, upload_slots_per_library=1))
        uploader = await uploader_of(stack, process, gateway, accounts, person.library_id)
        seconds, _ = await redis.time()
        await redis.zadd(key, {"of a killed process": (seconds + 30) * 1000})
        assert error_of(await uploader.put(DATA)) == FULL
        await redis.zadd(key, {"of a killed process": (seconds - 1) * 1000})  # half a minute later
        assert (await uploader.put(DATA)).status_code == 200


async def test_silent_upload_is_closed_and_frees_its_slot(
    settings: Settings, clock: MovableClock, gateway: Gateway, accounts: Accounts, person: Person
) -> None:
    async def body() -> AsyncIterator[bytes]:
        yield DATA[:100]
        await asyncio.Event().wait()

    changed = {"upload_idle_seconds": 0.2, "upload_slots": 1}
    async with AsyncExitStack() as stack:
        process = await stack.enter_async_context(api_process(settings, clock, **changed))
        uploader = await uploader_of(stack, process, gateway, accounts, person.library_id)
        for _ in range(2):
            closed = await uploader.client.put(uploader.url, content=body())
            assert error_of(closed) == (408, "requestTimeout")
        assert (await uploader.query()).headers["range"] == "bytes=0-99"


async def test_small_files_take_slots_and_may_not_be_silent(
    settings: Settings, clock: MovableClock, gateway: Gateway, accounts: Accounts, person: Person
) -> None:
    async def body() -> AsyncIterator[bytes]:
        yield b"--bound\r\n"
        await asyncio.Event().wait()

    changed = {"upload_idle_seconds": 0.2, "upload_slots": 1}
    async with AsyncExitStack() as stack:
        process = await stack.enter_async_context(api_process(settings, clock, **changed))
        uploader = await uploader_of(stack, process, gateway, accounts, person.library_id)
        headers = {
            "Authorization": f"Bearer {uploader.start_url().partition('X-Goog-Signature=')[2]}",
            "Content-Type": "multipart/related; boundary=bound",
        }
        for kind in ("multipart", "resumable"):
            silent = await uploader.client.post(PATH, params={"uploadType": kind}, content=body(), headers=headers)
            assert error_of(silent) == (408, "requestTimeout")
        whole = related({"name": uploader.reserved.storage_path}, DATA[:CHUNK_BYTES])
        async with AsyncExitStack() as inner:
            other = await uploader_of(inner, process, gateway, accounts, person.library_id)
            sender = SilentSender(process, other)
            await sender.holds_slot()
            refused = await uploader.client.post(
                PATH, params={"uploadType": "multipart"}, content=whole, headers=headers
            )
            assert error_of(refused) == FULL
            await sender.disconnect()
        stored = await uploader.client.post(PATH, params={"uploadType": "multipart"}, content=whole, headers=headers)
        assert stored.status_code == 200, stored.text
        assert await uploader.stored() == DATA[:CHUNK_BYTES]


async def test_memory_does_not_grow_with_the_size_of_parts(uploader: Uploader) -> None:
    """Parts of a file of 300 GB have 29 MiB; none of them is held in memory, nor is a partial part."""
    total, piece = 300 * 10**9, os.urandom(CHUNK_BYTES)
    await uploader.start(**{"X-Upload-Content-Length": str(total)})

    async def put(first: int, pieces: int) -> httpx.Response:
        async def body() -> AsyncIterator[bytes]:
            for _ in range(pieces):
                yield piece

        headers = {"Content-Range": f"bytes {first}-{first + pieces * CHUNK_BYTES - 1}/{total}"}
        return await uploader.client.put(uploader.url, content=body(), headers=headers)

    await put(0, 1)  # loads what a process loads once
    tracemalloc.start()
    try:
        assert (await put(CHUNK_BYTES, 80)).status_code == 308  # a partial part of 20 MiB
        assert (await put(81 * CHUNK_BYTES, 80)).status_code == 308  # fills a part of 29 MiB, and begins the next
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    row = await uploader.row()
    assert (row["part_count"], row["received_bytes"]) == (1, 161 * CHUNK_BYTES)
    assert row["part_bytes"] > 100 * CHUNK_BYTES
    assert peak < 16 * MEMORY_BYTES, peak
