"""Completion of objects: without a transaction, exactly once, and after crashes and cancellations."""

import asyncio
import base64
import hashlib
import os
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from cutroom.platform.db import Connection
from cutroom.platform.storage.multipart import Multipart
from cutroom.products.uploads import assembly
from cutroom.products.uploads.rules import CHUNK_BYTES, PART_BYTES
from cutroom.products.uploads.sweep import end_video_sessions, expire_sessions, finish_abandoned
from dev.scratch import Accounts
from tests.conftest import MovableClock
from tests.products.uploads.conftest import Uploader
from tests.products.uploads.test_protocol import error_of, job_of

DATA = os.urandom(PART_BYTES + CHUNK_BYTES)
SIZE = len(DATA)
Complete = Callable[..., Coroutine[Any, Any, None]]


@dataclass
class SlowStore:
    """Holds completions until `go` is set, before or after the real store works; a fake in front of it."""

    completes_first: bool
    complete: Complete = Multipart.complete
    started: asyncio.Event = field(default_factory=asyncio.Event)
    go: asyncio.Event = field(default_factory=asyncio.Event)
    calls: int = 0

    async def __call__(self, multipart: Multipart, *args: object, **options: object) -> None:
        self.calls += 1
        if self.completes_first:
            await self.complete(multipart, *args, **options)
        self.started.set()
        await self.go.wait()
        if not self.completes_first:
            await self.complete(multipart, *args, **options)


@asynccontextmanager
async def slow_store(monkeypatch: pytest.MonkeyPatch, *, completes_first: bool = False) -> AsyncIterator[SlowStore]:
    slow = SlowStore(completes_first)

    async def complete(self: Multipart, *args: object, **options: object) -> None:
        await slow(self, *args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Multipart, "complete", complete)
        yield slow


async def crash(uploader: Uploader, monkeypatch: pytest.MonkeyPatch, *, after: bool) -> None:
    """Receives the whole file in a process that dies before or after the store completes the object."""
    complete = Multipart.complete

    async def die(self: Multipart, *args: Any, **options: Any) -> None:  # noqa: ANN401
        if after:
            await complete(self, *args, **options)
        raise asyncio.CancelledError

    async def nothing(*_: object, **__: object) -> None:
        """A dead process does not release its lease."""

    with monkeypatch.context() as patch, suppress(asyncio.CancelledError):
        patch.setattr(Multipart, "complete", die)
        patch.setattr(assembly, "_set_lease", nothing)
        await uploader.put(DATA)
    assert (await uploader.row())["state"] == "assembling"


async def open_transactions(connection: Connection) -> int:
    count: int = await connection.fetchval(
        """SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
           AND application_name = 'cutroom-api' AND xact_start IS NOT NULL"""
    )
    return count


async def test_no_transaction_is_open_while_the_store_completes(
    uploader: Uploader, accounts: Accounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    await uploader.start()
    async with slow_store(monkeypatch) as slow:
        putting = asyncio.create_task(uploader.put(DATA))
        await slow.started.wait()
        assert await open_transactions(accounts.connection) == 0
        assert (await uploader.row())["state"] == "assembling"
        slow.go.set()
        assert (await putting).status_code == 200
    assert await uploader.stored() == DATA
    assert await job_of(accounts, uploader) == ([], 1, SIZE)


async def test_concurrent_finishers_complete_once(
    uploader: Uploader, accounts: Accounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    await uploader.start()
    async with slow_store(monkeypatch) as slow:
        putting = asyncio.create_task(uploader.put(DATA))
        await slow.started.wait()
        for _ in range(3):
            assert error_of(await uploader.query(SIZE)) == (503, "backendError")
        assert error_of(await uploader.client.delete(uploader.url)) == (503, "backendError")
        restarted = await uploader.client.post(uploader.start_url(), headers={"x-goog-resumable": "start"})
        assert error_of(restarted) == (503, "backendError")
        assert await finish_abandoned(uploader.gateway) == 0
        slow.go.set()
        assert (await putting).status_code == 200
        assert (await uploader.query(SIZE)).status_code == 200
    assert slow.calls == 1
    assert await job_of(accounts, uploader) == ([], 1, SIZE)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("by", ["request", "sweep"])
async def test_crash_is_taken_over_after_the_lease(
    uploader: Uploader,
    accounts: Accounts,
    clock: MovableClock,
    monkeypatch: pytest.MonkeyPatch,
    by: str,
    *,
    after: bool,
) -> None:
    await uploader.start()
    await crash(uploader, monkeypatch, after=after)
    assert error_of(await uploader.query(SIZE)) == (503, "backendError")
    assert await finish_abandoned(uploader.gateway) == 0
    clock.shift = timedelta(seconds=61)
    if by == "request":
        assert (await uploader.query(SIZE)).status_code == 200
    else:
        assert await finish_abandoned(uploader.gateway) >= 1
    assert (await uploader.row())["state"] == "complete"
    assert await uploader.stored() == DATA
    assert await job_of(accounts, uploader) == ([], 1, SIZE)
    assert await uploader.partial_part_count() == 0


async def test_sweep_verifies_the_checksum_of_the_crashed_request(
    uploader: Uploader, accounts: Accounts, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    md5 = base64.b64encode(hashlib.md5(b"other", usedforsecurity=False).digest()).decode()
    await uploader.start()
    put = uploader.put
    monkeypatch.setattr(uploader, "put", lambda data: put(data, **{"x-goog-hash": f"md5={md5}"}))
    await crash(uploader, monkeypatch, after=True)
    clock.shift = timedelta(seconds=61)
    await finish_abandoned(uploader.gateway)
    assert (await uploader.row())["state"] == "aborted"
    with pytest.raises(FileNotFoundError):
        await uploader.stored()
    assert (await job_of(accounts, uploader))[1:] == (0, None)


async def test_lost_lease_does_not_finish_twice(
    uploader: Uploader, accounts: Accounts, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request that was stalled for longer than its lease finds the upload finished by another."""
    await uploader.start()
    complete = Multipart.complete
    async with slow_store(monkeypatch) as slow:
        putting = asyncio.create_task(uploader.put(DATA))
        await slow.started.wait()
        clock.shift = timedelta(seconds=61)
        with monkeypatch.context() as patch:
            patch.setattr(Multipart, "complete", complete)
            assert (await uploader.query(SIZE)).status_code == 200
        slow.go.set()
        assert error_of(await putting) == (503, "backendError")
    assert await uploader.stored() == DATA
    assert await job_of(accounts, uploader) == ([], 1, SIZE)


async def test_lease_is_renewed_while_the_store_works(
    uploader: Uploader, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assembly, "RENEWAL_SECONDS", 0)
    await uploader.start()
    async with slow_store(monkeypatch) as slow:
        putting = asyncio.create_task(uploader.put(DATA))
        await slow.started.wait()
        clock.shift = timedelta(seconds=50)
        until = (await uploader.row())["assembly_until"]
        while (await uploader.row())["assembly_until"] <= until:
            await asyncio.sleep(0)
        slow.go.set()
        assert (await putting).status_code == 200


@pytest.mark.parametrize("when", ["before", "after"])
async def test_purge_during_completion_leaves_no_object(
    uploader: Uploader, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    """The video is purged while a request waits for the store, which has or has not completed the object."""
    await uploader.start()
    reserved = uploader.reserved
    async with slow_store(monkeypatch, completes_first=when == "after") as slow:
        putting = asyncio.create_task(uploader.put(DATA))
        await slow.started.wait()
        await end_video_sessions(uploader.gateway, reserved.library_id, reserved.video_id)
        slow.go.set()
        assert error_of(await putting)[0] in {410, 503}
    with pytest.raises(FileNotFoundError):
        await uploader.stored()
    assert (await uploader.row())["state"] == "aborted"


async def test_session_is_not_expired_while_it_is_finished(
    uploader: Uploader, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock.shift = timedelta()
    await uploader.start()
    async with slow_store(monkeypatch) as slow:
        clock.shift = timedelta(days=6, hours=23, minutes=59, seconds=50)
        putting = asyncio.create_task(uploader.put(DATA))
        await slow.started.wait()
        clock.shift = timedelta(days=7, seconds=20)
        await expire_sessions(uploader.gateway)
        assert (await uploader.row())["state"] == "assembling"
        slow.go.set()
        assert (await putting).status_code == 200
