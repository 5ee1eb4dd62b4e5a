"""Cancels jobs: ends the row in the caller's transaction, and starts the workflow that stops the work."""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import asyncpg

from cutroom.accounts.principals import Principal
from cutroom.errors import Code, CutroomError, not_found
from cutroom.jobs import lifecycle
from cutroom.jobs.ids import InternalJobType, JobKey, parse_job_id, workflow_id
from cutroom.jobs.lifecycle import Failure, JobRef
from cutroom.jobs.schemas import Job
from cutroom.jobs.service import get_job
from cutroom.jobs.states import CANCELLED, TERMINAL
from cutroom.platform.db import Connection
from cutroom.platform.outbox import WorkflowStart, enqueue
from cutroom.web.products import JobHooks

MESSAGE = "The job was canceled."
CANCEL_WORKFLOW = "cancel-job"
_GET_JOB = """SELECT status, attempt, video_id, plan, depends_on, charge, error_code, output_deleted_at
    FROM jobs
    WHERE library_id = $1 AND id = $2"""
_LIST_UNFINISHED = """SELECT id, attempt, video_id, plan FROM jobs
    WHERE library_id = $1 AND status IN ('queued', 'processing')
      AND (video_id = ANY ($2) OR plan ->> 'hosted_video_id' = ANY ($2) OR plan ->> 'dubbed_video_id' = ANY ($2)
           OR plan ->> 'optimized_video_id' = ANY ($2))
    ORDER BY id"""

_LIST_ALL_UNFINISHED = """SELECT id, attempt, video_id, plan FROM jobs
    WHERE library_id = $1 AND status IN ('queued', 'processing') ORDER BY id"""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class EndedJob:
    """A job that was canceled, whose output is being deleted, or that failed and is about to run again."""

    library_id: str
    key: JobKey
    video_id: str | None
    plan: Mapping[str, Any]


# What a product does when one of its jobs is canceled or retried, in the same transaction.
JobHook = Callable[[Connection, EndedJob], Awaitable[None]]


async def cancel_job(
    connection: Connection, principal: Principal, job_id: str, *, hooks: JobHooks, now: datetime
) -> Job:
    """Fail an unfinished job with CANCELLED; canceling a canceled job again returns it as it is.

    The row decides between cancellation and completion. What the job has published is removed while its row is
    locked, and nothing more can be published afterwards.
    """
    library_id, key = principal.library_id, public_job_key(job_id)
    row = await connection.fetchrow(_GET_JOB, library_id, key.id)
    if row is None:
        raise not_found()
    job = EndedJob(library_id, key, row["video_id"], row["plan"])
    if row["status"] not in TERMINAL and (before := hooks.before_cancel.get(key.type)):
        await before(connection, job)
    row = await lock_job(connection, library_id, key.id)
    if row["error_code"] == CANCELLED:
        return await get_job(connection, library_id, key.id)
    if row["status"] in TERMINAL:
        raise already_ended(key.id, row["status"])
    await _cancel_locked(connection, job, attempt=row["attempt"], hooks=hooks, now=now)
    return await get_job(connection, library_id, key.id)


async def cancel_video_jobs(
    connection: Connection, library_id: str, video_ids: Sequence[str], *, hooks: JobHooks, now: datetime
) -> int:
    """Cancel every unfinished job that works on one of the videos, internal ones included; return how many there were.

    The caller has stopped new ones. Hooks that run before a cancellation lock other rows, so they come before the
    locks of jobs. The jobs of all videos are locked before the first refund locks the ledger.
    """
    return await _cancel_listed(connection, library_id, _LIST_UNFINISHED, [video_ids], hooks=hooks, now=now)


async def cancel_library_jobs(connection: Connection, library_id: str, *, hooks: JobHooks, now: datetime) -> int:
    """Cancel every unfinished job of a library that was suspended; return how many there were."""
    return await _cancel_listed(connection, library_id, _LIST_ALL_UNFINISHED, [], hooks=hooks, now=now)


async def _cancel_listed(
    connection: Connection, library_id: str, query: str, arguments: list[Any], *, hooks: JobHooks, now: datetime
) -> int:
    for row in await connection.fetch(query, library_id, *arguments):
        job = _ended_job(library_id, row)
        if before := hooks.before_cancel.get(job.key.type):
            await before(connection, job)
    rows = await connection.fetch(f"{query} FOR UPDATE", library_id, *arguments)
    for row in rows:
        await _cancel_locked(connection, _ended_job(library_id, row), attempt=row["attempt"], hooks=hooks, now=now)
    return len(rows)


def _ended_job(library_id: str, row: asyncpg.Record) -> EndedJob:
    key = parse_job_id(row["id"])
    assert key is not None
    return EndedJob(library_id, key, row["video_id"], row["plan"])


async def _cancel_locked(
    connection: Connection, job: EndedJob, *, attempt: int, hooks: JobHooks, now: datetime
) -> None:
    """Remove what the job has published, fail it, and stop its work; its row is locked."""
    if discard := hooks.discard.get(job.key.type):
        await discard(connection, job)
    ref = JobRef(job.library_id, job.key.id, attempt)
    await lifecycle.fail(connection, ref, failure=Failure(CANCELLED, MESSAGE), now=now)
    await _stop_work(connection, ref)
    _log.info("job canceled", extra={"job_id": job.key.id, "attempt": attempt})


async def cancel_all_jobs(connection: Connection, library_id: str, *, now: datetime) -> None:
    """Fail every unfinished job of a library that is being erased, and refund it; its outputs go with the library."""
    rows = await connection.fetch(
        """SELECT id, attempt FROM jobs WHERE library_id = $1 AND status IN ('queued', 'processing')
           ORDER BY id FOR UPDATE""",
        library_id,
    )
    for row in rows:  # those that depend on another have already failed with it
        ref = JobRef(library_id, row["id"], row["attempt"])
        await lifecycle.fail(connection, ref, failure=Failure(CANCELLED, MESSAGE), now=now)


async def _stop_work(connection: Connection, ref: JobRef) -> None:
    """Start the workflow that ends the attempt's activities and deletes its files."""
    await enqueue(
        connection,
        WorkflowStart(
            library_id=ref.library_id,
            workflow=CANCEL_WORKFLOW,
            workflow_id=f"cancel_{workflow_id(ref.job_id, ref.attempt)}",
            argument={"library_id": ref.library_id, "job_id": ref.job_id, "attempt": ref.attempt},
        ),
    )


def public_job_key(job_id: str) -> JobKey:
    """Parse the id of a job that the API exposes; internal jobs are not found."""
    key = parse_job_id(job_id)
    if key is None or isinstance(key.type, InternalJobType):
        raise not_found()
    return key


async def lock_job(connection: Connection, library_id: str, job_id: str) -> asyncpg.Record:
    row = await connection.fetchrow(f"{_GET_JOB} FOR UPDATE", library_id, job_id)
    if row is None:
        raise not_found()
    return row


def already_ended(job_id: str, status: str) -> CutroomError:
    return CutroomError(
        Code.FAILED_PRECONDITION,
        message=f"This job has already ended: it is {status}.",
        details={"jobId": job_id, "status": status},
    )
