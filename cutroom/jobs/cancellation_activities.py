"""Activities that stop the work of canceled jobs and delete their files."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from temporalio import activity
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from cutroom.jobs.cancellation import EndedJob
from cutroom.jobs.ids import JobKind, parse_job_id, workflow_id
from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.metrics import JobMetrics
from cutroom.jobs.states import CANCELLED
from cutroom.platform.db import Database
from cutroom.platform.storage.objects import Storage

# The prefix of the objects that only this job uses; None if it has none.
OutputPrefix = Callable[[EndedJob], str | None]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CancellationActivities:
    """Activities of the cancel-job workflow; each may run any number of times."""

    database: Database
    client: Client
    storage: Storage
    metrics: JobMetrics
    output_prefixes: Mapping[JobKind, OutputPrefix]

    @activity.defn(name="stop_canceled_job")
    async def stop_canceled_job(self, ref: JobRef) -> None:
        """Terminate the attempt's workflow; its activities are canceled when they next heartbeat.

        A workflow that has not started yet ends by itself, because its job has ended.
        """
        handle = self.client.get_workflow_handle(workflow_id(ref.job_id, ref.attempt))
        try:
            await handle.terminate("job canceled")
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
        key = parse_job_id(ref.job_id)
        assert key is not None
        self.metrics.record_cancellation(key.type)

    @activity.defn(name="delete_canceled_output")
    async def delete_canceled_output(self, ref: JobRef) -> None:
        """Delete the objects that the job has stored under its own id, unless it runs again."""
        async with self.database.transaction(ref.library_id) as connection:
            row = await connection.fetchrow(
                """SELECT video_id, plan FROM jobs
                   WHERE library_id = $1 AND id = $2 AND attempt = $3 AND error_code = $4 FOR UPDATE""",
                ref.library_id,
                ref.job_id,
                ref.attempt,
                CANCELLED,
            )
            key = parse_job_id(ref.job_id)
            prefix_of = self.output_prefixes.get(key.type) if key is not None else None
            if row is None or key is None or prefix_of is None:
                return
            prefix = prefix_of(EndedJob(ref.library_id, key, row["video_id"], row["plan"]))
            if prefix is not None:
                await self.storage.delete_under(prefix)
                _log.info("output of canceled job deleted", extra={"job_id": ref.job_id})
