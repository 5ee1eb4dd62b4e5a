"""Defines the recurring upload sweep workflow."""

from datetime import timedelta

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from cutroom.products.uploads.activities import UploadActivities


@workflow.defn(name="sweep-uploads")
class SweepUploadsWorkflow:
    """Sweeps upload sessions; started every minute by a schedule."""

    @workflow.run
    async def run(self) -> int:
        return await workflow.execute_activity_method(
            UploadActivities.sweep_uploads,
            start_to_close_timeout=timedelta(minutes=10),
            heartbeat_timeout=timedelta(minutes=1),
        )
