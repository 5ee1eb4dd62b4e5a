"""Activities that start, complete and fail jobs, and the sweep that recovers stuck ones."""

import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import asyncpg
from temporalio import activity
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.service import RPCError, RPCStatusCode

from cutroom.credits.pricing import PriceList
from cutroom.errors import Code
from cutroom.jobs import lifecycle
from cutroom.jobs.ids import JobKind, parse_job_id, parse_job_kind, workflow_id
from cutroom.jobs.lifecycle import Failure, JobRef, ReadyHook, StartCheck
from cutroom.jobs.metrics import JobMetrics, changed_jobs
from cutroom.jobs.progress import start_measuring
from cutroom.jobs.service import job_start
from cutroom.platform.clock import Clock
from cutroom.platform.db import Connection, Database
from cutroom.platform.outbox import discard_job_start, enqueue

STALE_AFTER = timedelta(minutes=2)
STUCK_AFTER = timedelta(hours=24)  # a running workflow that has not reported progress for this long
MAX_DEPENDENCY_WAIT = timedelta(days=8)  # longer than the lifetime of an upload session
SWEEP_BATCH = 200
GET_TRACE_CONTEXT = "SELECT trace_context FROM jobs WHERE library_id = $1 AND id = $2"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class JobActivities:
    """Lifecycle activities shared by every job workflow."""

    database: Database
    client: Client
    prices: PriceList
    clock: Clock
    metrics: JobMetrics
    checks: Mapping[JobKind, StartCheck] = field(default_factory=dict)  # by type of job
    when_ready: Sequence[ReadyHook] = ()  # called in the transaction that completes a job

    @activity.defn(name="start_job")
    async def start_job(self, ref: JobRef) -> dict[str, Any] | None:
        async with self._transition(ref) as (connection, now):
            key = parse_job_id(ref.job_id)
            check = self.checks.get(key.type) if key is not None else None
            plan = await lifecycle.start(connection, ref, prices=self.prices, now=now, check=check)
            if plan is not None:
                await start_measuring(connection, ref)
            return plan

    @activity.defn(name="complete_job")
    async def complete_job(self, ref: JobRef, result: dict[str, Any]) -> None:
        async with self._transition(ref) as (connection, now):
            if await lifecycle.complete(connection, ref, result=result, now=now, prices=self.prices):
                for hook in self.when_ready:
                    await hook(connection, ref, now)

    @activity.defn(name="fail_job")
    async def fail_job(self, ref: JobRef, failure: Failure) -> None:
        async with self._transition(ref) as (connection, now):
            await lifecycle.fail(connection, ref, failure=failure, now=now)

    @activity.defn(name="sweep_jobs")
    async def sweep_jobs(self) -> int:
        """Recover stale jobs whose workflow is missing, closed or stuck; return how many were recovered."""
        async with self.database.connection() as connection:
            now = self.clock()
            rows = await connection.fetch(
                "SELECT * FROM stale_jobs($1, $2, $3)", now - STALE_AFTER, now - MAX_DEPENDENCY_WAIT, SWEEP_BATCH
            )
        recovered = 0
        for row in rows:
            activity.heartbeat(recovered)
            recovered += await self._recover(row)
        return recovered

    async def _recover(self, row: asyncpg.Record) -> bool:
        ref = JobRef(row["library_id"], row["id"], row["attempt"])
        age = self.clock() - row["updated_at"]
        if row["in_outbox"]:
            return await self._fail_unstarted(ref) if row["is_set_aside"] else False
        if row["depends_on"]:
            return await self._fail(ref, Code.FAILED_PRECONDITION, "A job that this one depends on never finished.")
        status = await self._workflow_status(ref)
        if status is None:
            return await self._restart(ref, parse_job_kind(row["type"]))
        if status is not WorkflowExecutionStatus.RUNNING:
            return await self._fail(ref, Code.INTERNAL, "The job stopped unexpectedly.")
        if age < STUCK_AFTER:
            return False
        await self.client.get_workflow_handle(workflow_id(ref.job_id, ref.attempt)).terminate("stuck")
        return await self._fail(ref, Code.INTERNAL, "The job made no progress for 24 hours and was stopped.")

    async def _restart(self, ref: JobRef, job_type: JobKind) -> bool:
        _log.warning("job workflow missing, restarted", extra={"job_id": ref.job_id})
        async with self.database.transaction(ref.library_id) as connection:
            start = job_start(ref.library_id, ref.job_id, job_type=job_type, attempt=ref.attempt)
            trace_context = await connection.fetchval(GET_TRACE_CONTEXT, ref.library_id, ref.job_id)
            await enqueue(connection, replace(start, trace_context=trace_context))
        return True

    async def _workflow_status(self, ref: JobRef) -> WorkflowExecutionStatus | None:
        handle = self.client.get_workflow_handle(workflow_id(ref.job_id, ref.attempt))
        try:
            return (await handle.describe()).status
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                return None
            raise

    async def _fail_unstarted(self, ref: JobRef) -> bool:
        """Fail a job whose workflow Temporal refuses to start."""
        _log.error("job could not be started", extra={"job_id": ref.job_id})
        async with self._transition(ref) as (connection, now):
            await discard_job_start(connection, ref.library_id, ref.job_id)
            failure = Failure(Code.INTERNAL, "The job could not be started.")
            return await lifecycle.fail(connection, ref, failure=failure, now=now)

    async def _fail(self, ref: JobRef, code: Code, message: str) -> bool:
        _log.error("stuck job failed", extra={"job_id": ref.job_id, "reason": message})
        async with self._transition(ref) as (connection, now):
            return await lifecycle.fail(connection, ref, failure=Failure(code, message), now=now)

    @asynccontextmanager
    async def _transition(self, ref: JobRef) -> AsyncIterator[tuple[Connection, datetime]]:
        """Opens a transaction, and records the jobs that it started or finished once it is committed."""
        now = self.clock()
        async with self.database.transaction(ref.library_id) as connection:
            yield connection, now
            changed = await changed_jobs(connection, ref, now=now)
        self.metrics.record(changed, now=now)
