"""Asking for jobs, reading them, and releasing those that were waiting."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import asyncpg

from cutroom.accounts.principals import Principal
from cutroom.credits import escrow
from cutroom.credits.pricing import PriceList
from cutroom.credits.rules import Bill
from cutroom.errors import Code, CutroomError, not_found
from cutroom.jobs.ids import InternalJobType, JobKey, JobKind, JobType, parse_job_id
from cutroom.jobs.schemas import Job, JobError
from cutroom.jobs.states import JobState
from cutroom.platform.db import Connection
from cutroom.platform.outbox import WorkflowStart, enqueue

MAX_LISTED = 1_000
RETRY_SECONDS = 5  # told to a key that has too many unfinished jobs

_COLUMNS = """id, type, status, video_id, language, product, automation_type, stage, progress, result,
    error_code, error_message, error_details"""
GET_JOB = f"SELECT {_COLUMNS} FROM jobs WHERE library_id = $1 AND id = $2"  # noqa: S608
LIST_JOBS = f"""SELECT {_COLUMNS} FROM jobs WHERE library_id = $1 AND video_id = $2
    ORDER BY created_at DESC, id DESC LIMIT $3"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class NewJob:
    """A job to ask for."""

    key: JobKey
    video_id: str | None
    plan: Mapping[str, Any] = field(default_factory=dict)
    depends_on: Sequence[str] = ()
    bill: Bill | None = None  # what it costs; nothing for work that is free
    again: bool = False  # run it though it is ready: what it made may be replaced


async def request_jobs(
    connection: Connection, principal: Principal, wanted: Sequence[NewJob], *, prices: PriceList, now: datetime
) -> list[tuple[Job, bool]]:
    """Ask for some jobs, and tell of each whether that began anything."""
    begun = await create_jobs(connection, principal, wanted, prices=prices, now=now)
    return [
        (await get_job(connection, principal.library_id, each.key.id), is_new)
        for each, is_new in zip(wanted, begun, strict=True)
    ]


async def create_jobs(
    connection: Connection, principal: Principal, wanted: Sequence[NewJob], *, prices: PriceList, now: datetime
) -> list[bool]:
    """Write down some jobs, hold their prices and start them; of each, whether that began anything.

    Ids converge: what is queued, processing or ready is answered as it is, uncharged; what failed runs again under
    its id. Its price is held now, or when it begins if it depends on a duration that is not known yet.

    Everybody locks jobs in the order of their ids, and money after all jobs: nobody waits for one another in a circle.
    """
    attempts: dict[int, int] = {}
    for at in sorted(range(len(wanted)), key=lambda at: wanted[at].key.id):
        attempt = await _claim(connection, principal, wanted[at], now=now)
        if attempt is not None:
            attempts[at] = attempt
    begun = [(wanted[at], attempts[at]) for at in sorted(attempts)]
    for each, attempt in begun:
        if not each.depends_on:
            await _start(connection, principal.library_id, each.key, attempt=attempt)
    await _hold(connection, principal.library_id, begun, prices=prices, now=now)
    return [at in attempts for at in range(len(wanted))]


async def _claim(connection: Connection, principal: Principal, wanted: NewJob, *, now: datetime) -> int | None:
    """Lock the job and write it down; which attempt at it this is, or nothing when there is nothing to begin."""
    row = await connection.fetchrow(
        "SELECT status, attempt FROM jobs WHERE library_id = $1 AND id = $2 FOR UPDATE",
        principal.library_id,
        wanted.key.id,
    )
    if row is not None and row["status"] != JobState.FAILED and not (wanted.again and row["status"] == JobState.READY):
        return None
    await _check_unfinished(connection, principal)
    attempt = 1 if row is None else row["attempt"] + 1
    return attempt if await _put(connection, principal, wanted, attempt=attempt, now=now) else None


async def _hold(
    connection: Connection,
    library_id: str,
    begun: Sequence[tuple[NewJob, int]],
    *,
    prices: PriceList,
    now: datetime,
) -> None:
    """Hold the price of every job: lines of reservations first, then the wallet, as everybody does who needs both."""
    billed = [(each, each.bill, attempt) for each, attempt in begun if each.bill is not None]
    await escrow.lock_lines(connection, library_id, [bill for _, bill, _ in billed])
    for each, bill, attempt in sorted(billed, key=lambda one: not one[1].is_reserved):
        await escrow.hold(
            connection,
            library_id,
            bill,
            holder=workflow_id(each.key.id, attempt),
            video_id=each.video_id,
            prices=prices,
            now=now,
        )


async def _check_unfinished(connection: Connection, principal: Principal) -> None:
    held = await connection.fetchval(
        """SELECT count(*) FROM jobs
           WHERE library_id = $1 AND principal_id = $2 AND status IN ('queued', 'processing')""",
        principal.library_id,
        principal.id,
    )
    if held >= principal.plan.unfinished_jobs:
        headers = {"Retry-After": str(RETRY_SECONDS)}
        raise CutroomError(Code.RATE_LIMITED, details={"limit": "unfinished_jobs"}, headers=headers)


async def _put(connection: Connection, principal: Principal, wanted: NewJob, *, attempt: int, now: datetime) -> bool:
    """Write the job down, unless somebody who asked at the same moment has."""
    put = await connection.fetchval(
        """INSERT INTO jobs (library_id, id, type, status, video_id, language, product, automation_type,
               principal_id, attempt, plan, depends_on, bill, progress, created_at, updated_at)
           VALUES ($1, $2, $3, 'queued', $4, $5, $6, $7, $8, $9, $10, $11, $13, 0, $12, $12)
           ON CONFLICT (library_id, id) DO UPDATE SET
               status = 'queued', principal_id = excluded.principal_id, attempt = excluded.attempt,
               plan = excluded.plan, depends_on = excluded.depends_on, bill = excluded.bill, stage = NULL,
               progress = 0, result = NULL,
               error_code = NULL, error_message = NULL, error_details = NULL, finished_at = NULL,
               updated_at = excluded.updated_at
               WHERE jobs.status = 'failed' OR ($14 AND jobs.status = 'ready')
           RETURNING true""",
        principal.library_id,
        wanted.key.id,
        wanted.key.type,
        wanted.video_id,
        wanted.key.language,
        wanted.key.product,
        wanted.key.automation,
        principal.id,
        attempt,
        dict(wanted.plan),
        list(wanted.depends_on),
        now,
        wanted.bill.as_json() if wanted.bill is not None else None,
        wanted.again,
    )
    return put is not None


async def _start(connection: Connection, library_id: str, key: JobKey, *, attempt: int) -> None:
    await enqueue(connection, job_start(library_id, key.id, job_type=key.type, attempt=attempt))


def job_start(library_id: str, job_id: str, *, job_type: JobKind, attempt: int) -> WorkflowStart:
    """How a job's workflow starts: its id is the job's, so Temporal starts each attempt once.

    What somebody waits for on the line does not wait for the jobs of its library.
    """
    return WorkflowStart(
        library_id=library_id,
        workflow=job_type.value,
        workflow_id=workflow_id(job_id, attempt),
        argument={"library_id": library_id, "job_id": job_id, "attempt": attempt},
        is_job=isinstance(job_type, JobType),
    )


def workflow_id(job_id: str, attempt: int) -> str:
    return job_id if attempt == 1 else f"{job_id}.{attempt}"


async def release_dependents(
    connection: Connection, library_id: str, *, video_id: str | None, prerequisite: str, now: datetime
) -> None:
    """Something that jobs of this video waited for has come; those that wait for nothing more are started."""
    rows = await connection.fetch(
        """WITH waiting AS (
               SELECT id FROM jobs
               WHERE library_id = $1 AND video_id = $2 AND status = 'queued' AND depends_on @> ARRAY[$3]
               ORDER BY id FOR UPDATE)
           UPDATE jobs j SET depends_on = array_remove(j.depends_on, $3), updated_at = $4 FROM waiting
           WHERE j.library_id = $1 AND j.id = waiting.id
           RETURNING j.id, j.attempt, j.depends_on""",
        library_id,
        video_id,
        prerequisite,
        now,
    )
    for row in rows:
        key = parse_job_id(row["id"])
        if key is not None and not row["depends_on"]:
            await _start(connection, library_id, key, attempt=row["attempt"])


async def get_job(connection: Connection, library_id: str, job_id: str) -> Job:
    key = parse_job_id(job_id)
    if key is None or isinstance(key.type, InternalJobType):
        raise not_found()
    row = await connection.fetchrow(GET_JOB, library_id, job_id)
    if row is None:
        raise not_found()
    return job_of(row)


async def list_jobs(connection: Connection, library_id: str, video_id: str) -> list[Job]:
    return [job_of(row) for row in await connection.fetch(LIST_JOBS, library_id, video_id, MAX_LISTED)]


def job_of(row: asyncpg.Record) -> Job:
    error = None
    if row["error_code"] is not None:
        error = JobError(code=row["error_code"], message=row["error_message"], details=row["error_details"] or {})
    processing = row["status"] == JobState.PROCESSING
    return Job(
        id=row["id"],
        type=JobType(row["type"]),
        status=JobState(row["status"]),
        video_id=row["video_id"],
        language=row["language"],
        product=row["product"],
        automation_type=row["automation_type"],
        progress=row["progress"] if processing else None,
        stage=row["stage"] if processing else None,
        result=row["result"],
        error=error,
    )
