"""What the API and the worker register for the trash, retention, exports, copies and erasure."""

from collections import defaultdict
from datetime import timedelta

from fastapi import APIRouter

from cutroom.jobs.lifecycle import ReadyHook
from cutroom.jobs.worker import Activities, Activity, WorkerContext
from cutroom.platform.task_queues import TaskQueue
from cutroom.platform.temporal import RecurringWorkflow
from cutroom.retention.copies import worker as copies_worker
from cutroom.retention.copies.routes import router as copies_router
from cutroom.retention.copies.service import request_copy
from cutroom.retention.copies.workflow import CheckDestinationWorkflow, CopyOutputWorkflow
from cutroom.retention.erasure import worker as erasure_worker
from cutroom.retention.erasure.routes import router as erasure_router
from cutroom.retention.erasure.workflow import EraseLibraryWorkflow
from cutroom.retention.exports import worker as exports_worker
from cutroom.retention.exports.routes import router as exports_router
from cutroom.retention.exports.workflow import DeleteExportWorkflow, ExportLibraryWorkflow, PurgeExportsWorkflow
from cutroom.retention.policy import worker as policy_worker
from cutroom.retention.policy.routes import router as policy_router
from cutroom.retention.policy.workflow import ApplyRetentionWorkflow
from cutroom.retention.trash import worker as trash_worker
from cutroom.retention.trash.routes import router as trash_router
from cutroom.retention.trash.workflow import EmptyTrashWorkflow, PurgeVideoWorkflow

ROUTERS: tuple[APIRouter, ...] = (trash_router, policy_router, exports_router, copies_router, erasure_router)
# On the control queue.
WORKFLOWS: tuple[type[object], ...] = (
    ApplyRetentionWorkflow,
    CheckDestinationWorkflow,
    CopyOutputWorkflow,
    DeleteExportWorkflow,
    EmptyTrashWorkflow,
    EraseLibraryWorkflow,
    ExportLibraryWorkflow,
    PurgeExportsWorkflow,
    PurgeVideoWorkflow,
)
RECURRING: tuple[RecurringWorkflow, ...] = (
    RecurringWorkflow(workflow="apply-retention", every=timedelta(days=1)),
    RecurringWorkflow(workflow="empty-trash", every=timedelta(hours=1)),
    RecurringWorkflow(workflow="purge-exports", every=timedelta(hours=1)),
)
WHEN_READY: tuple[ReadyHook, ...] = (request_copy,)


def register(context: WorkerContext) -> Activities:
    """The activities of all parts, by task queue."""
    found: dict[TaskQueue, list[Activity]] = defaultdict(list)
    for part in _parts(context):
        for queue, activities in part.items():
            found[queue] += activities
    return found


def _parts(context: WorkerContext) -> tuple[Activities, ...]:
    parts = (trash_worker, policy_worker, exports_worker, copies_worker, erasure_worker)
    return tuple(part.register(context) for part in parts)
