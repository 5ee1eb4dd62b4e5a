"""Hosting, for the worker."""

from cutroom.jobs.worker import Activities, WorkerContext, WorkerRegistration
from cutroom.platform.temporal import Queue
from cutroom.products.hosting.activities import HostingActivities
from cutroom.products.hosting.mux import Mux, is_configured
from cutroom.products.hosting.workflow import HostingWorkflow


def _activities(parts: WorkerContext) -> Activities:
    hosting = HostingActivities(
        database=parts.database,
        storage=parts.storage,
        secrecy=parts.secrecy,
        host=Mux(parts.settings) if is_configured(parts.settings) else None,
        clock=parts.clock,
    )
    return {
        Queue.EGRESS: [hosting.open_hosting_upload, hosting.check_hosting],
        Queue.DOWNLOAD: [hosting.send_hosting_source],
    }


WORK = WorkerRegistration(workflows=[HostingWorkflow], activities=_activities)
