"""Read URLs of the object store, followed over HTTP as a caller would."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import httpx
import obstore
import pytest

from cutroom.platform import storage as module
from cutroom.platform.ids import new_id
from cutroom.platform.settings import Settings
from cutroom.platform.storage import Storage

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
