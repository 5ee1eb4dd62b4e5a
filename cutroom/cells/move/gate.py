"""Freezes, thaws and opens a library in one cell: the rows that `enter_library` reads in every transaction."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import asyncpg

from cutroom.platform.db import Connection

FROZEN_FOR = timedelta(seconds=30)  # then a library whose mover has died is usable again
LOCK_MILLISECONDS = 1_000  # that requests wait behind the attempt to freeze their library
ATTEMPTS = 30
PAUSE_SECONDS = 1.0


class LibraryBusyError(Exception):
    """A transaction of the library did not end in time."""


class FreezeExpiredError(Exception):
    """The copy took longer than the library may be frozen."""


async def freeze(pool: "asyncpg.Pool[asyncpg.Record]", library_id: str) -> None:
    """Wait for the library's transactions to end, and refuse new ones."""
    for _ in range(ATTEMPTS):
        try:
            async with _exclusive(pool, library_id) as connection:
                await connection.execute(
                    """INSERT INTO library_moves (id, state, until) VALUES ($1, 'frozen', clock_timestamp() + $2)
                       ON CONFLICT (id) DO UPDATE SET state = excluded.state, until = excluded.until""",
                    library_id,
                    FROZEN_FOR,
                )
        except asyncpg.LockNotAvailableError:
            await asyncio.sleep(PAUSE_SECONDS)
        else:
            return
    raise LibraryBusyError(library_id)


async def leave(pool: "asyncpg.Pool[asyncpg.Record]", library_id: str) -> None:
    """Refuse transactions for good, unless the library has thawed in the meantime."""
    async with _exclusive(pool, library_id) as connection:
        left = await connection.fetchval(
            """UPDATE library_moves SET state = 'left', until = NULL
               WHERE id = $1 AND state = 'frozen' AND until > clock_timestamp() RETURNING id""",
            library_id,
        )
    if left is None:
        raise FreezeExpiredError(library_id)


async def announce(pool: "asyncpg.Pool[asyncpg.Record]", library_id: str) -> None:
    """Refuse transactions in the cell that the library arrives in, until it is complete."""
    await pool.execute(
        """INSERT INTO library_moves (id, state) VALUES ($1, 'arriving')
           ON CONFLICT (id) DO UPDATE SET state = excluded.state, until = NULL""",
        library_id,
    )


async def admit(pool: "asyncpg.Pool[asyncpg.Record]", library_id: str) -> None:
    """Transactions of the library may begin."""
    await pool.execute("DELETE FROM library_moves WHERE id = $1", library_id)


async def state_of(pool: "asyncpg.Pool[asyncpg.Record]", library_id: str) -> str | None:
    found: str | None = await pool.fetchval("SELECT state FROM library_moves WHERE id = $1", library_id)
    return found


@asynccontextmanager
async def _exclusive(pool: "asyncpg.Pool[asyncpg.Record]", library_id: str) -> AsyncIterator[Connection]:
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute(f"SET LOCAL lock_timeout = {LOCK_MILLISECONDS}")
        await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('library ' || $1, 0))", library_id)
        yield connection
