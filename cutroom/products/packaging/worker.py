"""Builds the packaging activities by task queue."""

from cutroom.jobs.worker import Activities, WorkerContext
from cutroom.platform.task_queues import TaskQueue
from cutroom.products.packaging.activities import PackagingActivities


def register(context: WorkerContext) -> Activities:
    packaging = PackagingActivities(
        database=context.database,
        engines=context.engines,
        clock=context.clock,
    )
    return {
        TaskQueue.CONTROL: [packaging.read_decision],
        TaskQueue.SPEECH: [packaging.write_text],
    }
