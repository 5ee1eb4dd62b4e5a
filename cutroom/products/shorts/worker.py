"""Shorts, promos and clips, for the worker."""

from cutroom.jobs.worker import Activities, WorkerContext, WorkerRegistration
from cutroom.platform.temporal import Queue
from cutroom.products.shorts.activities import ShortsActivities
from cutroom.products.shorts.workflow import ShortsWorkflow


def _activities(parts: WorkerContext) -> Activities:
    shorts = ShortsActivities(
        database=parts.database,
        storage=parts.storage,
        workbench=parts.workbench,
        sandbox=parts.sandbox,
        engines=parts.engines,
        clock=parts.clock,
    )
    return {
        Queue.SPEECH: [shorts.choose_moments],
        Queue.VISION: [shorts.frame_output],
        Queue.MEDIA: [shorts.render_output],
    }


WORK = WorkerRegistration(workflows=[ShortsWorkflow], activities=_activities)
