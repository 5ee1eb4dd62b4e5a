"""Builds the hosting activities by task queue."""

from cutroom.jobs.worker import Activities, WorkerContext
from cutroom.platform.task_queues import TaskQueue
from cutroom.products.hosting.activities import HostingActivities
from cutroom.products.hosting.mux import Mux, is_configured


def register(context: WorkerContext) -> Activities:
    hosting = HostingActivities(
        database=context.database,
        storage=context.storage,
        secret_box=context.secret_box,
        host=Mux(context.settings) if is_configured(context.settings) else None,
        clock=context.clock,
    )
    return {
        TaskQueue.EGRESS: [hosting.open_hosting_upload, hosting.check_hosting, hosting.delete_hosted_assets],
        TaskQueue.DOWNLOAD: [hosting.send_hosting_source],
    }
