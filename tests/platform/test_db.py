"""The pool: library isolation, resets, transactions and timeouts."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from cutroom.accounts.keys import KEY_PREFIX, generate_credential
from cutroom.accounts.principals import UnknownCredentialError
from cutroom.platform import db as module
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Connection, Database, insert
from cutroom.platform.ids import new_id
from cutroom.platform.settings import Settings
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Keyring, Person

SIZE = 2
LIBRARY = "SELECT current_setting('cutroom.library_id', true)"


@pytest.fixture
async def database(settings: Settings) -> AsyncIterator[Database]:
    opened = await Database.connect(settings.database_url.get_secret_value(), SIZE, application="cutroom-tests")
    yield opened
    await opened.close()


@pytest.fixture
async def single(settings: Settings) -> AsyncIterator[Database]:
    """A pool of one connection, so that it is reused."""
    opened = await Database.connect(settings.database_url.get_secret_value(), 1, application="cutroom-tests")
    yield opened
    await opened.close()


def folder(library_id: str) -> dict[str, Any]:
    return {"library_id": library_id, "id": new_id(), "name": "Here", "depth": 1, "created_at": system_clock()}


async def folders(connection: Connection) -> int:
    return int(await connection.fetchval("SELECT count(*) FROM folders"))


async def test_connection_without_library_sees_no_rows(database: Database, accounts: Accounts, person: Person) -> None:
    await insert(accounts.connection, "folders", folder(person.library_id))
    async with database.connection() as connection:
        assert await folders(connection) == 0
        assert await connection.fetchval("SELECT count(*) FROM libraries") == 0
        assert await connection.fetchval("SELECT count(*) FROM users") == 0


async def test_library_is_reset_when_connection_is_acquired(
    single: Database, runtime: Runtime, accounts: Accounts, person: Person, key: Keyring
) -> None:
    await insert(accounts.connection, "folders", folder(person.library_id))
    async with single.connection() as connection:
        server_process = connection.get_server_pid()
        await runtime.authenticator.authenticate(connection, key.secret, now=system_clock(), speech=False)
        assert await connection.fetchval(LIBRARY) == person.library_id
        assert await folders(connection) == 1
    async with single.connection() as connection:
        assert connection.get_server_pid() == server_process
        assert not await connection.fetchval(LIBRARY)
        assert await folders(connection) == 0


async def test_unknown_credential_leaves_the_library_of_the_last_caller(
    single: Database, runtime: Runtime, key: Keyring
) -> None:
    async with single.unauthenticated() as connection:
        await runtime.authenticator.authenticate(connection, key.secret, now=system_clock(), speech=False)
    async with single.unauthenticated() as connection:
        unknown = generate_credential(KEY_PREFIX)
        with pytest.raises(UnknownCredentialError):
            await runtime.authenticator.authenticate(connection, unknown, now=system_clock(), speech=False)
        assert not await connection.fetchval(LIBRARY)


async def test_library_is_reset_after_an_error(single: Database, runtime: Runtime, key: Keyring) -> None:
    async def fail() -> None:
        async with single.connection() as connection, connection.transaction():
            await runtime.authenticator.authenticate(connection, key.secret, now=system_clock(), speech=False)
            await connection.fetchval("SELECT 1 / 0")

    with pytest.raises(asyncpg.DivisionByZeroError):
        await fail()
    async with single.connection() as connection:
        assert not await connection.fetchval(LIBRARY)


async def test_transaction_commits(single: Database, person: Person) -> None:
    row = folder(person.library_id)
    async with single.transaction(person.library_id) as connection:
        await insert(connection, "folders", row)
    async with single.transaction(person.library_id) as connection:
        assert await connection.fetchval("SELECT id FROM folders") == row["id"]


async def test_transaction_rolls_back_on_error(single: Database, person: Person) -> None:
    async def fail() -> None:
        async with single.transaction(person.library_id) as connection:
            await insert(connection, "folders", folder(person.library_id))
            assert await folders(connection) == 1
            raise LookupError

    with pytest.raises(LookupError):
        await fail()
    async with single.transaction(person.library_id) as connection:
        assert await folders(connection) == 0


async def test_library_context_ends_with_the_transaction(single: Database, person: Person) -> None:
    async with single.transaction(person.library_id) as connection:
        assert await connection.fetchval(LIBRARY) == person.library_id
    async with single.connection() as connection:
        assert not await connection.fetchval(LIBRARY)


async def test_other_library_cannot_be_written(database: Database, accounts: Accounts, person: Person) -> None:
    other = await accounts.person()
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match="row-level security"):
        async with database.transaction(person.library_id) as connection:
            await insert(connection, "folders", folder(other.library_id))


async def test_other_library_cannot_be_read_or_changed(database: Database, accounts: Accounts, person: Person) -> None:
    other = await accounts.person()
    row = folder(other.library_id)
    await insert(accounts.connection, "folders", row)
    async with database.transaction(person.library_id) as connection:
        assert await connection.fetch("SELECT * FROM folders WHERE id = $1", row["id"]) == []
        assert await connection.execute("UPDATE folders SET name = 'Mine' WHERE id = $1", row["id"]) == "UPDATE 0"
        assert await connection.execute("DELETE FROM folders WHERE id = $1", row["id"]) == "DELETE 0"
    assert await accounts.connection.fetchval("SELECT name FROM folders WHERE id = $1", row["id"]) == "Here"


async def test_acquire_times_out_on_exhausted_pool(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ACQUIRE_TIMEOUT_SECONDS", 0.2)
    async with database.connection(), database.connection():
        began = time.monotonic()
        with pytest.raises(TimeoutError):
            async with database.connection():
                pass
        assert time.monotonic() - began < 1
    async with database.connection() as connection:  # the pool is usable again
        assert await connection.fetchval("SELECT 1") == 1


async def test_acquire_times_out_while_pool_is_growing(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """All callers acquire before any connection is established; late ones must time out."""
    monkeypatch.setattr(module, "ACQUIRE_TIMEOUT_SECONDS", 0.2)
    held, freed = 0, asyncio.Event()

    async def hold() -> None:
        nonlocal held
        async with database.connection():
            held += 1
            await freed.wait()

    holders = [asyncio.create_task(hold()) for _ in range(SIZE + 1)]
    await asyncio.sleep(1)
    refused = [holder for holder in holders if holder.done()]
    freed.set()
    outcomes = await asyncio.gather(*holders, return_exceptions=True)
    assert len(refused) == 1
    assert [type(outcome) for outcome in outcomes if outcome is not None] == [TimeoutError]
    assert held == SIZE


@pytest.mark.parametrize(
    "value",
    [None, True, 0, -1.5, "", "text ü \u2028 '\"\\", [], {}, {"a": [1, {"b": None}]}, 2**53, "null"],
)
async def test_jsonb_round_trips(database: Database, value: object) -> None:
    async with database.connection() as connection:
        assert await connection.fetchval("SELECT $1::jsonb", [value]) == [value]
        assert await connection.fetchval("SELECT $1::jsonb -> 0", [value]) == value


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("statement_timeout", "15s"),
        ("lock_timeout", "5s"),
        ("idle_in_transaction_session_timeout", "1min"),
        ("application_name", "cutroom-tests"),
        ("row_security", "on"),
    ],
)
async def test_connection_has_timeouts_and_application_name(single: Database, setting: str, value: str) -> None:
    for _ in range(2):  # the second connection was used and reset
        async with single.connection() as connection:
            assert await connection.fetchval(f"SHOW {setting}") == value
