"""Titles, descriptions and what goes with them, for the worker."""

from cutroom.jobs.work import Activities, Parts, Work
from cutroom.platform.temporal import Queue
from cutroom.products.packaging.activities import PackagingActivities
from cutroom.products.packaging.workflow import MakePackaging, WakePackaging


def _activities(parts: Parts) -> Activities:
    packaging = PackagingActivities(
        database=parts.database,
        engines=parts.engines,
        clock=parts.clock,
    )
    return {
        Queue.CONTROL: [packaging.read_decision],
        Queue.SPEECH: [packaging.write_text],
    }


WORK = Work(workflows=[MakePackaging, WakePackaging], activities=_activities)
