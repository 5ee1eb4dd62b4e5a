"""Copies the rows of a library from a snapshot, then what has changed since, and compares both cells."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence

import asyncpg

from cutroom.cells.move.tables import LibraryTable, of_all
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
    names = await source.fetch(of_all([table.has_changed for table in tables]), library_id, since)
    affected = {row["name"] for row in names}
    changed = {
        table.name: await source.fetch(table.changed_rows, library_id, since)
        for table in tables
        if table.name in affected
    }
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
        rows = changed.get(table.name, ())
        for start in range(0, len(rows), BATCH):
            await target.executemany(table.save, [tuple(row) for row in rows[start : start + BATCH]])


async def _delete_gone(source: Connection, target: Connection, tables: Sequence[LibraryTable], library_id: str) -> int:
    """Delete what the source has no longer; keys are listed only where the counts differ."""
    deleted = 0
    query = of_all([table.count for table in tables])
    counts = await _of_both(source, target, query, library_id)
    for table in reversed(tables):
        if counts[0][table.name] == counts[1][table.name]:
            continue
        original = {tuple(row) for row in await source.fetch(table.keys, library_id)}
        gone = [key for row in await target.fetch(table.keys, library_id) if (key := tuple(row)) not in original]
        if gone:
            await target.execute(table.delete, *(list(values) for values in zip(*gone, strict=True)))
        deleted += len(gone)
    return deleted


async def verify(source: Connection, target: Connection, tables: Sequence[LibraryTable], library_id: str) -> None:
    """Raise unless every table has the same rows in both cells, by count and checksum."""
    originals, copies = await _of_both(source, target, of_all([table.checksum for table in tables]), library_id)
    for table in tables:
        original, copy = originals[table.name], copies[table.name]
        if original != copy:
            raise CopyMismatchError(f"{table.name}: {original} rows and checksum, {copy} in the copy")


async def _of_both(
    source: Connection, target: Connection, query: str, library_id: str
) -> tuple[dict[str, tuple[object, ...]], dict[str, tuple[object, ...]]]:
    """The results by name of table, in both cells."""
    originals, copies = await asyncio.gather(source.fetch(query, library_id), target.fetch(query, library_id))
    return {row[0]: tuple(row)[1:] for row in originals}, {row[0]: tuple(row)[1:] for row in copies}
