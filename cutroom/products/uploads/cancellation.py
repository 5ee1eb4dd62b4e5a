"""Ends uploads whose file will not arrive: canceled by the caller, or expired."""

from datetime import datetime

from cutroom.accounts.principals import Principal
from cutroom.errors import Code, CutroomError
from cutroom.jobs import lifecycle
from cutroom.jobs.cancellation import EndedJob
from cutroom.jobs.lifecycle import Failure, JobRef
from cutroom.jobs.states import CANCELLED
from cutroom.library.service import get_video
from cutroom.platform.db import Connection
from cutroom.products.ingest.service import (
    import_job_id,
    lock_upload_source,
    set_upload_deadline,
    upload_prerequisite,
)


async def cancel_upload(connection: Connection, principal: Principal, video_id: str, *, now: datetime) -> None:
    """Fails the import of an upload; does nothing if it has ended already.

    The sweep deletes what was received, because a rollback could not restore it.
    """
    await get_video(connection, principal, video_id)
    if await lock_upload_source(connection, principal.library_id, video_id) is None:
        raise CutroomError(Code.FAILED_PRECONDITION, message="This video is not an upload.")
    dependencies = await connection.fetchval(
        "SELECT depends_on FROM jobs WHERE library_id = $1 AND id = $2", principal.library_id, import_job_id(video_id)
    )
    if upload_prerequisite(video_id) not in dependencies:
        message = "The file of this video has already been received."
        raise CutroomError(Code.FAILED_PRECONDITION, message=message, details={"jobId": import_job_id(video_id)})
    failure = Failure(CANCELLED, "The upload was canceled.")
    await _end_upload(connection, principal.library_id, video_id, failure=failure, now=now)


async def end_session(connection: Connection, job: EndedJob) -> None:
    """Ends the upload that a canceled import waits for. Locks the source before the job, as every other transaction."""
    video_id = str(job.video_id)
    if await lock_upload_source(connection, job.library_id, video_id) is not None:
        await _abort_session(connection, job.library_id, video_id)


async def expire_upload(connection: Connection, library_id: str, video_id: str, *, now: datetime) -> bool:
    """Fails the import of an upload whose deadline has passed; returns whether it was still waiting."""
    source = await lock_upload_source(connection, library_id, video_id)
    if source is None or source["upload_expires_at"] is None or source["upload_expires_at"] > now:
        return False
    failure = Failure(Code.FAILED_PRECONDITION, "The file was not uploaded in time.", details={"reason": "expired"})
    return await _end_upload(connection, library_id, video_id, failure=failure, now=now)


async def _end_upload(
    connection: Connection, library_id: str, video_id: str, *, failure: Failure, now: datetime
) -> bool:
    """Aborts the open session and fails the import with its dependents, in the caller's transaction."""
    await _abort_session(connection, library_id, video_id)
    job_id = import_job_id(video_id)
    attempt = await connection.fetchval(
        "SELECT attempt FROM jobs WHERE library_id = $1 AND id = $2", library_id, job_id
    )
    return await lifecycle.fail(connection, JobRef(library_id, job_id, attempt), failure=failure, now=now)


async def _abort_session(connection: Connection, library_id: str, video_id: str) -> None:
    await connection.execute(
        """UPDATE upload_sessions SET state = 'aborted'
           WHERE library_id = $1 AND video_id = $2 AND state IN ('open', 'assembling')""",
        library_id,
        video_id,
    )
    await set_upload_deadline(connection, library_id, video_id, expires_at=None)
