"""What the API and the worker register for the trash, retention, exports and erasure."""

from collections import defaultdict
from datetime import timedelta

from fastapi import APIRouter

from cutroom.jobs.worker import Activities, Activity, WorkerContext
from cutroom.platform.task_queues import TaskQueue
from cutroom.platform.temporal import RecurringWorkflow
from cutroom.retention.policy import routes as policy_routes
from cutroom.retention.policy import worker as policy_worker
from cutroom.retention.policy.workflow import ApplyRetentionWorkflow
from cutroom.retention.trash.activities import TrashActivities
from cutroom.retention.trash.routes import router as trash
from cutroom.retention.trash.workflow import EmptyTrashWorkflow, PurgeVideoWorkflow

ROUTERS: tuple[APIRouter, ...] = (trash, policy_routes.router)
# On the control queue.
WORKFLOWS: tuple[type[object], ...] = (
    ApplyRetentionWorkflow,
    EmptyTrashWorkflow,
    PurgeVideoWorkflow,
)
RECURRING: tuple[RecurringWorkflow, ...] = (
    RecurringWorkflow(workflow="apply-retention", every=timedelta(days=1)),
    RecurringWorkflow(workflow="empty-trash", every=timedelta(hours=1)),
)


def register(context: WorkerContext) -> Activities:
    """The activities of all parts, by task queue."""
    found: dict[TaskQueue, list[Activity]] = defaultdict(list)
    for part in _parts(context):
        for queue, activities in part.items():
            found[queue] += activities
    return found


def _parts(context: WorkerContext) -> tuple[Activities, ...]:
    return (_trash(context), policy_worker.register(context))


def _trash(context: WorkerContext) -> Activities:
    trashed = TrashActivities(context)
    return {
        TaskQueue.CONTROL: [
            trashed.start_purges,
            trashed.delete_video_objects,
            trashed.delete_video_rows,
        ],
        TaskQueue.EGRESS: [trashed.release_external_copies],
    }
