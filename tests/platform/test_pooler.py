"""The pool behind PgBouncer in session mode: library isolation, timeouts, notifications, and the bound."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from cutroom.platform.clock import system_clock
from cutroom.platform.db import Database
from cutroom.platform.settings import Settings
from cutroom.web.runtime import Runtime
from dev.pgbouncer import pgbouncer
from dev.scratch import Accounts, Keyring

LIBRARY = "SELECT current_setting('cutroom.library_id', true)"
TIMEOUTS = """SELECT current_setting('statement_timeout'), current_setting('lock_timeout'),
    current_setting('idle_in_transaction_session_timeout'), current_setting('jit')"""
EXPECTED = ("15s", "5s", "1min", "off")


@asynccontextmanager
async def pooled(settings: Settings) -> AsyncIterator[Database]:
    database = await Database.connect(
        settings.database_url.get_secret_value(), 1, application="cutroom-tests", pooler=settings.database_pooler
    )
    try:
        yield database
    finally:
        await database.close()


@pytest.fixture
def one_connection(settings: Settings) -> Iterator[Settings]:
    """Settings of a PgBouncer that opens a single connection to PostgreSQL."""
    with pgbouncer(settings, pool_size=1) as through:
        yield through


async def server_process(database: Database) -> int:
    async with database.unauthenticated() as connection:
        return int(await connection.fetchval("SELECT pg_backend_pid()"))


async def test_library_of_a_client_is_not_seen_by_the_next(
    one_connection: Settings, runtime: Runtime, key: Keyring
) -> None:
    async with pooled(one_connection) as first:
        process = await server_process(first)
        async with first.unauthenticated() as connection:
            principal = await runtime.authenticator.authenticate(
                connection, key.secret, now=system_clock(), speech=False
            )
            assert await connection.fetchval(LIBRARY) == principal.library_id
    async with pooled(one_connection) as second, second.unauthenticated() as connection:
        assert await connection.fetchval("SELECT pg_backend_pid()") == process
        assert not await connection.fetchval(LIBRARY)
        assert await connection.fetchval("SELECT count(*) FROM libraries") == 0


async def test_timeouts_hold_after_a_reset(one_connection: Settings) -> None:
    async with pooled(one_connection) as database:
        async with database.unauthenticated() as connection:
            assert tuple(await connection.fetchrow(TIMEOUTS) or ()) == EXPECTED
        async with database.connection() as connection:
            assert tuple(await connection.fetchrow(TIMEOUTS) or ()) == EXPECTED


async def test_reset_leaves_the_library(one_connection: Settings, runtime: Runtime, key: Keyring) -> None:
    async with pooled(one_connection) as database:
        async with database.unauthenticated() as connection:
            await runtime.authenticator.authenticate(connection, key.secret, now=system_clock(), speech=False)
        async with database.connection() as connection:
            assert not await connection.fetchval(LIBRARY)


async def test_notifications_arrive(one_connection: Settings, accounts: Accounts) -> None:
    notified = asyncio.Event()
    async with pooled(one_connection) as database, database.connection() as connection:

        def notify(*_notification: object) -> None:
            notified.set()

        await connection.add_listener("test_pooler", notify)
        await accounts.connection.execute("NOTIFY test_pooler")
        await notified.wait()
        await connection.remove_listener("test_pooler", notify)


async def test_connections_are_bounded_and_handed_over(settings: Settings) -> None:
    with pgbouncer(settings, pool_size=2) as through:
        async with pooled(through) as second, pooled(through) as third:
            async with pooled(through) as first:
                processes = {await server_process(first), await server_process(second)}
                waiting = asyncio.create_task(server_process(third))
                freed = await server_process(first)
            assert len(processes) == 2
            assert await waiting == freed
