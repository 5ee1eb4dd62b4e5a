"""The PostgreSQL connection pool; row-level security confines each connection to one library."""

import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache
from typing import Any, TypeAlias

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from cutroom.platform.messages.announcements import Announcement, collected_announcements
from cutroom.platform.pooler import Pooler

# A connection keeps the library of its last use in its session. It is reset when a connection is acquired, so that
# code that does not enter a library sees no rows; a caller's credential or a transaction replaces it without a reset.
Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record] | PoolConnectionProxy[asyncpg.Record]"

STATEMENT_TIMEOUT_MS = 15_000
LOCK_TIMEOUT_MS = 5_000
IDLE_TRANSACTION_TIMEOUT_MS = 60_000
ACQUIRE_TIMEOUT_SECONDS = 10
CONNECT_TIMEOUT_SECONDS = 10
IDLE_SECONDS = 300  # until an unused connection is closed
POOLED_IDLE_SECONDS = 30  # behind a pooler, an open connection occupies one of PostgreSQL's, and a new one is cheap

# What a query or connection raises if PostgreSQL fails or ends the connection; asyncpg reports an internal error if the
# server's farewell arrives while nothing was asked.
DATABASE_ERRORS = (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)

_SESSION_SETTINGS = {
    "statement_timeout": str(STATEMENT_TIMEOUT_MS),
    "lock_timeout": str(LOCK_TIMEOUT_MS),
    "idle_in_transaction_session_timeout": str(IDLE_TRANSACTION_TIMEOUT_MS),
    "jit": "off",  # all queries are short: compiling one costs more than running it
}
_SET_SESSION = "; ".join(f"SET {name} = {value}" for name, value in _SESSION_SETTINGS.items())
# Settings of the startup message are the session's defaults, but PgBouncer accepts only a few of them there.
_RESETS = {Pooler.NONE: "RESET ALL", Pooler.SESSION: f"RESET ALL; {_SET_SESSION}"}


class _PooledConnection(asyncpg.Connection):
    """Sends no reset when it is returned: nothing listens, or keeps cursors or advisory locks after a transaction."""

    def get_reset_query(self) -> str:
        return ""


class Database:
    """The connection pool, with and without a library context."""

    def __init__(self, pool: "asyncpg.Pool[asyncpg.Record]", *, pooler: Pooler = Pooler.NONE) -> None:
        self.pool = pool
        self.announcer: Callable[[Iterable[Announcement]], None] | None = None  # sends what transactions announce
        self._reset = _RESETS[pooler]

    @classmethod
    async def connect(cls, url: str, size: int, *, application: str, pooler: Pooler = Pooler.NONE) -> "Database":
        is_direct = pooler is Pooler.NONE
        pool = await asyncpg.create_pool(
            url,
            min_size=1 if is_direct else 0,
            max_size=size,
            max_inactive_connection_lifetime=IDLE_SECONDS if is_direct else POOLED_IDLE_SECONDS,
            connection_class=_PooledConnection,
            init=register_json_codec if is_direct else _init_pooled,
            timeout=CONNECT_TIMEOUT_SECONDS,
            server_settings={"application_name": application, **(_SESSION_SETTINGS if is_direct else {})},
        )
        return cls(pool, pooler=pooler)

    async def close(self) -> None:
        await self.pool.close()

    def spare_connections(self) -> int:
        """How many connections are not in use, including those that the pool has not opened yet."""
        return self.pool.get_max_size() - self.pool.get_size() + self.pool.get_idle_size()

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """Acquires a connection with no library context, which sees no library's rows."""
        async with self.unauthenticated() as connection:
            await connection.execute(self._reset)
            yield connection

    def unauthenticated(self) -> AbstractAsyncContextManager[Connection]:
        """Acquires a connection that may have any library's context: its first statement must authenticate a caller."""
        # asyncpg spawns a task for a timeout, so one is set only if no connection is idle.
        return self.pool.acquire(timeout=None if self.pool.get_idle_size() else ACQUIRE_TIMEOUT_SECONDS)

    @asynccontextmanager
    async def transaction(self, library_id: str) -> AsyncIterator[Connection]:
        """Opens a transaction in one library's context; commits unless the block raises."""
        with collected_announcements() as announcements:
            async with self.unauthenticated() as connection, connection.transaction():
                await enter_library(connection, library_id)
                yield connection
        if announcements and self.announcer is not None:
            self.announcer(announcements)


@asynccontextmanager
async def single_connection(url: str) -> AsyncIterator[Connection]:
    """Opens one connection for a short time, where there is no pool."""
    connection = await asyncpg.connect(url, timeout=CONNECT_TIMEOUT_SECONDS)
    try:
        yield connection
    finally:
        await connection.close()


async def enter_library(connection: Connection, library_id: str) -> None:
    """Confines the current transaction to a library; refused while it moves, and after it has left this cell."""
    await connection.execute("SELECT enter_library($1)", library_id)


async def register_json_codec(connection: Connection) -> None:
    """Encodes and decodes jsonb as Python values."""
    await connection.set_type_codec(
        "jsonb",
        schema="pg_catalog",
        format="binary",
        encoder=lambda value: b"\x01" + json.dumps(value, separators=(",", ":")).encode(),
        decoder=lambda data: json.loads(data[1:]),  # skip the version byte of the jsonb wire format
    )


async def _init_pooled(connection: Connection) -> None:
    await connection.execute(_SET_SESSION)
    await register_json_codec(connection)


async def insert(connection: Connection, table: str, row: Mapping[str, Any]) -> None:
    """Inserts one row; table and column names must come from code, never from callers."""
    await connection.execute(_insert_sql(table, tuple(row)), *row.values())


async def update(
    connection: Connection, table: str, library_id: str, row_id: str, *, columns: Mapping[str, Any]
) -> None:
    """Sets columns of one row; table and column names must come from code, never from callers."""
    assignments = ", ".join(f"{name} = ${number}" for number, name in enumerate(columns, 3))
    await connection.execute(
        f"UPDATE {table} SET {assignments} WHERE library_id = $1 AND id = $2",  # noqa: S608
        library_id,
        row_id,
        *columns.values(),
    )


@cache
def _insert_sql(table: str, columns: tuple[str, ...]) -> str:
    placeholders = ", ".join(f"${n}" for n in range(1, len(columns) + 1))
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({placeholders})"  # noqa: S608
