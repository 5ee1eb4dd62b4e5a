"""The object store: read URLs, followed over HTTP as a caller would, and long objects read in sittings."""

import asyncio
import random
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import TYPE_CHECKING, cast

import httpx
import obstore
import pytest
from obstore.exceptions import PreconditionError
from obstore.store import S3Store

from cutroom.platform.ids import new_id
from cutroom.platform.settings import Settings
from cutroom.platform.storage import objects as module
from cutroom.platform.storage.objects import Storage

if TYPE_CHECKING:  # the library has these for type checkers only
    from obstore import GetOptions, GetResult

MIB = 1024 * 1024
CONTENT = b"\x89PNG of a kind" * 100


@pytest.fixture
def storage(settings: Settings) -> Storage:
    return Storage.connect(settings)


@pytest.fixture
async def path(storage: Storage) -> AsyncIterator[str]:
    """Where an object lies, for one test."""
    made = f"tests/{new_id()}/a picture (1) ü+&.png"
    await obstore.put_async(storage.store, made, CONTENT)
    yield made
    await obstore.delete_async(storage.store, made)


@pytest.fixture
async def browser() -> AsyncIterator[httpx.AsyncClient]:
    """A caller who has nothing but the URL."""
    async with httpx.AsyncClient() as client:
        yield client


async def test_a_read_url_downloads_the_object_without_credentials(
    storage: Storage, path: str, browser: httpx.AsyncClient
) -> None:
    answer = await browser.get(await storage.read_url(path))
    assert (answer.status_code, answer.content) == (200, CONTENT)


async def test_a_read_url_is_good_for_an_hour(storage: Storage, path: str) -> None:
    url = httpx.URL(await storage.read_url(path))
    assert url.params["X-Amz-Expires"] == "3600"


async def test_a_read_url_of_nothing_is_404(storage: Storage, browser: httpx.AsyncClient) -> None:
    answer = await browser.get(await storage.read_url(f"tests/{new_id()}"))
    assert answer.status_code == 404


async def test_an_expired_read_url_is_refused(
    storage: Storage, path: str, browser: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "READ_URL_LIFETIME", timedelta(seconds=1))
    url = await storage.read_url(path)
    await asyncio.sleep(2.1)
    answer = await browser.get(url)
    assert answer.status_code == 403
    assert CONTENT not in answer.content


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("X-Amz-Signature", "0" * 64), ("X-Amz-Expires", "604800"), ("X-Amz-Date", "20990101T000000Z")],
)
async def test_a_tampered_read_url_is_refused(
    storage: Storage, path: str, browser: httpx.AsyncClient, parameter: str, value: str
) -> None:
    url = httpx.URL(await storage.read_url(path))
    answer = await browser.get(url.copy_set_param(parameter, value))
    assert answer.status_code == 403
    assert CONTENT not in answer.content


async def test_a_read_url_of_one_object_does_not_open_another(
    storage: Storage, path: str, browser: httpx.AsyncClient
) -> None:
    foreign = httpx.URL(await storage.read_url(f"tests/{new_id()}"))
    mine = httpx.URL(await storage.read_url(path))
    assert (await browser.get(mine.copy_with(query=foreign.query))).status_code == 403


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
async def test_a_read_url_only_reads(storage: Storage, path: str, browser: httpx.AsyncClient, method: str) -> None:
    refused = await browser.request(method, await storage.read_url(path))
    assert refused.status_code == 403
    assert bytes(await (await obstore.get_async(storage.store, path)).bytes_async()) == CONTENT


async def test_the_bare_url_of_an_object_is_closed(storage: Storage, path: str, browser: httpx.AsyncClient) -> None:
    url = httpx.URL(await storage.read_url(path)).copy_with(query=None)
    assert (await browser.get(url)).status_code == 403


@pytest.fixture
async def long(storage: Storage) -> AsyncIterator[tuple[str, bytes]]:
    """An object that takes many sittings to read, and what is in it."""
    made, content = f"tests/{new_id()}/long", random.Random(1).randbytes(8 * MIB)
    await storage.put(made, content)
    yield made, content
    await storage.delete(made)


@pytest.mark.parametrize("span", [None, (0, 1), (5, 3 * MIB + 5), (MIB - 1, 8 * MIB), (8 * MIB - 7, 99 * MIB)])
async def test_a_long_object_is_read_whole_in_many_sittings(
    storage: Storage, long: tuple[str, bytes], span: tuple[int, int] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "RANGE_BYTES", MIB)
    path, content = long
    read = b"".join([chunk async for chunk in storage.read(path, span=span)])
    assert read == (content if span is None else content[slice(*span)])


async def test_an_empty_object_is_read_as_nothing(storage: Storage, path: str) -> None:
    await storage.put(path, b"")
    assert [chunk async for chunk in storage.read(path)] == []


async def test_no_answer_lasts_for_more_than_a_sitting(
    storage: Storage, long: tuple[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """However slowly it is taken: the client goes on only so often with an answer that lasted too long."""
    monkeypatch.setattr(module, "RANGE_BYTES", 2 * MIB)
    asked: list[tuple[int, int] | None] = []
    get = obstore.get_async

    async def told(store: S3Store, path: str, *, options: "GetOptions | None") -> "GetResult":
        asked.append(cast("tuple[int, int] | None", (options or {}).get("range")))
        return await get(store, path, options=options)

    monkeypatch.setattr(obstore, "get_async", told)
    path, content = long
    assert b"".join([chunk async for chunk in storage.read(path)]) == content
    first, *others = asked
    assert first is None  # how long it is, the first answer tells
    assert len(others) == 3  # the first may bring a little more: chunks of a stream are as they come
    assert all(span is not None and span[1] - span[0] <= 2 * MIB for span in others)


async def test_an_object_that_is_replaced_while_it_is_read_is_not_mixed_with_the_other(
    storage: Storage, long: tuple[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "RANGE_BYTES", MIB)
    path, content = long
    reading = storage.read(path)
    await anext(reading)
    await storage.put(path, content[::-1])
    with pytest.raises(PreconditionError):
        async for _ in reading:
            pass
