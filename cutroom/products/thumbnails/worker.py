"""Thumbnails, for the worker."""

from cutroom.jobs.worker import Activities, WorkerContext, WorkerRegistration
from cutroom.platform.temporal import Queue
from cutroom.products.thumbnails.activities import ThumbnailActivities
from cutroom.products.thumbnails.workflow import ThumbnailWorkflow


def _activities(parts: WorkerContext) -> Activities:
    thumbnails = ThumbnailActivities(
        database=parts.database,
        storage=parts.storage,
        workbench=parts.workbench,
        sandbox=parts.sandbox,
        engines=parts.engines,
        egress=parts.egress,
        clock=parts.clock,
    )
    return {
        Queue.DOWNLOAD: [thumbnails.fetch_pictures],
        Queue.VISION: [
            thumbnails.look_for_frames,
            thumbnails.detect,
            thumbnails.draw_candidates,
            thumbnails.draw_translation,
        ],
    }


WORK = WorkerRegistration(workflows=[ThumbnailWorkflow], activities=_activities)
