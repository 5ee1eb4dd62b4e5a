"""Downloads, for the worker."""

from cutroom.jobs.work import Activities, Parts, Work
from cutroom.platform.temporal import Queue
from cutroom.products.downloads.activities import DownloadActivities
from cutroom.products.downloads.workflow import PrepareDownload


def _activities(parts: Parts) -> Activities:
    downloads = DownloadActivities(
        database=parts.database,
        storage=parts.storage,
        workbench=parts.workbench,
        sandbox=parts.sandbox,
        clock=parts.clock,
    )
    return {
        Queue.MEDIA: [downloads.prepare_download],
    }


WORK = Work(workflows=[PrepareDownload], activities=_activities)
