"""Ranged reads against a real object store."""

import random
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, cast

import httpx
import obstore
import pytest
from obstore.store import S3Store

from cutroom.platform.ids import new_id
from cutroom.platform.settings import Settings
from cutroom.platform.storage import objects as module
from cutroom.platform.storage.multipart import bucket_url, object_url
from cutroom.platform.storage.objects import ObjectChangedError, Storage

if TYPE_CHECKING:  # available only to type checkers
    from obstore import GetOptions, GetResult

MIB = 1024 * 1024
CONTENT = b"\x89PNG of a kind" * 100


@pytest.fixture
def storage(settings: Settings) -> Storage:
    return Storage.connect(settings)


@pytest.fixture
async def path(storage: Storage) -> AsyncIterator[str]:
    """Path of an object that exists for one test."""
    made = f"tests/{new_id()}/a picture (1) ü+&.png"
    await obstore.put_async(storage.store, made, CONTENT)
    yield made
    await obstore.delete_async(storage.store, made)


async def test_objects_cannot_be_read_without_credentials(settings: Settings, path: str) -> None:
    async with httpx.AsyncClient() as client:
        response = await client.get(object_url(bucket_url(settings), path))
    assert response.status_code == 403
    assert CONTENT not in response.content


@pytest.fixture
async def long(storage: Storage) -> AsyncIterator[tuple[str, bytes]]:
    """An object longer than several ranges, and its content."""
    made, content = f"tests/{new_id()}/long", random.Random(1).randbytes(8 * MIB)
    await storage.put(made, content)
    yield made, content
    await storage.delete(made)


@pytest.mark.parametrize("span", [None, (0, 1), (5, 3 * MIB + 5), (MIB - 1, 8 * MIB), (8 * MIB - 7, 99 * MIB)])
async def test_long_object_is_read_in_ranges(
    storage: Storage, long: tuple[str, bytes], span: tuple[int, int] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "RANGE_BYTES", MIB)
    path, content = long
    read = b"".join([chunk async for chunk in storage.read(path, span=span)])
    assert read == (content if span is None else content[slice(*span)])


async def test_empty_object_yields_no_bytes(storage: Storage, path: str) -> None:
    await storage.put(path, b"")
    assert [chunk async for chunk in storage.read(path)] == []


async def test_each_request_reads_at_most_one_range(
    storage: Storage, long: tuple[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slow reader must not keep one request open: the client retries timed-out responses only a few times."""
    monkeypatch.setattr(module, "RANGE_BYTES", 2 * MIB)
    requested_ranges: list[tuple[int, int] | None] = []
    get = obstore.get_async

    async def recorded(store: S3Store, path: str, *, options: "GetOptions | None") -> "GetResult":
        requested_ranges.append(cast("tuple[int, int] | None", (options or {}).get("range")))
        return await get(store, path, options=options)

    monkeypatch.setattr(obstore, "get_async", recorded)
    path, content = long
    assert b"".join([chunk async for chunk in storage.read(path)]) == content
    first, *others = requested_ranges
    assert first is None  # the first response has the size
    assert len(others) == 3  # the first may return more: stream chunks vary in size
    assert all(span is not None and span[1] - span[0] <= 2 * MIB for span in others)


async def test_object_replaced_during_read_raises(
    storage: Storage, long: tuple[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "RANGE_BYTES", MIB)
    path, content = long
    reading = storage.read(path)
    await anext(reading)
    await storage.put(path, content[::-1])
    with pytest.raises(ObjectChangedError):
        async for _ in reading:
            pass


async def test_read_with_an_etag_raises_once_the_object_is_replaced(storage: Storage, path: str) -> None:
    found = await storage.find(path)
    assert found is not None
    assert found.size_bytes == len(CONTENT)
    assert b"".join([chunk async for chunk in storage.read(path, span=(1, 4), etag=found.etag)]) == CONTENT[1:4]
    await storage.put(path, CONTENT[::-1])
    with pytest.raises(ObjectChangedError):
        async for _ in storage.read(path, span=(1, 4), etag=found.etag):
            pass
