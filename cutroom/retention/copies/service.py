"""Settings of the library's own bucket, and the state of the copies in it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

import asyncpg

from cutroom.errors import Code, CutroomError, invalid_field, not_found
from cutroom.jobs.ids import parse_job_id
from cutroom.jobs.lifecycle import JobRef
from cutroom.library.exported_files import ExportedFile
from cutroom.platform.db import Connection
from cutroom.platform.ids import is_id, new_id
from cutroom.platform.outbox import WorkflowStart, enqueue
from cutroom.platform.secret_box import SecretBox
from cutroom.products.catalog import PRODUCTS
from cutroom.retention.copies.bucket import BucketAccess
from cutroom.retention.copies.rules import CopyRef, CopyStatus, StoreFault, copied_job_id
from cutroom.retention.copies.schemas import Destination, DestinationSettings, OutputCopy
from cutroom.web.revisions import Revised, require_match

BucketTest = Callable[[BucketAccess], Awaitable[StoreFault | None]]
COPY_WORKFLOW = "copy-output"
CHECK_WORKFLOW = "check-destination"
SECRET_PURPOSE = "destination"  # noqa: S105 (names a derived key)
_DESTINATION = """SELECT endpoint, region, bucket, prefix, access_key_id, sealed_secret, enabled, revision
    FROM destinations WHERE library_id = $1"""
_COPIES = """SELECT id, job_id, video_id, status, error_message, objects, bytes, created_at, copied_at
    FROM output_copies WHERE library_id = $1"""


async def get_destination(connection: Connection, library_id: str) -> Revised[Destination]:
    row = await connection.fetchrow(_DESTINATION, library_id)
    if row is None:
        raise not_found()
    return _to_destination(row)


async def set_destination(
    connection: Connection,
    library_id: str,
    settings: DestinationSettings,
    *,
    if_match: str | None,
    secret_box: SecretBox,
    check: BucketTest,
    now: datetime,
) -> tuple[Destination | None, Revised[Destination]]:
    """Stores the bucket after a test of its key; returns the earlier one too."""
    row = await connection.fetchrow(f"{_DESTINATION} FOR UPDATE", library_id)
    if row is not None:
        require_match(if_match, row["revision"])
    elif if_match is not None:
        raise CutroomError(Code.CONFLICT, message="The library has no bucket yet.")
    sealed = row["sealed_secret"] if row is not None and _is_same_key(row, settings) else None
    if settings.secret_access_key is not None:
        sealed = secret_box.seal(
            SECRET_PURPOSE, settings.secret_access_key.get_secret_value().encode(), context=library_id
        )
    if sealed is None:
        raise invalid_field("secretAccessKey", "This field is required.")
    values = settings.model_dump(exclude={"secret_access_key", "enabled"})
    if settings.enabled:
        fault = await check(_access(values, sealed, library_id, secret_box))
        if fault is not None:
            details = {"reason": "bucket", "storeCode": fault.code}
            raise CutroomError(Code.FAILED_PRECONDITION, message=fault.message, details=details)
    saved = await connection.fetchrow(
        """INSERT INTO destinations
               (library_id, endpoint, region, bucket, prefix, access_key_id, sealed_secret, enabled, created_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
           ON CONFLICT (library_id) DO UPDATE SET endpoint = excluded.endpoint, region = excluded.region,
               bucket = excluded.bucket, prefix = excluded.prefix, access_key_id = excluded.access_key_id,
               sealed_secret = excluded.sealed_secret, enabled = excluded.enabled
           RETURNING endpoint, region, bucket, prefix, access_key_id, enabled, revision""",
        library_id,
        *values.values(),
        sealed,
        settings.enabled,
        now,
    )
    assert saved is not None
    return _to_destination(row).resource if row is not None else None, _to_destination(saved)


def _is_same_key(row: asyncpg.Record, settings: DestinationSettings) -> bool:
    """Whether the stored secret belongs to the settings: it signs requests to no other store."""
    return bool((row["endpoint"], row["access_key_id"]) == (settings.endpoint, settings.access_key_id))


async def delete_destination(connection: Connection, library_id: str, *, if_match: str | None) -> Destination:
    """Forgets the bucket and its key; the copies in it stay."""
    row = await connection.fetchrow(f"{_DESTINATION} FOR UPDATE", library_id)
    if row is None:
        raise not_found()
    require_match(if_match, row["revision"])
    await connection.execute("DELETE FROM destinations WHERE library_id = $1", library_id)
    return _to_destination(row).resource


async def list_copies(
    connection: Connection, library_id: str, *, status: CopyStatus | None, before: str | None, limit: int
) -> tuple[list[OutputCopy], bool]:
    """Copies from the newest on, and whether there are more."""
    rows = await connection.fetch(
        f"""{_COPIES} AND ($2::text IS NULL OR status = $2) AND ($3::text IS NULL OR id < $3)
            ORDER BY id DESC LIMIT $4""",
        library_id,
        status,
        before,
        limit + 1,
    )
    return [_to_copy(row) for row in rows[:limit]], len(rows) > limit


async def retry_copy(connection: Connection, library_id: str, copy_id: str) -> OutputCopy:
    """Copies the files of a job again: those that are missing in the bucket, or have changed."""
    row = None
    if is_id(copy_id):
        row = await connection.fetchrow(f"{_COPIES} AND id = $2 FOR UPDATE", library_id, copy_id)
    if row is None:
        raise not_found()
    if row["status"] == CopyStatus.PENDING:
        raise CutroomError(Code.CONFLICT, message="This copy has not ended yet.")
    await _start(connection, library_id, copy_id)
    row = await connection.fetchrow(f"{_COPIES} AND id = $2", library_id, copy_id)
    assert row is not None
    return _to_copy(row)


async def request_copy(connection: Connection, job: JobRef, now: datetime) -> None:
    """Starts the copy of a ready job's files, in the transaction that completes the job."""
    enabled = await connection.fetchval("SELECT enabled FROM destinations WHERE library_id = $1", job.library_id)
    key = parse_job_id(job.job_id)
    if not enabled or key is None:
        return
    plan = await connection.fetchval(
        "SELECT plan FROM jobs WHERE library_id = $1 AND id = $2", job.library_id, job.job_id
    )
    copied = copied_job_id(key, plan)
    copy_id = await connection.fetchval(
        """INSERT INTO output_copies (library_id, id, job_id, video_id, status, run, created_at)
           SELECT library_id, $3, id, video_id, 'pending', 0, $4 FROM jobs
           WHERE library_id = $1 AND id = $2 AND video_id IS NOT NULL
           ON CONFLICT (library_id, job_id) DO UPDATE SET job_id = excluded.job_id RETURNING id""",
        job.library_id,
        copied,
        new_id(),
        now,
    )
    if copy_id is not None:
        await _start(connection, job.library_id, copy_id)


async def _start(connection: Connection, library_id: str, copy_id: str) -> None:
    run = await connection.fetchval(
        """UPDATE output_copies SET status = 'pending', error_message = NULL, run = run + 1
           WHERE library_id = $1 AND id = $2 RETURNING run""",
        library_id,
        copy_id,
    )
    ref = CopyRef(library_id, copy_id, run)
    await enqueue(connection, WorkflowStart(library_id, COPY_WORKFLOW, ref.workflow_id, asdict(ref)))


async def load_access(connection: Connection, library_id: str, *, secret_box: SecretBox) -> BucketAccess | None:
    """The bucket and its key; None if outputs are no longer copied."""
    row = await connection.fetchrow(f"{_DESTINATION} AND enabled", library_id)
    return _access(dict(row), row["sealed_secret"], library_id, secret_box) if row is not None else None


async def load_pending(connection: Connection, ref: CopyRef) -> tuple[str, str] | None:
    """The job and the video of a copy; None if it has ended, was started again, or its video was purged."""
    row = await connection.fetchrow(
        """SELECT job_id, video_id FROM output_copies
           WHERE library_id = $1 AND id = $2 AND run = $3 AND status = 'pending'""",
        ref.library_id,
        ref.copy_id,
        ref.run,
    )
    return (row["job_id"], row["video_id"]) if row is not None else None


async def list_files(
    connection: Connection, library_id: str, *, video_id: str, job_id: str
) -> Sequence[tuple[str, ExportedFile]]:
    """The files of a job as exports of the library contain them, each with its product."""
    return [
        (product.name, file)
        for product in PRODUCTS
        if product.export is not None
        for file in await product.export(connection, library_id, video_id)
        if file.job_id == job_id
    ]


async def complete_copy(connection: Connection, ref: CopyRef, *, objects: int, size_bytes: int, now: datetime) -> None:
    await connection.execute(
        """UPDATE output_copies SET status = 'copied', objects = $4, bytes = $5, copied_at = $6
           WHERE library_id = $1 AND id = $2 AND run = $3 AND status = 'pending'""",
        ref.library_id,
        ref.copy_id,
        ref.run,
        objects,
        size_bytes,
        now,
    )


async def fail_copy(connection: Connection, ref: CopyRef, *, message: str) -> None:
    await connection.execute(
        """UPDATE output_copies SET status = 'failed', error_message = $4
           WHERE library_id = $1 AND id = $2 AND run = $3 AND status = 'pending'""",
        ref.library_id,
        ref.copy_id,
        ref.run,
        message,
    )


def _access(values: Mapping[str, Any], sealed: bytes, library_id: str, secret_box: SecretBox) -> BucketAccess:
    return BucketAccess(
        endpoint=values["endpoint"],
        region=values["region"],
        bucket=values["bucket"],
        prefix=values["prefix"],
        access_key_id=values["access_key_id"],
        secret_access_key=secret_box.unseal(SECRET_PURPOSE, sealed, context=library_id).decode(),
    )


def _to_destination(row: asyncpg.Record) -> Revised[Destination]:
    return Revised(Destination(**{name: row[name] for name in Destination.model_fields}), row["revision"])


def _to_copy(row: asyncpg.Record) -> OutputCopy:
    fields = dict(row)
    return OutputCopy(error=fields.pop("error_message"), **fields)
