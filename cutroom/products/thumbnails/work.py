"""Thumbnails, for the worker."""

from cutroom.jobs.work import Activities, Parts, Work
from cutroom.platform.temporal import Queue
from cutroom.products.thumbnails.activities import ThumbnailActivities
from cutroom.products.thumbnails.workflow import MakeThumbnail


def _activities(parts: Parts) -> Activities:
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


WORK = Work(workflows=[MakeThumbnail], activities=_activities)
