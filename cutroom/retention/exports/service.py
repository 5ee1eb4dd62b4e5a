"""Creates, reads and deletes exports."""

from dataclasses import asdict
from datetime import datetime

import asyncpg

from cutroom.accounts.principals import Principal
from cutroom.errors import Code, CutroomError, not_found
from cutroom.jobs.states import JobState
from cutroom.platform.db import Connection
from cutroom.platform.ids import is_id, new_id
from cutroom.platform.outbox import WorkflowStart, enqueue
from cutroom.platform.storage.objects import Storage
from cutroom.retention.exports.rules import MAX_LISTED, MAX_READY, MAX_RUN, ExportRef
from cutroom.retention.exports.schemas import ExportSummary, LibraryExport

EXPORT_WORKFLOW = "export-library"
DELETE_WORKFLOW = "delete-export"
_COLUMNS = """id, status, progress, created_at, finished_at, expires_at, file_count, content_bytes, archive_bytes,
    sha256, summary, error_code, error_message, error_details"""
_VISIBLE = f"SELECT {_COLUMNS} FROM exports WHERE library_id = $1 AND deleted_at IS NULL AND expires_at > $2"  # noqa: S608


async def create_export(connection: Connection, principal: Principal, *, now: datetime) -> LibraryExport:
    """Creates an export and starts its workflow; a library has one unfinished export at a time."""
    library_id, ref = principal.library_id, ExportRef(principal.library_id, new_id())
    ready = await connection.fetchval(
        """SELECT count(*) FROM exports
           WHERE library_id = $1 AND status = 'ready' AND deleted_at IS NULL AND expires_at > $2""",
        library_id,
        now,
    )
    if ready >= MAX_READY:
        raise CutroomError(
            Code.FAILED_PRECONDITION,
            message=f"The library has {MAX_READY} exports. Delete one first.",
            details={"reason": "quota", "limit": MAX_READY},
        )
    inserted = await connection.fetchval(
        """INSERT INTO exports (library_id, id, status, created_at, expires_at) VALUES ($1, $2, 'queued', $3, $4)
           ON CONFLICT DO NOTHING RETURNING id""",
        library_id,
        ref.export_id,
        now,
        now + MAX_RUN,
    )
    if inserted is None:
        raise await _unfinished(connection, library_id)
    await enqueue(connection, WorkflowStart(library_id, EXPORT_WORKFLOW, ref.workflow_id, asdict(ref)))
    row = await connection.fetchrow(f"{_VISIBLE} AND id = $3", library_id, now, ref.export_id)
    assert row is not None
    return _to_export(row, library_id, storage=None)


async def _unfinished(connection: Connection, library_id: str) -> CutroomError:
    export_id = await connection.fetchval(
        """SELECT id FROM exports
           WHERE library_id = $1 AND status IN ('queued', 'processing') AND deleted_at IS NULL""",
        library_id,
    )
    return CutroomError(
        Code.CONFLICT,
        message="An export of this library is not finished yet.",
        details={"exportId": export_id} if export_id is not None else {},
    )


async def list_exports(
    connection: Connection, principal: Principal, *, storage: Storage, now: datetime
) -> list[LibraryExport]:
    rows = await connection.fetch(
        f"{_VISIBLE} ORDER BY id DESC LIMIT {MAX_LISTED}",
        principal.library_id,
        now,
    )
    return [_to_export(row, principal.library_id, storage=storage) for row in rows]


async def get_export(
    connection: Connection, principal: Principal, export_id: str, *, storage: Storage, now: datetime
) -> LibraryExport:
    row = None
    if is_id(export_id):
        row = await connection.fetchrow(f"{_VISIBLE} AND id = $3", principal.library_id, now, export_id)
    if row is None:
        raise not_found()
    return _to_export(row, principal.library_id, storage=storage)


async def delete_export(connection: Connection, principal: Principal, export_id: str, *, now: datetime) -> JobState:
    """Hides an export at once and starts the workflow that removes it; returns its last status."""
    status = None
    if is_id(export_id):
        status = await connection.fetchval(
            """UPDATE exports SET deleted_at = $3
               WHERE library_id = $1 AND id = $2 AND deleted_at IS NULL AND expires_at > $3 RETURNING status""",
            principal.library_id,
            export_id,
            now,
        )
    if status is None:
        raise not_found()
    ref = ExportRef(principal.library_id, export_id)
    start = WorkflowStart(ref.library_id, DELETE_WORKFLOW, f"delete_{ref.workflow_id}", asdict(ref))
    await enqueue(connection, start)
    return JobState(status)


def _to_export(row: asyncpg.Record, library_id: str, *, storage: Storage | None) -> LibraryExport:
    url, error = None, None
    if row["status"] == JobState.READY and storage is not None:
        name = f"library-export-{row['created_at']:%Y-%m-%d}.zip"
        url = storage.download_url(ExportRef(library_id, row["id"]).archive_path, name)
    if row["error_code"] is not None:
        error = {"code": row["error_code"], "message": row["error_message"], "details": row["error_details"] or {}}
    return LibraryExport(
        id=row["id"],
        status=JobState(row["status"]),
        progress=round(row["progress"], 1),
        created_at=row["created_at"],
        finished_at=row["finished_at"],
        expires_at=row["expires_at"],
        file_count=row["file_count"],
        content_bytes=row["content_bytes"],
        archive_bytes=row["archive_bytes"],
        sha256=row["sha256"],
        summary=ExportSummary.model_validate(row["summary"]) if row["summary"] is not None else None,
        download_url=url,
        error=error,
    )
