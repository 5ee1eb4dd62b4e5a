"""Activities that start, complete and fail jobs, and the sweep that recovers stuck ones."""

import logging
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import asyncpg
from temporalio import activity
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.service import RPCError, RPCStatusCode

from cutroom.credits.pricing import PriceList
from cutroom.errors import Code
from cutroom.jobs import lifecycle
from cutroom.jobs.ids import JobKind, parse_job_kind
from cutroom.jobs.lifecycle import Failure, JobRef
from cutroom.jobs.progress import start_measuring
from cutroom.jobs.service import job_start, workflow_id
from cutroom.platform.clock import Clock
from cutroom.platform.db import Database
from cutroom.platform.outbox import enqueue

STALE_AFTER = timedelta(minutes=2)
STUCK_AFTER = timedelta(hours=24)  # a running workflow that has not reported progress for this long
MAX_DEPENDENCY_WAIT = timedelta(days=8)  # longer than the lifetime of an upload session
SWEEP_BATCH = 200

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class JobActivities:
    """Lifecycle activities shared by every job workflow."""

    database: Database
    client: Client
    prices: PriceList
    clock: Clock

    @activity.defn(name="start_job")
    async def start_job(self, ref: JobRef) -> dict[str, Any] | None:
        async with self.database.transaction(ref.library_id) as connection:
            plan = await lifecycle.start(connection, ref, prices=self.prices, now=self.clock())
            if plan is not None:
                await start_measuring(connection, ref)
            return plan

    @activity.defn(name="complete_job")
    async def complete_job(self, ref: JobRef, result: dict[str, Any]) -> None:
        async with self.database.transaction(ref.library_id) as connection:
            await lifecycle.complete(connection, ref, result=result, now=self.clock())

    @activity.defn(name="fail_job")
    async def fail_job(self, ref: JobRef, failure: Failure) -> None:
        async with self.database.transaction(ref.library_id) as connection:
            await lifecycle.fail(connection, ref, failure=failure, now=self.clock())

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
            return False
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
            await enqueue(connection, job_start(ref.library_id, ref.job_id, job_type=job_type, attempt=ref.attempt))
        return True

    async def _workflow_status(self, ref: JobRef) -> WorkflowExecutionStatus | None:
        handle = self.client.get_workflow_handle(workflow_id(ref.job_id, ref.attempt))
        try:
            return (await handle.describe()).status
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                return None
            raise

    async def _fail(self, ref: JobRef, code: Code, message: str) -> bool:
        _log.error("stuck job failed", extra={"job_id": ref.job_id, "reason": message})
        async with self.database.transaction(ref.library_id) as connection:
            return await lifecycle.fail(connection, ref, failure=Failure(code, message), now=self.clock())
