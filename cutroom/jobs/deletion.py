"""Deletes the output of finished jobs: rows in the caller's transaction, objects by a workflow that starts with it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from cutroom.errors import Code, CutroomError
from cutroom.jobs.cancellation import EndedJob
from cutroom.jobs.ids import JobKey, JobType, workflow_id
from cutroom.jobs.lifecycle import PLAYABLE_JOB_TYPES, JobRef, start_playback
from cutroom.jobs.states import TERMINAL, JobState
from cutroom.platform.db import Connection
from cutroom.platform.outbox import WorkflowStart, enqueue

DELETE_WORKFLOW = "delete-objects"
_RECORD = """UPDATE jobs SET output_deleted_at = $3,
    result = nullif(jsonb_strip_nulls(jsonb_build_object('receipt', result -> 'receipt')), '{}')
    WHERE library_id = $1"""


@dataclass(frozen=True, slots=True)
class StoredObjects:
    """Objects to delete: all under the prefixes, and single ones."""

    prefixes: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ObjectDeletion:
    """Objects of one library whose rows have been deleted."""

    library_id: str
    objects: StoredObjects
    job: JobRef | None = None  # the attempt that stored them; if the job was requested again, they stay
    may_be_written: bool = False  # by activities of a failed attempt, until their next heartbeat


async def lock_output(connection: Connection, library_id: str, key: JobKey) -> EndedJob | None:
    """Lock the job whose output is about to be deleted; raise while it is being made.

    None if there is no output, or if its video is in the trash or gone.
    """
    row = await connection.fetchrow(
        """SELECT status, video_id, plan, output_deleted_at FROM jobs
           WHERE library_id = $1 AND id = $2 AND EXISTS (SELECT FROM videos v
               WHERE v.library_id = jobs.library_id AND v.id = jobs.video_id AND v.deleted_at IS NULL)
           FOR UPDATE""",
        library_id,
        key.id,
    )
    if row is None or row["output_deleted_at"] is not None:
        return None
    if row["status"] not in TERMINAL:
        raise being_made(key.id, row["status"])
    return EndedJob(library_id, key, row["video_id"], row["plan"])


def being_made(job_id: str, status: str) -> CutroomError:
    return CutroomError(
        Code.FAILED_PRECONDITION,
        message="This is still being made. Cancel its job first, or delete it when the job has ended.",
        details={"jobId": job_id, "status": status},
    )


async def delete_output(connection: Connection, job: EndedJob, *, objects: StoredObjects, now: datetime) -> None:
    """Record that the output of a locked job is deleted, so that it can be requested again, and delete its objects.

    The result keeps only the receipt. A track of the video's stream is removed from the stream.
    """
    row = await connection.fetchrow(
        f"{_RECORD} AND id = $2 RETURNING attempt, status",
        job.library_id,
        job.key.id,
        now,
    )
    assert row is not None
    ref, has_failed = JobRef(job.library_id, job.key.id, row["attempt"]), row["status"] == JobState.FAILED
    deleted = workflow_id(ref.job_id, ref.attempt)
    await _enqueue(connection, ObjectDeletion(job.library_id, objects, ref, has_failed), deleted=deleted)
    if job.key.type in PLAYABLE_JOB_TYPES and job.video_id is not None:
        await start_playback(connection, job.library_id, job.video_id, cause=f"{deleted}_deleted")


async def record_deleted_outputs(
    connection: Connection, library_id: str, video_id: str, *, job_type: JobType, now: datetime
) -> None:
    """Record that the outputs of a video's ready jobs of one type are deleted; the caller deletes their objects."""
    await connection.execute(
        f"""{_RECORD} AND id IN (SELECT id FROM jobs
                WHERE library_id = $1 AND video_id = $2 AND type = $4 AND status = 'ready' AND output_deleted_at IS NULL
                ORDER BY id FOR UPDATE)""",  # noqa: S608 (a constant)
        library_id,
        video_id,
        now,
        job_type,
    )


async def delete_objects(connection: Connection, library_id: str, *, deleted_id: str, paths: Sequence[str]) -> None:
    """Delete the objects of one deleted item, named by its id, once the transaction has committed."""
    deletion = ObjectDeletion(library_id, StoredObjects(paths=tuple(paths)))
    await _enqueue(connection, deletion, deleted=deleted_id)


async def _enqueue(connection: Connection, deletion: ObjectDeletion, *, deleted: str) -> None:
    start = WorkflowStart(
        library_id=deletion.library_id,
        workflow=DELETE_WORKFLOW,
        workflow_id=f"{DELETE_WORKFLOW}_{deleted}",
        argument=asdict(deletion),
    )
    await enqueue(connection, start)


async def strip_jobs(connection: Connection, library_id: str, video_id: str) -> None:
    """Remove plans, results and error messages. Rows and receipts stay, because the ledger refers to them."""
    await connection.execute(
        """UPDATE jobs SET plan = '{}', error_details = NULL, stage = NULL,
               result = CASE WHEN result ? 'receipt' THEN jsonb_build_object('receipt', result -> 'receipt') END,
               error_message = CASE WHEN error_code IS NOT NULL THEN 'The video of this job was deleted.' END
           WHERE library_id = $1 AND $2 IN (video_id, plan ->> 'hosted_video_id', plan ->> 'dubbed_video_id',
               plan ->> 'optimized_video_id')""",
        library_id,
        video_id,
    )
