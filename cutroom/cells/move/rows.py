"""Copies the rows of a library from a snapshot, then what has changed since, and compares both cells."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence

import asyncpg

from cutroom.cells.move.tables import LibraryTable
from cutroom.platform.db import Connection

QUEUED_CHUNKS = 16
BATCH = 1_000


class CopyMismatchError(Exception):
    """The copy differs from the original."""


async def snapshot_horizon(source: Connection) -> str:
    """The oldest transaction that the current snapshot does not see as ended."""
    horizon: str = await source.fetchval(
        "SELECT (pg_snapshot_xmin(pg_current_snapshot())::text::bigint % 4294967296)::text"
    )
    return horizon


async def copy_table(source: Connection, target: Connection, table: LibraryTable, library_id: str) -> None:
    """Stream all rows of a table; neither side holds them in memory."""
    queue: asyncio.Queue[bytes | None] = asyncio.Queue(QUEUED_CHUNKS)

    async def chunks() -> AsyncIterator[bytes]:
        while (chunk := await queue.get()) is not None:
            yield chunk

    async def read() -> None:
        await source.copy_from_query(table.rows, library_id, output=queue.put, format="binary")
        await queue.put(None)

    async with asyncio.TaskGroup() as group:
        group.create_task(read())
        group.create_task(
            target.copy_to_table(table.name, source=chunks(), columns=list(table.columns), format="binary")
        )


async def apply_changes(
    source: Connection, target: Connection, tables: Sequence[LibraryTable], *, library_id: str, since: str
) -> int:
    """Bring the target up to the source's current snapshot; return how many rows were saved or deleted."""
    changed = {table.name: await source.fetch(table.changed_rows, library_id, since) for table in tables}
    await target.execute("SELECT set_config('cutroom.copied_library', $1, true)", library_id)
    try:
        async with target.transaction():
            await _save(target, tables, changed)
    except asyncpg.UniqueViolationError:  # a deleted row had what a new one has now
        deleted = await _delete_gone(source, target, tables, library_id)
        await _save(target, tables, changed)
    else:
        deleted = await _delete_gone(source, target, tables, library_id)
    return deleted + sum(len(rows) for rows in changed.values())


async def _save(
    target: Connection, tables: Sequence[LibraryTable], changed: Mapping[str, Sequence[asyncpg.Record]]
) -> None:
    for table in tables:
        rows = changed[table.name]
        for start in range(0, len(rows), BATCH):
            await target.executemany(table.save, [tuple(row) for row in rows[start : start + BATCH]])


async def _delete_gone(source: Connection, target: Connection, tables: Sequence[LibraryTable], library_id: str) -> int:
    """Delete what the source has no longer; keys are listed only where the counts differ."""
    deleted = 0
    for table in reversed(tables):
        if await source.fetchval(table.count, library_id) == await target.fetchval(table.count, library_id):
            continue
        original = {tuple(row) for row in await source.fetch(table.keys, library_id)}
        gone = [key for row in await target.fetch(table.keys, library_id) if (key := tuple(row)) not in original]
        if gone:
            await target.execute(table.delete, *(list(values) for values in zip(*gone, strict=True)))
        deleted += len(gone)
    return deleted


async def verify(source: Connection, target: Connection, tables: Sequence[LibraryTable], library_id: str) -> None:
    """Raise unless every table has the same rows in both cells, by count and checksum."""
    for table in tables:
        original, copy = await asyncio.gather(
            source.fetchrow(table.checksum, library_id), target.fetchrow(table.checksum, library_id)
        )
        if tuple(original or ()) != tuple(copy or ()):
            raise CopyMismatchError(f"{table.name}: {original} rows and checksum, {copy} in the copy")
