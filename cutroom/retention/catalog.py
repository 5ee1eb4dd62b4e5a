"""What the API and the worker register for the trash, retention, exports and erasure."""

from collections import defaultdict
from datetime import timedelta

from fastapi import APIRouter

from cutroom.jobs.worker import Activities, Activity, WorkerContext
from cutroom.platform.task_queues import TaskQueue
from cutroom.platform.temporal import RecurringWorkflow
from cutroom.retention.exports import worker as exports_worker
from cutroom.retention.exports.routes import router as exports_router
from cutroom.retention.exports.workflow import DeleteExportWorkflow, ExportLibraryWorkflow, PurgeExportsWorkflow

ROUTERS: tuple[APIRouter, ...] = (exports_router,)
WORKFLOWS: tuple[type[object], ...] = (  # on the control queue
    ExportLibraryWorkflow,
    DeleteExportWorkflow,
    PurgeExportsWorkflow,
)
RECURRING: tuple[RecurringWorkflow, ...] = (RecurringWorkflow(workflow="purge-exports", every=timedelta(hours=1)),)


def register(context: WorkerContext) -> Activities:
    """The activities of all parts, by task queue."""
    found: dict[TaskQueue, list[Activity]] = defaultdict(list)
    for part in _parts(context):
        for queue, activities in part.items():
            found[queue] += activities
    return found


def _parts(context: WorkerContext) -> tuple[Activities, ...]:
    return (exports_worker.register(context),)
