"""The workflow that maintains the event log every day."""

from datetime import timedelta

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from cutroom.events.activities import EventActivities

SWEEP_TIMEOUT = timedelta(hours=1)
SWEEP_HEARTBEAT = timedelta(seconds=30)


@workflow.defn(name="purge-events")
class PurgeEventsWorkflow:
    """Started by a schedule; a missed run is covered by the next one."""

    @workflow.run
    async def run(self) -> int:
        return await workflow.execute_activity_method(
            EventActivities.purge_events,
            start_to_close_timeout=SWEEP_TIMEOUT,
            heartbeat_timeout=SWEEP_HEARTBEAT,
        )
