"""Downloads, for the worker."""

from cutroom.jobs.worker import Activities, WorkerContext, WorkerRegistration
from cutroom.platform.temporal import Queue
from cutroom.products.downloads.activities import DownloadActivities
from cutroom.products.downloads.workflow import DownloadWorkflow


def _activities(parts: WorkerContext) -> Activities:
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


WORK = WorkerRegistration(workflows=[DownloadWorkflow], activities=_activities)
