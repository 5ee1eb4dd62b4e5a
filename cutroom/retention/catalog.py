"""What the API and the worker register for the trash, retention, exports and erasure."""

from collections import defaultdict

from fastapi import APIRouter

from cutroom.jobs.worker import Activities, Activity, WorkerContext
from cutroom.platform.task_queues import TaskQueue
from cutroom.platform.temporal import RecurringWorkflow
from cutroom.retention.erasure import routes as erasure_routes
from cutroom.retention.erasure import worker as erasure_worker
from cutroom.retention.erasure.workflow import EraseLibraryWorkflow

ROUTERS: tuple[APIRouter, ...] = (erasure_routes.router,)
# On the control queue.
WORKFLOWS: tuple[type[object], ...] = (EraseLibraryWorkflow,)
RECURRING: tuple[RecurringWorkflow, ...] = ()


def register(context: WorkerContext) -> Activities:
    """The activities of all parts, by task queue."""
    found: dict[TaskQueue, list[Activity]] = defaultdict(list)
    for part in _parts(context):
        for queue, activities in part.items():
            found[queue] += activities
    return found


def _parts(context: WorkerContext) -> tuple[Activities, ...]:
    return (erasure_worker.register(context),)
