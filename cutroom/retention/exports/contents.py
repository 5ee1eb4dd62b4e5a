"""Collects the files of an export: rows, settings, receipts, the audit log, and what products declare."""

import hashlib
import json
import zlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import BinaryIO

from cutroom.audit import service as audit
from cutroom.audit.schemas import entry_of
from cutroom.audit.service import AuditFilter
from cutroom.credits import receipts
from cutroom.errors import Code, CutroomError
from cutroom.library.exported_files import ExportedFile, exported_json
from cutroom.platform.db import Connection, Database, enter_library
from cutroom.products.catalog import PRODUCTS
from cutroom.retention.exports.archive_state import ArchivedFile
from cutroom.retention.exports.rules import (
    EXPORTED_TABLES,
    KEPT_OF_PURGED_VIDEOS,
    LEFT_OUT_COLUMNS,
    MAX_FILES,
    SETTINGS_TABLES,
    ArchiveNames,
)

PAGE_ROWS = 500
_NOT_PURGED = """NOT EXISTS (SELECT FROM videos v
    WHERE v.library_id = t.library_id AND v.id = t.video_id AND v.purged_at IS NOT NULL)"""
_LIBRARY = "SELECT to_jsonb(l) AS row FROM libraries l WHERE l.id = $1"
_MEMBERS = """SELECT u.id, u.name, u.email, m.role FROM members m JOIN users u ON u.id = m.user_id
    WHERE m.library_id = $1 ORDER BY u.id"""
_VIDEOS = """SELECT id, to_jsonb(v) AS row FROM videos v
    WHERE library_id = $1 AND id > $2 AND purged_at IS NULL ORDER BY id LIMIT $3"""


@asynccontextmanager
async def open_snapshot(database: Database, library_id: str) -> AsyncIterator[Connection]:
    """A transaction that sees the library as it is now, however long it reads."""
    async with (
        database.connection() as connection,
        connection.transaction(isolation="repeatable_read", readonly=True),
    ):
        await enter_library(connection, library_id)
        yield connection


class FileCollector:
    """Collects files in their order; generated content is appended to one local file, which becomes one object."""

    def __init__(self, generated: BinaryIO, generated_path: str) -> None:
        self.files: list[ArchivedFile] = []
        self._generated = generated
        self._generated_path = generated_path
        self._position = 0
        self._names = ArchiveNames()

    def add(self, files: Sequence[ExportedFile], *, folder: str = "") -> None:
        for file in files:
            if file.path is None:
                self._add_content(f"{folder}{file.name}", file.kind, file.content)
            else:
                self._append(f"{folder}{file.name}", file.kind, file.path)

    async def add_lines(self, name: str, kind: str, lines: AsyncIterator[str]) -> None:
        start, crc32, sha256 = self._position, 0, hashlib.sha256()
        async for line in lines:
            data = f"{line}\n".encode()
            crc32, size = zlib.crc32(data, crc32), self._generated.write(data)
            sha256.update(data)
            self._position += size
        self._append(
            name, kind, self._generated_path, start=start, checksums=(crc32, sha256.hexdigest()), end=self._position
        )

    def _add_content(self, name: str, kind: str, content: bytes) -> None:
        start = self._position
        self._position += self._generated.write(content)
        checksums = zlib.crc32(content), hashlib.sha256(content).hexdigest()
        self._append(name, kind, self._generated_path, start=start, checksums=checksums, end=self._position)

    def _append(
        self,
        name: str,
        kind: str,
        path: str,
        *,
        start: int = 0,
        end: int | None = None,
        checksums: tuple[int, str] | None = None,
    ) -> None:
        if len(self.files) >= MAX_FILES:
            raise CutroomError(
                Code.FAILED_PRECONDITION,
                message=f"The library has more than {MAX_FILES} files, too many for one archive.",
            )
        crc32, sha256 = checksums or (None, None)
        self.files.append(
            ArchivedFile(
                number=len(self.files) + 1,  # 0 is the manifest
                name=self._names.take(name),
                kind=kind,
                storage_path=path,
                start_byte=start,
                size_bytes=end - start if end is not None else None,
                crc32=crc32,
                sha256=sha256,
            )
        )


async def collect_files(connection: Connection, library_id: str, collector: FileCollector) -> None:
    """Adds every file of the library, in an order that does not change between runs."""
    await _add_settings(connection, library_id, collector)
    for table in EXPORTED_TABLES:
        await collector.add_lines(f"rows/{table}.jsonl", "rows", _rows(connection, library_id, table))
    await collector.add_lines("receipts.jsonl", "receipts", _receipts(connection, library_id))
    await collector.add_lines("audit-log.jsonl", "audit_log", _audit_log(connection, library_id))
    for product in PRODUCTS:
        if product.export_library is not None:
            collector.add(await product.export_library(connection, library_id))
    after = ""
    while videos := await connection.fetch(_VIDEOS, library_id, after, PAGE_ROWS):
        for video in videos:
            await _add_video(connection, library_id, video["id"], row=video["row"], collector=collector)
        after = videos[-1]["id"]


async def _add_video(
    connection: Connection, library_id: str, video_id: str, *, row: dict[str, object], collector: FileCollector
) -> None:
    folder = f"videos/{video_id}/"
    document = {"isInTrash": row["deleted_at"] is not None, **row}
    collector.add(
        [exported_json("video.json", "trashed_video" if document["isInTrash"] else "video", document)], folder=folder
    )
    for product in PRODUCTS:
        if product.export is not None:
            collector.add(await product.export(connection, library_id, video_id), folder=folder)


async def _add_settings(connection: Connection, library_id: str, collector: FileCollector) -> None:
    library = await connection.fetchval(_LIBRARY, library_id)
    members = [dict(row) for row in await connection.fetch(_MEMBERS, library_id)]
    tables = {
        table: [json.loads(row) async for row in _rows(connection, library_id, table)] for table in SETTINGS_TABLES
    }
    collector.add([exported_json("settings.json", "settings", {"library": library, "members": members, **tables})])


async def _rows(connection: Connection, library_id: str, table: str) -> AsyncIterator[str]:
    """The rows of a table as JSON, without the columns that are left out."""
    columns = await connection.fetch(
        """SELECT a.attname AS name, coalesce(a.attnum = ANY(i.indkey), false) AS is_key
           FROM pg_attribute a LEFT JOIN pg_index i ON i.indrelid = a.attrelid AND i.indisprimary
           WHERE a.attrelid = $1::text::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum""",
        table,
    )
    names = {row["name"] for row in columns}
    order = ", ".join(row["name"] for row in columns if row["is_key"])
    condition = "true"
    if table == "videos":
        condition = "t.purged_at IS NULL"
    elif "video_id" in names and table not in KEPT_OF_PURGED_VIDEOS:
        condition = _NOT_PURGED
    # Tables are named in EXPORTED_TABLES, and columns by the catalog: nothing comes from a caller.
    exported = ", ".join(f"t.{name}" for name in sorted(names - LEFT_OUT_COLUMNS.get(table, {}).keys()))
    sql = f"""SELECT to_jsonb(r)::text AS row FROM (
                  SELECT {exported} FROM {table} t WHERE t.library_id = $1 AND {condition}
              ) r ORDER BY {order}"""  # noqa: S608
    async for row in connection.cursor(sql, library_id, prefetch=PAGE_ROWS):
        yield row["row"]


async def _receipts(connection: Connection, library_id: str) -> AsyncIterator[str]:
    after = ""
    while holders := await receipts.list_holders(connection, library_id, after=after, limit=PAGE_ROWS):
        for holder in holders:
            receipt = await receipts.receipt(connection, library_id, holder=holder)
            yield json.dumps({"jobId": holder, **receipt}, ensure_ascii=False)
        after = holders[-1]


async def _audit_log(connection: Connection, library_id: str) -> AsyncIterator[str]:
    head = await audit.read_head(connection, library_id)
    after = 0
    while entries := await audit.list_entries_after(
        connection, library_id, AuditFilter(), after=after, up_to=head.sequence
    ):
        for each in entries:
            yield entry_of(each).model_dump_json(by_alias=True)
        after = entries[-1].entry.sequence
