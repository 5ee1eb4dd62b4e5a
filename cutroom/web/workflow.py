"""Workflow that purges expired idempotency records every hour."""

from datetime import timedelta

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from cutroom.web.activities import IdempotencyActivities

SWEEP_TIMEOUT = timedelta(minutes=10)
SWEEP_HEARTBEAT = timedelta(seconds=30)


@workflow.defn(name="purge-idempotency-records")
class PurgeIdempotencyRecordsWorkflow:
    """Started by a schedule; a missed run is covered by the next one."""

    @workflow.run
    async def run(self) -> int:
        return await workflow.execute_activity_method(
            IdempotencyActivities.purge_idempotency_records,
            start_to_close_timeout=SWEEP_TIMEOUT,
            heartbeat_timeout=SWEEP_HEARTBEAT,
        )
