"""Builds the retention activities by task queue."""

from cutroom.jobs.worker import Activities, WorkerContext
from cutroom.platform.task_queues import TaskQueue
from cutroom.retention.policy.activities import RetentionActivities


def register(context: WorkerContext) -> Activities:
    retention = RetentionActivities(
        database=context.database,
        storage=context.storage,
        multipart=context.multipart,
        clock=context.clock,
    )
    return {TaskQueue.CONTROL: [retention.list_libraries, retention.apply_retention, retention.finish_retention]}
