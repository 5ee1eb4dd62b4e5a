"""Creates and reads jobs, and releases jobs whose dependencies have finished."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg

from cutroom.accounts.principals import Principal
from cutroom.accounts.spending import SpendingLimit
from cutroom.credits import escrow
from cutroom.credits.escrow import NewHold
from cutroom.credits.pricing import PriceList
from cutroom.credits.reserved_lines import lock_lines
from cutroom.credits.rules import Charge
from cutroom.errors import Code, CutroomError, not_found
from cutroom.jobs.estimates import RunState, estimate_ready_at, whole_percent
from cutroom.jobs.ids import AutomationType, InternalJobType, JobKey, JobKind, JobType, parse_job_id, workflow_id
from cutroom.jobs.schemas import Job, JobError
from cutroom.jobs.settlement import charge_ready_transcripts
from cutroom.jobs.states import JobState
from cutroom.library.originals import require_original
from cutroom.library.quotas import JOBS, lock_quotas, quota_exceeded
from cutroom.library.trash import keep_video
from cutroom.library.usage import count_failed_today
from cutroom.platform.db import Connection
from cutroom.platform.outbox import WorkflowStart, enqueue
from cutroom.platform.telemetry import current_trace_context

MAX_LISTED = 1_000
# Jobs that read the original file of their video, or what is extracted from it.
NEED_ORIGINAL = frozenset({JobType.IMPORT, JobType.TRANSCRIPT, JobType.DUB, JobType.SHORTS, JobType.THUMBNAIL})
RETRY_SECONDS = 5  # Retry-After for a key with too many unfinished jobs, or a library with too many requests at once

_COLUMNS = """id, type, status, video_id, language, product, automation_type, stage, progress, result,
    error_code, error_message, error_details, updated_at, started_at, media_seconds, expected_seconds,
    reached_seconds IS NOT NULL AS is_measured, output_deleted_at, now() AS read_at"""
GET_JOB = f"SELECT {_COLUMNS} FROM jobs WHERE library_id = $1 AND id = $2"  # noqa: S608
LIST_JOBS = f"""SELECT {_COLUMNS} FROM jobs WHERE library_id = $1 AND video_id = $2
    ORDER BY created_at DESC, id DESC LIMIT $3"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class NewJob:
    """A job to create."""

    key: JobKey
    video_id: str | None
    plan: Mapping[str, Any] = field(default_factory=dict)
    depends_on: Sequence[str] = ()
    charge: Charge | None = None  # None for free jobs
    needs_language: bool = False  # charged once the language of the video shows that the job can be made
    rerun: bool = False  # run again even if it is ready, replacing its output


def video_of(video_id: str | None, plan: Mapping[str, Any]) -> str | None:
    """Return the video that a job works on; internal jobs have it in their plan, to stay out of its list of jobs."""
    names = ("hosted_video_id", "dubbed_video_id", "optimized_video_id")
    return video_id or next((str(plan[name]) for name in names if plan.get(name)), None)


async def request_jobs(
    connection: Connection, principal: Principal, new_jobs: Sequence[NewJob], *, prices: PriceList, now: datetime
) -> list[tuple[Job, bool]]:
    """Create jobs and return each with whether it was newly started."""
    started = await create_jobs(connection, principal, new_jobs, prices=prices, now=now)
    return [
        (await get_job(connection, principal.library_id, each.key.id), is_new)
        for each, is_new in zip(new_jobs, started, strict=True)
    ]


async def create_jobs(
    connection: Connection, principal: Principal, new_jobs: Sequence[NewJob], *, prices: PriceList, now: datetime
) -> list[bool]:
    """Insert jobs, hold their prices and start their workflows; return for each whether it was newly started.

    A job that is queued, processing or ready is returned unchanged and not charged; a failed job, and one whose
    output was deleted, runs again under its id. Prices are held now, or at the start of the job if they depend on a
    duration that is not known yet, or if whether the job can be made depends on the video's language.

    Videos are locked before dependencies, those before the jobs, jobs in id order, then the quotas, and the ledger
    last, to prevent deadlocks.
    """
    if any(each.charge is not None for each in new_jobs):
        principal.require_spending()
        new_jobs = [_within_limit(each, principal.spending_limit) for each in new_jobs]
    for video_id in sorted({video_of(each.video_id, each.plan) or "" for each in new_jobs} - {""}):
        await keep_video(connection, principal.library_id, video_id)
    new_jobs = await _without_finished_dependencies(connection, principal.library_id, new_jobs)
    attempts: dict[int, int] = {}
    for index in sorted(range(len(new_jobs)), key=lambda index: new_jobs[index].key.id):
        attempt = await _claim(connection, principal, new_jobs[index], now=now)
        if attempt is not None:
            attempts[index] = attempt
    if attempts:
        await _check_limits(connection, principal, added=len(attempts), now=now)
    started = [(new_jobs[index], attempts[index]) for index in sorted(attempts)]
    for each, attempt in started:
        if not each.depends_on:
            await _start(connection, principal.library_id, each.key, attempt=attempt)
    await _hold(connection, principal.library_id, started, prices=prices, now=now)
    return [index in attempts for index in range(len(new_jobs))]


def _within_limit(new_job: NewJob, limit: SpendingLimit | None) -> NewJob:
    """The limit is stored with the job, whose price may be known only when it starts."""
    if new_job.charge is None:
        return new_job
    return replace(new_job, charge=replace(new_job.charge, limit=limit))


async def _without_finished_dependencies(
    connection: Connection, library_id: str, new_jobs: Sequence[NewJob]
) -> list[NewJob]:
    """Locks the jobs that new jobs depend on: one that ends at the same time has ended now, or releases them later."""
    created = {each.key.id for each in new_jobs}
    ids = {dependency for each in new_jobs for dependency in each.depends_on} - created
    rows = await connection.fetch(
        "SELECT id, status FROM jobs WHERE library_id = $1 AND id = ANY($2) ORDER BY id FOR SHARE",
        library_id,
        sorted(ids),
    )
    for row in rows:
        if row["status"] == JobState.FAILED:
            raise CutroomError(Code.FAILED_PRECONDITION, details={"jobId": row["id"]})
    ready = {row["id"] for row in rows if row["status"] == JobState.READY}
    return [replace(each, depends_on=[one for one in each.depends_on if one not in ready]) for each in new_jobs]


async def _claim(connection: Connection, principal: Principal, new_job: NewJob, *, now: datetime) -> int | None:
    """Lock and insert the job; return the attempt number, or None if it is already running or ready."""
    row = await connection.fetchrow(
        "SELECT status, attempt, output_deleted_at FROM jobs WHERE library_id = $1 AND id = $2 FOR UPDATE",
        principal.library_id,
        new_job.key.id,
    )
    if row is not None and not _may_run_again(row, rerun=new_job.rerun):
        return None
    await _require_original(connection, principal, new_job)
    attempt = 1 if row is None else row["attempt"] + 1
    return attempt if await _insert(connection, principal, new_job, attempt=attempt, now=now) else None


def _may_run_again(row: asyncpg.Record, *, rerun: bool) -> bool:
    is_replaceable = rerun or row["output_deleted_at"] is not None
    return row["status"] == JobState.FAILED or (row["status"] == JobState.READY and is_replaceable)


async def _require_original(connection: Connection, principal: Principal, new_job: NewJob) -> None:
    needs_it = new_job.key.type in NEED_ORIGINAL or new_job.key.automation is AutomationType.THUMBNAIL
    if needs_it and new_job.video_id is not None:
        await require_original(connection, principal, new_job.video_id)


async def _hold(
    connection: Connection,
    library_id: str,
    started: Sequence[tuple[NewJob, int]],
    *,
    prices: PriceList,
    now: datetime,
) -> None:
    """Hold the price of every job. Reservation lines are locked before the wallet, to prevent deadlocks."""
    charged = [
        (each, each.charge, attempt)
        for each, attempt in started
        if each.charge is not None and (each.charge.is_reserved or not (each.needs_language and each.depends_on))
    ]
    await lock_lines(connection, library_id, [charge for _, charge, _ in charged])
    for is_reserved in (True, False):
        held = [one for one in charged if one[1].is_reserved is is_reserved]
        new_holds = [
            NewHold(charge, workflow_id(each.key.id, attempt), each.video_id) for each, charge, attempt in held
        ]
        if new_holds:
            await escrow.hold_all(connection, library_id, new_holds, prices=prices, now=now)
        if is_reserved and held:
            holders = [each.holder for each in new_holds]
            await charge_ready_transcripts(connection, library_id, holders, now=now)


@dataclass(frozen=True, slots=True)
class UnfinishedJobs:
    """How many jobs are queued or processing."""

    of_key: int
    of_library: int
    quota: int  # of the library


async def count_unfinished(connection: Connection, principal: Principal) -> UnfinishedJobs:
    """Count the unfinished jobs of the API key and of its library, both of which its plan limits."""
    row = await connection.fetchrow(
        """SELECT count(*) FILTER (WHERE principal_id = $2) AS of_key, count(*) AS of_library,
               (SELECT unfinished_jobs_quota FROM libraries WHERE id = $1) AS quota
           FROM jobs WHERE library_id = $1 AND status IN ('queued', 'processing')""",
        principal.library_id,
        principal.id,
    )
    assert row is not None
    quota = principal.plan.library_unfinished_jobs if row["quota"] is None else row["quota"]
    return UnfinishedJobs(row["of_key"], row["of_library"], quota)


async def has_unfinished_jobs(connection: Connection, library_id: str, video_id: str) -> bool:
    """Whether a job of the video, internal ones included, is queued or processing."""
    found: bool = await connection.fetchval(
        """SELECT EXISTS (SELECT FROM jobs WHERE library_id = $1 AND status IN ('queued', 'processing')
               AND $2 IN (video_id, plan ->> 'dubbed_video_id', plan ->> 'hosted_video_id',
                   plan ->> 'optimized_video_id'))""",
        library_id,
        video_id,
    )
    return found


async def _check_limits(connection: Connection, principal: Principal, *, added: int, now: datetime) -> None:
    """Checked with the new jobs inserted, one request of the library at a time."""
    try:
        await lock_quotas(connection, principal.library_id)
    except asyncpg.LockNotAvailableError as error:
        details, headers = {"limit": "concurrency", "per": "library"}, {"Retry-After": str(RETRY_SECONDS)}
        raise CutroomError(Code.RATE_LIMITED, details=details, headers=headers) from error
    unfinished = await count_unfinished(connection, principal)
    if await count_failed_today(connection, principal.library_id) >= principal.plan.library_failed_jobs_per_day:
        midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
        headers = {"Retry-After": str(math.ceil((midnight - now).total_seconds()))}
        raise CutroomError(Code.RATE_LIMITED, details={"limit": "failed_jobs", "per": "library"}, headers=headers)
    if unfinished.of_library > unfinished.quota:
        used = unfinished.of_library - added
        raise quota_exceeded("unfinishedJobs", JOBS, limit=unfinished.quota, used=used)
    if unfinished.of_key > principal.plan.unfinished_jobs:
        headers = {"Retry-After": str(RETRY_SECONDS)}
        raise CutroomError(Code.RATE_LIMITED, details={"limit": "unfinished_jobs"}, headers=headers)


async def _insert(
    connection: Connection, principal: Principal, new_job: NewJob, *, attempt: int, now: datetime
) -> bool:
    """Insert or reset the job; return False if a concurrent request already did."""
    inserted = await connection.fetchval(
        """INSERT INTO jobs (library_id, id, type, status, video_id, language, product, automation_type,
               principal_id, attempt, plan, depends_on, charge, progress, created_at, updated_at, queued_at,
               requested_at, trace_context)
           VALUES ($1, $2, $3, 'queued', $4, $5, $6, $7, $8, $9, $10, $11, $13, 0, $12, $12, $12, $12, $15)
           ON CONFLICT (library_id, id) DO UPDATE SET
               earlier_attempts = with_attempt(jobs.earlier_attempts, jsonb_build_object(
                   'attempt', jobs.attempt, 'status', jobs.status, 'requested_at', jobs.requested_at,
                   'queued_at', jobs.queued_at, 'started_at', jobs.started_at, 'finished_at', jobs.finished_at,
                   'error_code', jobs.error_code, 'error_message', jobs.error_message, 'steps', jobs.steps,
                   'output_deleted_at', jobs.output_deleted_at)),
               steps = NULL, requested_at = excluded.requested_at,
               status = 'queued', principal_id = excluded.principal_id, attempt = excluded.attempt,
               plan = excluded.plan, depends_on = excluded.depends_on, charge = excluded.charge, stage = NULL,
               progress = 0, result = NULL,
               error_code = NULL, error_message = NULL, error_details = NULL, started_at = NULL, finished_at = NULL,
               media_seconds = NULL, reached_seconds = NULL, expected_seconds = NULL, output_deleted_at = NULL,
               updated_at = excluded.updated_at, queued_at = excluded.queued_at,
               trace_context = excluded.trace_context
               WHERE jobs.status = 'failed' OR (jobs.status = 'ready' AND ($14 OR jobs.output_deleted_at IS NOT NULL))
           RETURNING true""",
        principal.library_id,
        new_job.key.id,
        new_job.key.type,
        new_job.video_id,
        new_job.key.language,
        new_job.key.product,
        new_job.key.automation,
        principal.id,
        attempt,
        dict(new_job.plan),
        list(new_job.depends_on),
        now,
        new_job.charge.as_json() if new_job.charge is not None else None,
        new_job.rerun,
        current_trace_context(),
    )
    return inserted is not None


async def _start(
    connection: Connection,
    library_id: str,
    key: JobKey,
    *,
    attempt: int,
    trace_context: Mapping[str, str] | None = None,
) -> None:
    start = job_start(library_id, key.id, job_type=key.type, attempt=attempt)
    await enqueue(connection, replace(start, trace_context=trace_context))


def job_start(library_id: str, job_id: str, *, job_type: JobKind, attempt: int) -> WorkflowStart:
    """Build the workflow start of a job attempt. The workflow id makes Temporal start each attempt once.

    Internal jobs bypass the per-library concurrency cap.
    """
    return WorkflowStart(
        library_id=library_id,
        workflow=job_type.value,
        workflow_id=workflow_id(job_id, attempt),
        argument={"library_id": library_id, "job_id": job_id, "attempt": attempt},
        is_job=isinstance(job_type, JobType),
    )


async def release_dependents(
    connection: Connection, library_id: str, *, video_id: str | None, prerequisite: str, now: datetime
) -> None:
    """Remove a finished prerequisite from the video's queued jobs and start those without remaining dependencies."""
    rows = await connection.fetch(
        """WITH dependents AS (
               SELECT id FROM jobs
               WHERE library_id = $1 AND video_id = $2 AND status = 'queued' AND depends_on @> ARRAY[$3]
               ORDER BY id FOR UPDATE)
           UPDATE jobs j SET depends_on = array_remove(j.depends_on, $3), updated_at = $4, queued_at = $4
           FROM dependents
           WHERE j.library_id = $1 AND j.id = dependents.id
           RETURNING j.id, j.attempt, j.depends_on, j.trace_context""",
        library_id,
        video_id,
        prerequisite,
        now,
    )
    for row in rows:
        key = parse_job_id(row["id"])
        if key is not None and not row["depends_on"]:
            # In the trace of its own request, not in that of the job it waited for.
            await _start(connection, library_id, key, attempt=row["attempt"], trace_context=row["trace_context"])


async def get_job(connection: Connection, library_id: str, job_id: str) -> Job:
    key = parse_job_id(job_id)
    if key is None or isinstance(key.type, InternalJobType):
        raise not_found()
    row = await connection.fetchrow(GET_JOB, library_id, key.id)
    if row is None:
        raise not_found()
    return job_from_row(row)


async def list_jobs(connection: Connection, library_id: str, video_id: str) -> list[Job]:
    return [job_from_row(row) for row in await connection.fetch(LIST_JOBS, library_id, video_id, MAX_LISTED)]


def job_from_row(row: asyncpg.Record) -> Job:
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
        progress=whole_percent(row["progress"]) if processing else None,
        stage=row["stage"] if processing else None,
        estimated_ready_at=estimated_ready_at(row) if processing else None,
        result=row["result"],
        output_deleted_at=row["output_deleted_at"],
        error=error,
    )


def estimated_ready_at(row: asyncpg.Record) -> datetime | None:
    """When a running job will probably be ready, as seen when its row was read."""
    if row["started_at"] is None or not row["is_measured"]:
        return None
    run = RunState(
        progress=row["progress"],
        started_at=row["started_at"],
        reported_at=row["updated_at"],
        expected_seconds=row["expected_seconds"],
        has_known_length=row["media_seconds"] is not None,
    )
    return estimate_ready_at(run, now=row["read_at"])


async def extend_deadline(connection: Connection, library_id: str, job_id: str, *, now: datetime) -> bool:
    """Restarts the time that a queued job may wait; False if it is not queued any more."""
    extended: bool | None = await connection.fetchval(
        """UPDATE jobs SET updated_at = $3 WHERE library_id = $1 AND id = $2 AND status = 'queued'
           RETURNING true""",
        library_id,
        job_id,
        now,
    )
    return extended is not None
