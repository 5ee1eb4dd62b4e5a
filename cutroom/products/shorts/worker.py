"""Builds the shorts activities by task queue."""

from cutroom.jobs.worker import Activities, WorkerContext
from cutroom.platform.task_queues import TaskQueue
from cutroom.products.shorts.activities import ShortsActivities


def register(context: WorkerContext) -> Activities:
    shorts = ShortsActivities(
        database=context.database,
        storage=context.storage,
        media_cache=context.media_cache,
        sandbox=context.sandbox,
        engines=context.engines,
        clock=context.clock,
    )
    return {
        TaskQueue.SPEECH: [shorts.choose_moments],
        TaskQueue.VISION: [shorts.plan_short, shorts.choose_covers],
        TaskQueue.MEDIA: [shorts.render_short],
    }
