"""Captions, for the worker."""

from cutroom.jobs.worker import Activities, WorkerContext, WorkerRegistration
from cutroom.platform.temporal import Queue
from cutroom.products.captions.activities import CaptionActivities
from cutroom.products.captions.workflow import CaptionsWorkflow


def _activities(parts: WorkerContext) -> Activities:
    captions = CaptionActivities(
        database=parts.database,
        storage=parts.storage,
        engines=parts.engines,
        clock=parts.clock,
    )
    return {
        Queue.SPEECH: [captions.translate_captions],
    }


WORK = WorkerRegistration(workflows=[CaptionsWorkflow], activities=_activities)
