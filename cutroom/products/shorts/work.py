"""Shorts, promos and clips, for the worker."""

from cutroom.jobs.work import Activities, Parts, Work
from cutroom.platform.temporal import Queue
from cutroom.products.shorts.activities import ShortsActivities
from cutroom.products.shorts.workflow import MakeShorts


def _activities(parts: Parts) -> Activities:
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


WORK = Work(workflows=[MakeShorts], activities=_activities)
