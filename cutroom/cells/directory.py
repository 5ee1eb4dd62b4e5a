"""The directory: the cells of an installation, the libraries that have moved, and the progress of moves."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

import asyncpg

from cutroom.cells.schema import STATEMENTS
from cutroom.platform.ids import new_id

CONNECTIONS = 4
TIMEOUT_SECONDS = 5.0
_MOVE_COLUMNS = "id, library_id, source, target, phase, flipped_at"


class UnknownCellError(Exception):
    """The directory lists no cell of this name."""


class MoveConflictError(Exception):
    """A move of this library has not finished, or the library lives elsewhere."""


class Phase(StrEnum):
    """How far a move is. While it copies, it can be rolled back; from then on it only goes forward."""

    COPYING = "copying"
    ERASING = "erasing"
    DONE = "done"
    ROLLED_BACK = "rolled_back"


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell as routers see it."""

    name: str
    api_url: str
    accepts_new: bool


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a library lives, since which version of the directory."""

    library_id: str
    cell: str
    version: int


@dataclass(frozen=True, slots=True)
class Move:
    """A move that has started."""

    id: str
    library_id: str
    source: str
    target: str
    phase: Phase
    flipped_at: datetime | None


class Directory:
    """A pool of connections to the directory's database."""

    def __init__(self, pool: "asyncpg.Pool[asyncpg.Record]") -> None:
        self._pool = pool

    @classmethod
    @asynccontextmanager
    async def open(cls, url: str) -> "AsyncIterator[Directory]":
        settings = {"application_name": "cutroom-cells"}
        pool = await asyncpg.create_pool(
            url, min_size=0, max_size=CONNECTIONS, command_timeout=TIMEOUT_SECONDS, server_settings=settings
        )
        try:
            yield cls(pool)
        finally:
            await pool.close()

    async def create_schema(self) -> None:
        async with self._pool.acquire() as connection, connection.transaction():
            await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('directory schema', 0))")
            for statement in STATEMENTS:
                await connection.execute(statement)

    @asynccontextmanager
    async def exclusive(self, library_id: str) -> AsyncIterator[None]:
        """Held by the one process that works on a library's move; its end or death releases it."""
        async with self._pool.acquire() as connection:
            key = f"move {library_id}"
            if not await connection.fetchval("SELECT pg_try_advisory_lock(hashtextextended($1, 0))", key):
                raise MoveConflictError("another process is working on the move of this library")
            try:
                yield
            finally:
                await connection.execute("SELECT pg_advisory_unlock(hashtextextended($1, 0))", key)

    async def add_cell(self, name: str, api_url: str) -> None:
        await self._pool.execute(
            """INSERT INTO cells (name, api_url, accepts_new) VALUES ($1, $2, NOT EXISTS (SELECT FROM cells))
               ON CONFLICT (name) DO UPDATE SET api_url = excluded.api_url""",
            name,
            api_url.rstrip("/"),
        )

    async def open_for_new_accounts(self, name: str) -> None:
        """New accounts go to this cell, and to no other."""
        await self.cell(name)
        await self._pool.execute("UPDATE cells SET accepts_new = name = $1", name)

    async def cells(self) -> Mapping[str, Cell]:
        rows = await self._pool.fetch("SELECT name, api_url, accepts_new FROM cells ORDER BY name")
        return {row["name"]: Cell(**dict(row)) for row in rows}

    async def cell(self, name: str) -> Cell:
        found = (await self.cells()).get(name)
        if found is None:
            raise UnknownCellError(name)
        return found

    async def placements(self, since: int = 0) -> list[Placement]:
        rows = await self._pool.fetch(
            "SELECT library_id, cell, version FROM library_cells WHERE version > $1 ORDER BY version", since
        )
        return [Placement(**dict(row)) for row in rows]

    async def placement(self, library_id: str) -> Placement | None:
        row = await self._pool.fetchrow(
            "SELECT library_id, cell, version FROM library_cells WHERE library_id = $1", library_id
        )
        return None if row is None else Placement(**dict(row))

    async def start_move(self, library_id: str, *, source: str, target: str) -> Move:
        """Record a move, or return the one of this library that has not finished."""
        for name in (source, target):
            await self.cell(name)
        unfinished = await self.unfinished_move(library_id)
        if unfinished is None:
            await self._pool.execute(
                "INSERT INTO moves (id, library_id, source, target, phase) VALUES ($1, $2, $3, $4, 'copying')",
                new_id(),
                library_id,
                source,
                target,
            )
            unfinished = await self.unfinished_move(library_id)
        assert unfinished is not None
        if (unfinished.source, unfinished.target) != (source, target):
            raise MoveConflictError(f"the library is moving from {unfinished.source} to {unfinished.target}")
        return unfinished

    async def unfinished_move(self, library_id: str) -> Move | None:
        row = await self._pool.fetchrow(
            f"""SELECT {_MOVE_COLUMNS} FROM moves
                WHERE library_id = $1 AND phase NOT IN ('done', 'rolled_back')""",  # noqa: S608 (our own columns)
            library_id,
        )
        return None if row is None else _move(row)

    async def unfinished_moves(self) -> list[Move]:
        rows = await self._pool.fetch(
            f"""SELECT {_MOVE_COLUMNS} FROM moves
                WHERE phase NOT IN ('done', 'rolled_back') ORDER BY id""",  # noqa: S608 (our own columns)
        )
        return [_move(row) for row in rows]

    async def flip(self, move: Move) -> None:
        """The library lives in the target from now on: the one step that decides a move."""
        async with self._pool.acquire() as connection, connection.transaction():
            # Versions become visible in their order, because one move is recorded at a time.
            await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('directory versions', 0))")
            await connection.execute(
                """INSERT INTO library_cells (library_id, cell, generation) VALUES ($1, $2, 1)
                   ON CONFLICT (library_id) DO UPDATE SET cell = excluded.cell, version = excluded.version,
                       generation = library_cells.generation + 1""",
                move.library_id,
                move.target,
            )
            await connection.execute("UPDATE moves SET phase = 'erasing', flipped_at = now() WHERE id = $1", move.id)

    async def finish(self, move: Move, phase: Phase, *, error: str | None = None) -> None:
        await self._pool.execute(
            "UPDATE moves SET phase = $2, ended_at = now(), error = $3 WHERE id = $1", move.id, phase.value, error
        )

    async def record_unavailable(self, move: Move, seconds: float) -> None:
        """How long no transaction of the library could begin."""
        milliseconds = round(seconds * 1000)
        await self._pool.execute("UPDATE moves SET unavailable_milliseconds = $2 WHERE id = $1", move.id, milliseconds)

    async def flips(self, library_id: str) -> list[tuple[datetime, int]]:
        """When the library moved, and for how many milliseconds it was unavailable."""
        rows = await self._pool.fetch(
            """SELECT flipped_at, unavailable_milliseconds FROM moves
               WHERE library_id = $1 AND unavailable_milliseconds IS NOT NULL ORDER BY flipped_at""",
            library_id,
        )
        return [(row["flipped_at"], row["unavailable_milliseconds"]) for row in rows]

    async def has_lived_in(self, library_id: str, cell: str) -> bool:
        """Whether the library has left this cell before."""
        sql = "SELECT EXISTS (SELECT FROM moves WHERE library_id = $1 AND source = $2 AND phase = 'done')"
        return bool(await self._pool.fetchval(sql, library_id, cell))


def _move(row: asyncpg.Record) -> Move:
    return Move(**{**dict(row), "phase": Phase(row["phase"])})
