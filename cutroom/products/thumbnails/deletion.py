"""Deletes thumbnail requests, and single images of them."""

from datetime import datetime

from cutroom.accounts.principals import Principal
from cutroom.errors import not_found
from cutroom.jobs.cancellation import EndedJob
from cutroom.jobs.deletion import StoredObjects, delete_objects, delete_output, lock_output
from cutroom.jobs.ids import parse_job_id
from cutroom.library.videos import restore_poster
from cutroom.platform.db import Connection
from cutroom.platform.ids import is_id
from cutroom.products.thumbnails.service import image_path


async def delete_request(connection: Connection, principal: Principal, request_id: str, *, now: datetime) -> int:
    """Delete a request with all images; return how many there were. The import's own poster replaces them."""
    job = await _lock(connection, principal, request_id)
    library_id, video_id = job.library_id, str(job.video_id)
    images = await connection.fetch(
        "DELETE FROM thumbnails WHERE library_id = $1 AND request_id = $2 RETURNING id", library_id, request_id
    )
    await connection.execute("DELETE FROM thumbnail_requests WHERE library_id = $1 AND id = $2", library_id, request_id)
    prefix = image_path(library_id, video_id, request_id, "")
    await restore_poster(connection, library_id, video_id, replaced_under=prefix)
    await delete_output(connection, job, objects=StoredObjects(prefixes=(prefix,)), now=now)
    return len(images)


async def delete_image(connection: Connection, principal: Principal, request_id: str, *, thumbnail_id: str) -> int:
    """Delete one image of a request; return its rank. The import's own poster replaces it."""
    job = await _lock(connection, principal, request_id)
    row = await connection.fetchrow(
        """DELETE FROM thumbnails WHERE library_id = $1 AND request_id = $2 AND id = $3
           RETURNING path, number""",
        job.library_id,
        request_id,
        thumbnail_id,
    )
    if row is None:
        raise not_found()
    await restore_poster(connection, job.library_id, str(job.video_id), replaced_under=row["path"])
    await delete_objects(connection, job.library_id, deleted_id=thumbnail_id, paths=[row["path"]])
    return int(row["number"]) + 1


async def _lock(connection: Connection, principal: Principal, request_id: str) -> EndedJob:
    """Lock the job of a request; it may be a packaging job."""
    if not is_id(request_id):
        raise not_found()
    library_id = principal.library_id
    find = "SELECT job_id FROM thumbnail_requests WHERE library_id = $1 AND id = $2"
    key = parse_job_id(await connection.fetchval(find, library_id, request_id) or "")
    job = await lock_output(connection, library_id, key) if key is not None else None
    # A packaging job that was requested again meanwhile has replaced its request.
    if job is None or await connection.fetchval(f"{find} FOR UPDATE", library_id, request_id) is None:
        raise not_found()
    return job
