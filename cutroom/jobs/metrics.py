"""Records how long jobs wait and run, how they end, and how much media they process."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import asyncpg
from temporalio import activity

from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.states import CANCELLED, JobState
from cutroom.platform.db import Connection
from cutroom.platform.process.worker_metrics import (
    CORE,
    JOB_FAILURES,
    JOB_MEDIA_SECONDS,
    JOB_QUEUE_SECONDS,
    JOB_RUN_SECONDS,
)

# A failed job takes the queued jobs of its video with it that depend on it.
CHANGED_JOBS = """SELECT type, status, error_code, queued_at, started_at, finished_at, media_seconds
    FROM jobs WHERE library_id = $1 AND (started_at = $3 OR finished_at = $3)
    AND (id = $2 OR video_id = (SELECT video_id FROM jobs WHERE library_id = $1 AND id = $2))"""


async def changed_jobs(connection: Connection, ref: JobRef, *, now: datetime) -> list[asyncpg.Record]:
    """Return the jobs that a transition of `ref` at `now` has started or finished."""
    return await connection.fetch(CHANGED_JOBS, ref.library_id, ref.job_id, now)


@dataclass(frozen=True, slots=True)
class JobMetrics:
    """Records transitions of jobs, inside an activity."""

    products: Mapping[str, str]  # the product of each job type

    def record(self, jobs: Sequence[asyncpg.Record], *, now: datetime) -> None:
        """Records jobs that were started or finished at `now`."""
        for job in jobs:
            if job["started_at"] == now:
                self._record_start(job)
            if job["finished_at"] == now:
                self._record_end(job)

    def record_cancellation(self, job_type: str) -> None:
        """Counts a canceled job as a failed one; its row was ended by the API, which serves no job metrics."""
        failures = activity.metric_meter().create_counter(JOB_FAILURES, "Failed jobs by error code.")
        failures.add(1, {**self._labels(job_type), "code": CANCELLED})

    def _record_start(self, job: asyncpg.Record) -> None:
        waited = activity.metric_meter().create_histogram_float(
            JOB_QUEUE_SECONDS, "Time from ready to run until started.", "s"
        )
        waited.record((job["started_at"] - job["queued_at"]).total_seconds(), self._labels(job["type"]))

    def _record_end(self, job: asyncpg.Record) -> None:
        meter, labels = activity.metric_meter(), self._labels(job["type"])
        if job["started_at"] is not None:
            ran = meter.create_histogram_float(JOB_RUN_SECONDS, "Time from started to finished.", "s")
            seconds = (job["finished_at"] - job["started_at"]).total_seconds()
            ran.record(seconds, {**labels, "outcome": job["status"]})
        if job["status"] == JobState.FAILED:
            failures = meter.create_counter(JOB_FAILURES, "Failed jobs by error code.")
            failures.add(1, {**labels, "code": job["error_code"]})
        elif job["media_seconds"] is not None:
            media = meter.create_histogram_float(JOB_MEDIA_SECONDS, "Length of the media of ready jobs.", "s")
            media.record(job["media_seconds"], labels)

    def _labels(self, job_type: str) -> dict[str, str]:
        return {"product": self.products.get(job_type, CORE), "job_type": job_type}
