"""Defines the workflows that copy the files of a job to the library's own bucket, and that test the bucket."""

from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import FailureError

with workflow.unsafe.imports_passed_through():
    from cutroom.jobs.workflow import ActivityRunner, control, to_failure
    from cutroom.platform.task_queues import TaskQueue
    from cutroom.retention.copies.activities import BucketCheck, CheckedBucket, CopyActivities
    from cutroom.retention.copies.rules import CHECK_SECONDS, CopyRef
    from cutroom.retention.copies.service import CHECK_WORKFLOW, COPY_WORKFLOW

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


@workflow.defn(name=CHECK_WORKFLOW)
class CheckDestinationWorkflow:
    """Tests a bucket once while the caller waits."""

    @workflow.run
    async def run(self, check: BucketCheck) -> CheckedBucket:
        return await workflow.execute_activity_method(
            CopyActivities.check_bucket,
            check,
            task_queue=TaskQueue.EGRESS,
            schedule_to_close_timeout=timedelta(seconds=CHECK_SECONDS),
            retry_policy=RetryPolicy(maximum_attempts=1),
        )
