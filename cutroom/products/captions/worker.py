"""Builds the captions activities by task queue."""

from cutroom.jobs.worker import Activities, WorkerContext
from cutroom.platform.task_queues import TaskQueue
from cutroom.products.captions.activities import CaptionActivities
from cutroom.products.captions.editing.activities import CaptionEditingActivities


def register(context: WorkerContext) -> Activities:
    captions = CaptionActivities(
        database=context.database,
        storage=context.storage,
        engines=context.engines,
        clock=context.clock,
    )
    editing = CaptionEditingActivities(
        database=context.database,
        storage=context.storage,
        engines=context.engines,
        clock=context.clock,
    )
    return {
        TaskQueue.SPEECH: [
            captions.translate_captions,
            editing.publish_captions,
            editing.regenerate_captions,
        ],
    }
