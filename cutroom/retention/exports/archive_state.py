"""Stores the state of unfinished exports: their files, and the parts of their archives."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cutroom.jobs.lifecycle import Failure
from cutroom.platform.db import Connection
from cutroom.retention.exports.rules import LIFETIME, ExportRef


@dataclass(frozen=True, slots=True)
class ArchiveState:
    """An unfinished export, as its activities see it."""

    created_at: datetime
    multipart_id: str | None
    part_bytes: int | None
    archive_bytes: int | None


async def load_unfinished(connection: Connection, ref: ExportRef) -> ArchiveState | None:
    """None if the export is finished, deleted or removed."""
    row = await connection.fetchrow(
        """SELECT created_at, multipart_id, part_bytes, archive_bytes FROM exports
           WHERE library_id = $1 AND id = $2 AND status IN ('queued', 'processing') AND deleted_at IS NULL""",
        ref.library_id,
        ref.export_id,
    )
    return ArchiveState(**row) if row is not None else None


async def update_export(connection: Connection, ref: ExportRef, columns: Mapping[str, Any]) -> None:
    """Sets columns of an unfinished export; column names must come from code."""
    assignments = ", ".join(f"{name} = ${number}" for number, name in enumerate(columns, 3))
    await connection.execute(
        f"""UPDATE exports SET {assignments}
            WHERE library_id = $1 AND id = $2 AND status IN ('queued', 'processing')""",  # noqa: S608
        ref.library_id,
        ref.export_id,
        *columns.values(),
    )


async def report_progress(connection: Connection, ref: ExportRef, percent: float) -> None:
    await update_export(connection, ref, {"progress": min(max(percent, 0.0), 100.0)})


async def complete_export(connection: Connection, ref: ExportRef, *, sha256: str, now: datetime) -> None:
    columns = {"status": "ready", "progress": 100, "sha256": sha256, "finished_at": now, "expires_at": now + LIFETIME}
    await update_export(connection, ref, {**columns, "multipart_id": None})
    await delete_files(connection, ref)


async def fail_export(connection: Connection, ref: ExportRef, failure: Failure, *, now: datetime) -> None:
    columns = {
        "status": "failed",
        "error_code": failure.code,
        "error_message": failure.message,
        "error_details": dict(failure.details),
        "finished_at": now,
        "expires_at": now + LIFETIME,
    }
    await update_export(connection, ref, columns)
    await delete_files(connection, ref)


async def multipart_id(connection: Connection, ref: ExportRef) -> str | None:
    """The multipart upload of an export in any state."""
    found: str | None = await connection.fetchval(
        "SELECT multipart_id FROM exports WHERE library_id = $1 AND id = $2", ref.library_id, ref.export_id
    )
    return found


async def remove_export(connection: Connection, ref: ExportRef) -> None:
    await connection.execute("DELETE FROM exports WHERE library_id = $1 AND id = $2", ref.library_id, ref.export_id)


async def expired_exports(connection: Connection, *, now: datetime, limit: int) -> list[ExportRef]:
    """Expired exports of all libraries; a SECURITY DEFINER function bypasses row-level security."""
    rows = await connection.fetch("SELECT library_id, id FROM expired_exports($1, $2)", now, limit)
    return [ExportRef(row["library_id"], row["id"]) for row in rows]


async def part_etags(connection: Connection, ref: ExportRef) -> list[str]:
    rows = await connection.fetch(
        "SELECT etag FROM export_parts WHERE library_id = $1 AND export_id = $2 ORDER BY number",
        ref.library_id,
        ref.export_id,
    )
    return [row["etag"] for row in rows]


async def add_part(connection: Connection, ref: ExportRef, number: int, etag: str) -> None:
    await connection.execute(
        """INSERT INTO export_parts (library_id, export_id, number, etag) VALUES ($1, $2, $3, $4)
           ON CONFLICT (library_id, export_id, number) DO UPDATE SET etag = EXCLUDED.etag""",
        ref.library_id,
        ref.export_id,
        number,
        etag,
    )


async def discard_parts(connection: Connection, ref: ExportRef) -> None:
    """Forgets the multipart upload, which has been aborted."""
    await connection.execute(
        "DELETE FROM export_parts WHERE library_id = $1 AND export_id = $2", ref.library_id, ref.export_id
    )
    await update_export(connection, ref, {"multipart_id": None, "part_bytes": None})


async def delete_files(connection: Connection, ref: ExportRef) -> None:
    for table in ("export_files", "export_parts"):
        await connection.execute(
            f"DELETE FROM {table} WHERE library_id = $1 AND export_id = $2",  # noqa: S608 (fixed names)
            ref.library_id,
            ref.export_id,
        )


@dataclass(frozen=True, slots=True)
class ArchivedFile:
    """A file of an unfinished archive; `size_bytes`, checksums and ETag are known once it has been read."""

    number: int
    name: str
    kind: str
    storage_path: str
    start_byte: int = 0
    size_bytes: int | None = None
    etag: str | None = None
    crc32: int | None = None
    sha256: str | None = None
    is_missing: bool = False


_FILE_COLUMNS = "number, name, kind, storage_path, start_byte, size_bytes, etag, crc32, sha256, is_missing"


async def has_files(connection: Connection, ref: ExportRef) -> bool:
    sql = "SELECT EXISTS (SELECT FROM export_files WHERE library_id = $1 AND export_id = $2)"
    return bool(await connection.fetchval(sql, ref.library_id, ref.export_id))


async def save_files(connection: Connection, ref: ExportRef, files: Sequence[ArchivedFile]) -> None:
    """Stores files, or what is known of them after they have been read."""
    await connection.executemany(
        f"""INSERT INTO export_files (library_id, export_id, {_FILE_COLUMNS})
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
            ON CONFLICT (library_id, export_id, number) DO UPDATE SET
                storage_path = EXCLUDED.storage_path, start_byte = EXCLUDED.start_byte,
                size_bytes = EXCLUDED.size_bytes, etag = EXCLUDED.etag, crc32 = EXCLUDED.crc32,
                sha256 = EXCLUDED.sha256, is_missing = EXCLUDED.is_missing""",  # noqa: S608 (fixed columns)
        [(ref.library_id, ref.export_id, *_file_values(each)) for each in files],
    )


def _file_values(file: ArchivedFile) -> tuple[object, ...]:
    return tuple(getattr(file, name) for name in _FILE_COLUMNS.split(", "))


async def unread_files(connection: Connection, ref: ExportRef, *, limit: int) -> list[ArchivedFile]:
    rows = await connection.fetch(
        f"""SELECT {_FILE_COLUMNS} FROM export_files
            WHERE library_id = $1 AND export_id = $2 AND sha256 IS NULL AND NOT is_missing
            ORDER BY number LIMIT $3""",  # noqa: S608 (fixed columns)
        ref.library_id,
        ref.export_id,
        limit,
    )
    return [ArchivedFile(**row) for row in rows]


async def count_files(connection: Connection, ref: ExportRef) -> tuple[int, int]:
    """How many files have been read, and how many there are."""
    row = await connection.fetchrow(
        """SELECT count(*) FILTER (WHERE sha256 IS NOT NULL OR is_missing) AS done, count(*) AS total FROM export_files
           WHERE library_id = $1 AND export_id = $2""",
        ref.library_id,
        ref.export_id,
    )
    assert row is not None
    return row["done"], row["total"]


async def read_files(connection: Connection, ref: ExportRef) -> list[ArchivedFile]:
    """All files, the manifest first once it exists."""
    rows = await connection.fetch(
        f"""SELECT {_FILE_COLUMNS} FROM export_files
            WHERE library_id = $1 AND export_id = $2 ORDER BY number""",  # noqa: S608 (fixed columns)
        ref.library_id,
        ref.export_id,
    )
    return [ArchivedFile(**row) for row in rows]


async def forget_file(connection: Connection, ref: ExportRef, number: int) -> None:
    """Marks a file that changed as unread, and removes the manifest, which no longer matches."""
    await connection.execute(
        """UPDATE export_files SET size_bytes = NULL, etag = NULL, crc32 = NULL, sha256 = NULL
           WHERE library_id = $1 AND export_id = $2 AND number = $3""",
        ref.library_id,
        ref.export_id,
        number,
    )
    await connection.execute(
        "DELETE FROM export_files WHERE library_id = $1 AND export_id = $2 AND number = 0",
        ref.library_id,
        ref.export_id,
    )
