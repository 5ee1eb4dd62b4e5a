"""Records the progress of a running job, and measures its run for the estimates of later ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

import asyncpg

from cutroom.events.service import announce_progress
from cutroom.jobs.estimates import MeasuredRun, expect_run, whole_percent
from cutroom.jobs.ids import InternalJobType, parse_job_kind
from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.service import estimated_ready_at
from cutroom.jobs.states import JobState
from cutroom.library.service import get_duration
from cutroom.platform.db import Connection

MAX_PROGRESS = 99.0  # of an unfinished job
MEASURED_RUNS = 20  # finished jobs that an expectation is based on
MAX_STEP_ERROR = 200
REPORT_PROGRESS = """WITH raised AS (
        SELECT greatest(progress, least(greatest($5::real, progress + $6::real), $7::real)) AS progress
        FROM jobs WHERE library_id = $1 AND id = $2 AND attempt = $3 AND status = 'processing' FOR UPDATE)
    UPDATE jobs j SET stage = $4, progress = raised.progress, updated_at = $8,
        reached_seconds = with_marks(reached_seconds, raised.progress, extract(epoch FROM $8 - started_at))
    FROM raised WHERE library_id = $1 AND id = $2
    RETURNING j.type, j.video_id, j.language, j.progress, j.started_at, j.updated_at, $8::timestamptz AS read_at,
        j.reached_seconds IS NOT NULL AS is_measured,
        coalesce(extract(epoch FROM $8 - started_at), 0)::real AS elapsed_seconds,
        expected_seconds, media_seconds"""


class StepChange(StrEnum):
    """What is recorded of a step, besides its progress, for the timeline of the job."""

    STARTED = "started"
    RETRIED = "retried"  # started again, after it failed or its worker stopped
    ENDED = "ended"
    FAILED = "failed"  # and is retried


@dataclass(frozen=True, slots=True)
class JobProgress:
    """The progress of a running job in percent, and what is known about its length."""

    progress: float
    elapsed_seconds: float
    expected_seconds: Sequence[float] | None
    media_seconds: float | None


async def start_measuring(connection: Connection, ref: JobRef) -> None:
    """Begin to measure the run, and record how long each tenth of it should take by earlier runs of such jobs."""
    job = await connection.fetchrow(
        "SELECT type, product, automation_type, video_id FROM jobs WHERE library_id = $1 AND id = $2",
        ref.library_id,
        ref.job_id,
    )
    assert job is not None
    media_seconds = None
    if job["video_id"] is not None:
        media_seconds = await get_duration(connection, ref.library_id, job["video_id"])
    found = await connection.fetch(
        "SELECT * FROM measured_runs($1, $2, $3, $4)",
        job["type"],
        job["product"],
        job["automation_type"],
        MEASURED_RUNS,
    )
    runs = [MeasuredRun(each["media_seconds"], each["reached_seconds"]) for each in found]
    await connection.execute(
        """UPDATE jobs SET media_seconds = $4, expected_seconds = $5, reached_seconds = coalesce(reached_seconds, '{}')
           WHERE library_id = $1 AND id = $2 AND attempt = $3""",
        ref.library_id,
        ref.job_id,
        ref.attempt,
        media_seconds,
        expect_run(runs, media_seconds=media_seconds),
    )


async def stop_measuring(connection: Connection, ref: JobRef) -> None:
    """Give up the measurement and the estimate of a run that waits for a person."""
    await connection.execute(
        """UPDATE jobs SET reached_seconds = NULL, expected_seconds = NULL
           WHERE library_id = $1 AND id = $2 AND attempt = $3""",
        ref.library_id,
        ref.job_id,
        ref.attempt,
    )


async def report_progress(
    connection: Connection,
    ref: JobRef,
    *,
    stage: str,
    now: datetime,
    progress: float = 0.0,
    added: float = 0.0,
    limit: float = MAX_PROGRESS,
) -> JobProgress | None:
    """Record the stage and raise the progress: to at least `progress`, and by `added`, but not above the limit.

    Progress never decreases. Returns None if the attempt is superseded or finished.
    """
    row = await connection.fetchrow(
        REPORT_PROGRESS,
        ref.library_id,
        ref.job_id,
        ref.attempt,
        stage,
        progress,
        added,
        min(limit, MAX_PROGRESS),
        now,
    )
    if row is None:
        return None
    _announce(ref, row, stage=stage)
    return JobProgress(row["progress"], row["elapsed_seconds"], row["expected_seconds"], row["media_seconds"])


def _announce(ref: JobRef, row: asyncpg.Record, *, stage: str) -> None:
    """Send the progress to those who follow the library now; it is not an event of the log."""
    kind = parse_job_kind(row["type"])
    if isinstance(kind, InternalJobType):
        return
    ready_at = estimated_ready_at(row)
    announce_progress(
        ref.library_id,
        ref.job_id,
        {
            "id": ref.job_id,
            "type": kind.value,
            "status": JobState.PROCESSING.value,
            **{name: value for name, value in (("videoId", row["video_id"]), ("language", row["language"])) if value},
            "progress": whole_percent(row["progress"]),
            "stage": stage,
            **({"estimatedReadyAt": ready_at.astimezone(UTC).isoformat()} if ready_at is not None else {}),
        },
    )


async def record_step(
    connection: Connection, ref: JobRef, stage: str, change: StepChange, *, now: datetime, error: str | None = None
) -> None:
    """Record a change of a step for the timeline; `error` is why it failed, in words for the caller of the API."""
    await connection.execute(
        """UPDATE jobs SET steps = with_step(steps, $4, $5, $6, $7)
           WHERE library_id = $1 AND id = $2 AND attempt = $3 AND status = 'processing'""",
        ref.library_id,
        ref.job_id,
        ref.attempt,
        stage,
        change,
        now,
        error[:MAX_STEP_ERROR] if error is not None else None,
    )
