"""Builds the download activities by task queue."""

from cutroom.jobs.worker import Activities, WorkerContext
from cutroom.platform.task_queues import TaskQueue
from cutroom.products.downloads.activities import DownloadActivities


def register(context: WorkerContext) -> Activities:
    downloads = DownloadActivities(
        database=context.database,
        storage=context.storage,
        media_cache=context.media_cache,
        sandbox=context.sandbox,
        clock=context.clock,
    )
    return {
        TaskQueue.MEDIA: [downloads.prepare_download],
    }
