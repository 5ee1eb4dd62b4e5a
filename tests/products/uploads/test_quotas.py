"""The storage quota against concurrent uploads, and against uploads that do not say how large they are."""

import asyncio

import httpx

from cutroom.accounts.service import set_quotas
from cutroom.products.uploads.rules import CHUNK_BYTES
from cutroom.products.uploads.service import Gateway
from dev.scratch import Accounts, Person
from tests.products.uploads.conftest import Uploader, reserve
from tests.products.uploads.test_protocol import error_of

FULL = (409, "quotaExceeded")
DATA = bytes(CHUNK_BYTES)


async def uploaders(
    client: httpx.AsyncClient, gateway: Gateway, accounts: Accounts, person: Person, *, count: int, quota: int
) -> list[Uploader]:
    await set_quotas(accounts.connection, person.library_id, quotas={"storage_bytes": quota})
    return [Uploader(client, gateway, await reserve(accounts, person.library_id)) for _ in range(count)]


async def start(uploader: Uploader, size_bytes: int) -> httpx.Response:
    headers = {"x-goog-resumable": "start", "x-upload-content-length": str(size_bytes)}
    return await uploader.client.post(uploader.start_url(), headers=headers)


async def test_concurrent_uploads_cannot_pass_the_storage_quota_together(
    client: httpx.AsyncClient, gateway: Gateway, accounts: Accounts, person: Person
) -> None:
    started = await uploaders(client, gateway, accounts, person, count=8, quota=1_000)
    responses = await asyncio.gather(*(start(each, 400) for each in started))
    assert sorted(each.status_code for each in responses) == [201, 201, *[409] * 6]
    assert {error_of(each) for each in responses if each.status_code == 409} == {FULL}


async def test_canceled_upload_frees_the_quota(
    client: httpx.AsyncClient, gateway: Gateway, accounts: Accounts, person: Person
) -> None:
    first, second = await uploaders(client, gateway, accounts, person, count=2, quota=1_000)
    await first.start(**{"x-upload-content-length": "800"})
    assert error_of(await start(second, 800)) == FULL
    assert (await client.delete(first.url)).status_code == 499
    assert (await start(second, 800)).status_code == 201


async def test_restarted_upload_counts_once(
    client: httpx.AsyncClient, gateway: Gateway, accounts: Accounts, person: Person
) -> None:
    (uploader,) = await uploaders(client, gateway, accounts, person, count=1, quota=1_000)
    for _ in range(2):
        assert (await start(uploader, 800)).status_code == 201


async def test_uploads_of_unknown_size_stop_at_the_quota(
    client: httpx.AsyncClient, gateway: Gateway, accounts: Accounts, person: Person
) -> None:
    started = await uploaders(client, gateway, accounts, person, count=4, quota=2 * CHUNK_BYTES)
    for each in started:
        await each.start()
    responses = await asyncio.gather(*(each.put(DATA, f"0-{CHUNK_BYTES - 1}/*") for each in started))
    assert sorted(each.status_code for each in responses) == [308, 308, 409, 409]


async def test_size_that_is_declared_later_counts_in_full(
    client: httpx.AsyncClient, gateway: Gateway, accounts: Accounts, person: Person
) -> None:
    (uploader,) = await uploaders(client, gateway, accounts, person, count=1, quota=2 * CHUNK_BYTES)
    await uploader.start()
    response = await uploader.put(DATA, f"0-{CHUNK_BYTES - 1}/{3 * CHUNK_BYTES}")
    assert error_of(response) == FULL


async def test_finished_uploads_count_as_stored(
    client: httpx.AsyncClient, gateway: Gateway, accounts: Accounts, person: Person
) -> None:
    first, second = await uploaders(client, gateway, accounts, person, count=2, quota=CHUNK_BYTES + 100)
    await first.start()
    assert (await first.put(DATA)).status_code == 200
    assert error_of(await start(second, 101)) == FULL
    assert (await start(second, 100)).status_code == 201
    await gateway.storage.delete(first.reserved.storage_path)
