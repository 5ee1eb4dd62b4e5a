"""Deletes requests for shorts, promos and clips, and single outputs of them."""

from datetime import datetime

from cutroom.accounts.principals import Principal
from cutroom.errors import not_found
from cutroom.jobs.cancellation import EndedJob
from cutroom.jobs.deletion import StoredObjects, delete_objects, delete_output, lock_output
from cutroom.jobs.ids import JobKey, JobType
from cutroom.platform.db import Connection
from cutroom.platform.ids import is_id
from cutroom.products.shorts.service import output_prefix

_DELETE = """UPDATE shorts_outputs SET deleted_at = $3
    WHERE library_id = $1 AND request_id = $2 AND deleted_at IS NULL"""


async def delete_request(connection: Connection, principal: Principal, request_id: str, *, now: datetime) -> int:
    """Delete a request with all outputs; return how many there were."""
    job = await _lock(connection, principal, request_id)
    rows = await connection.fetch(f"{_DELETE} RETURNING id", job.library_id, request_id, now)
    await delete_output(connection, job, objects=StoredObjects(prefixes=(output_prefix(job),)), now=now)
    return len(rows)


async def delete_single_output(
    connection: Connection, principal: Principal, request_id: str, *, output_id: str, now: datetime
) -> int:
    """Delete one output with its video, thumbnail and edit plan; return its rank."""
    job = await _lock(connection, principal, request_id)
    row = await connection.fetchrow(
        f"{_DELETE} AND id = $4 RETURNING number, video_path, thumbnail_path, plan_path",
        job.library_id,
        request_id,
        now,
        output_id,
    )
    if row is None:
        raise not_found()
    paths = [row["video_path"], row["thumbnail_path"], row["plan_path"]]
    await delete_objects(connection, job.library_id, deleted_id=output_id, paths=paths)
    return int(row["number"]) + 1


async def _lock(connection: Connection, principal: Principal, request_id: str) -> EndedJob:
    key = JobKey(JobType.SHORTS, request_id)
    job = await lock_output(connection, principal.library_id, key) if is_id(request_id) else None
    if job is None:
        raise not_found()
    return job
