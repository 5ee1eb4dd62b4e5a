"""Data keys in PostgreSQL: one per library, wrapped, confined to their library, and cached for a bounded time."""

import asyncio
from contextlib import AbstractAsyncContextManager
from datetime import timedelta

import asyncpg
import pytest
from cryptography.exceptions import InvalidTag

from cutroom.platform import key_ring
from cutroom.platform.clock import system_clock
from cutroom.platform.data_keys import (
    CACHED_SECONDS,
    OUTAGE_SECONDS,
    PURPOSE,
    SYSTEM,
    DataKey,
    DataKeys,
    ErasedKeyError,
)
from cutroom.platform.db import Connection
from cutroom.platform.ids import new_id
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.settings import Settings
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person

NONCE = b"0" * 12


def encrypt(key: DataKey) -> bytes:
    return key.cipher.encrypt(NONCE, b"plain", None)


class Process:
    """The data keys of one process, with a clock and a database that may be down."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self.seconds, self.is_down, self.loads = 0.0, False, 0
        secret_box = SecretBox(runtime.settings.secret_key.get_secret_value())
        self.keys = DataKeys(self._connection, secret_box, monotonic=lambda: self.seconds)

    def _connection(self) -> AbstractAsyncContextManager[Connection]:
        self.loads += 1
        if self.is_down:
            raise ConnectionRefusedError
        return self._runtime.database.connection()


@pytest.fixture
def process(runtime: Runtime) -> Process:
    return Process(runtime)


async def delete_key(accounts: Accounts, library_id: str) -> None:
    await accounts.connection.execute("DELETE FROM data_keys WHERE library_id = $1", library_id)


async def test_concurrent_processes_create_one_key(runtime: Runtime, person: Person) -> None:
    processes = [Process(runtime) for _ in range(4)]
    found = await asyncio.gather(*(each.keys.for_encryption(person.library_id) for each in processes for _ in range(3)))
    assert {each.library_id for each in found} == {person.library_id}
    assert len({encrypt(each) for each in found}) == 1
    assert [each.loads for each in processes] == [1] * 4


async def test_libraries_and_the_system_have_different_keys(process: Process, accounts: Accounts) -> None:
    libraries = [(await accounts.person()).library_id for _ in range(2)]
    found = [await process.keys.for_encryption(each) for each in (*libraries, SYSTEM)]
    assert [each.library_id for each in found] == [*libraries, SYSTEM]
    assert len({encrypt(each) for each in found}) == 3
    with pytest.raises(InvalidTag):
        found[1].cipher.decrypt(NONCE, encrypt(found[0]), None)


async def test_stored_key_is_wrapped_and_bound_to_its_library(
    process: Process, accounts: Accounts, settings: Settings, person: Person
) -> None:
    await process.keys.for_encryption(person.library_id)
    sql = "SELECT wrapped FROM data_keys WHERE library_id = $1"
    wrapped = await accounts.connection.fetchval(sql, person.library_id)
    secret_box = SecretBox(settings.secret_key.get_secret_value())
    secret = secret_box.unseal(PURPOSE, wrapped, context=person.library_id)
    assert len(secret) == 32
    assert secret not in wrapped
    with pytest.raises(ValueError, match="sealed"):
        secret_box.unseal(PURPOSE, wrapped, context=new_id())


async def test_key_is_visible_in_its_library_only_and_cannot_be_replaced(
    process: Process, runtime: Runtime, accounts: Accounts, person: Person
) -> None:
    await process.keys.for_encryption(person.library_id)
    other = await accounts.person()
    async with runtime.database.transaction(other.library_id) as connection:
        assert await connection.fetch("SELECT * FROM data_keys") == []
    for statement in ("UPDATE data_keys SET wrapped = ''", "DELETE FROM data_keys"):
        async with runtime.database.connection() as connection:
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.execute(statement)


async def test_deleted_key_is_used_for_a_bounded_time(process: Process, accounts: Accounts, person: Person) -> None:
    before = await process.keys.for_encryption(person.library_id)
    await delete_key(accounts, person.library_id)
    process.seconds += CACHED_SECONDS - 1
    assert await process.keys.for_decryption(person.library_id) is before
    process.seconds += 1
    with pytest.raises(ErasedKeyError):
        await process.keys.for_decryption(person.library_id)
    assert encrypt(await process.keys.for_encryption(person.library_id)) != encrypt(before)


async def test_cached_key_outlasts_an_outage_for_a_bounded_time(process: Process, person: Person) -> None:
    before = await process.keys.for_encryption(person.library_id)
    process.is_down = True
    process.seconds += OUTAGE_SECONDS - 1
    assert await process.keys.for_encryption(person.library_id) is before
    process.seconds += 1
    with pytest.raises(ConnectionRefusedError):
        await process.keys.for_encryption(person.library_id)


@pytest.mark.parametrize("is_known", [True, False])
async def test_erased_library_gets_no_new_key(
    process: Process, accounts: Accounts, person: Person, *, is_known: bool
) -> None:
    library_id = person.library_id if is_known else new_id()
    await accounts.connection.execute("UPDATE libraries SET erased_at = now() WHERE id = $1", library_id)
    assert (await process.keys.for_encryption(library_id)).library_id == SYSTEM
    with pytest.raises(ErasedKeyError):
        await process.keys.for_decryption(library_id)


async def test_key_that_a_rotated_ring_has_wrapped_is_read(
    process: Process, runtime: Runtime, accounts: Accounts, person: Person
) -> None:
    secret_box = SecretBox(runtime.settings.secret_key.get_secret_value())
    try:
        async with accounts.connection.transaction():
            await key_ring.rotate(accounts.connection, secret_box, now=system_clock(), activation_delay=timedelta())
        await key_ring.load_key_ring(accounts.connection, secret_box)
        rotated = await DataKeys(runtime.database.connection, secret_box).for_encryption(person.library_id)
        assert encrypt(await process.keys.for_decryption(person.library_id)) == encrypt(rotated)
    finally:
        await accounts.connection.execute("DELETE FROM key_ring")  # other tests share it
