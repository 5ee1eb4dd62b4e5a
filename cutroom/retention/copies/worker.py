"""Builds the copy activities by task queue."""

from cutroom.jobs.worker import Activities, WorkerContext
from cutroom.platform.task_queues import TaskQueue
from cutroom.retention.copies.activities import CopyActivities


def register(context: WorkerContext) -> Activities:
    copies = CopyActivities(
        database=context.database,
        storage=context.storage,
        egress=context.egress,
        secret_box=context.secret_box,
        clock=context.clock,
    )
    return {
        TaskQueue.CONTROL: [copies.fail_copy],
        TaskQueue.EGRESS: [copies.check_bucket],
        TaskQueue.DOWNLOAD: [copies.copy_output],
    }
