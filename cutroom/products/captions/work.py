"""Captions, for the worker."""

from cutroom.jobs.work import Activities, Parts, Work
from cutroom.platform.temporal import Queue
from cutroom.products.captions.activities import CaptionActivities
from cutroom.products.captions.workflow import MakeCaptions


def _activities(parts: Parts) -> Activities:
    captions = CaptionActivities(
        database=parts.database,
        storage=parts.storage,
        engines=parts.engines,
        clock=parts.clock,
    )
    return {
        Queue.SPEECH: [captions.translate_captions],
    }


WORK = Work(workflows=[MakeCaptions], activities=_activities)
