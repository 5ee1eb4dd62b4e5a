"""Builds the thumbnail activities by task queue."""

from cutroom.jobs.worker import Activities, WorkerContext
from cutroom.platform.task_queues import TaskQueue
from cutroom.products.thumbnails.activities import ThumbnailActivities


def register(context: WorkerContext) -> Activities:
    thumbnails = ThumbnailActivities(
        database=context.database,
        storage=context.storage,
        media_cache=context.media_cache,
        sandbox=context.sandbox,
        engines=context.engines,
        egress=context.egress,
        clock=context.clock,
    )
    return {
        TaskQueue.DOWNLOAD: [thumbnails.fetch_images],
        TaskQueue.VISION: [
            thumbnails.select_frames,
            thumbnails.detect_subjects,
            thumbnails.render_candidates,
            thumbnails.render_translation,
        ],
    }
