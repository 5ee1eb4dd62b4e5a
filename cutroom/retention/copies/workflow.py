"""Defines the workflow that copies the files of a job to the library's own bucket."""

from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import FailureError

with workflow.unsafe.imports_passed_through():
    from cutroom.jobs.workflow import ActivityRunner, control, to_failure
    from cutroom.platform.task_queues import TaskQueue
    from cutroom.retention.copies.activities import CopyActivities
    from cutroom.retention.copies.rules import CopyRef
    from cutroom.retention.copies.service import COPY_WORKFLOW

# A store that cannot be reached is tried again for a day.
transfer = ActivityRunner(
    TaskQueue.DOWNLOAD,
    start_to_close=timedelta(hours=12),
    schedule_to_close=timedelta(days=1),
    maximum_interval=timedelta(minutes=5),
)


@workflow.defn(name=COPY_WORKFLOW)
class CopyOutputWorkflow:
    """Copies the files of one job."""

    @workflow.run
    async def run(self, copy: CopyRef) -> None:
        try:
            await transfer.run(CopyActivities.copy_output, copy)
        except FailureError as error:
            await control.run(CopyActivities.fail_copy, copy, to_failure(error))
