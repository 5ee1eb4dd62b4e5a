"""Titles, descriptions and what goes with them, for the worker."""

from cutroom.jobs.worker import Activities, WorkerContext, WorkerRegistration
from cutroom.platform.temporal import Queue
from cutroom.products.packaging.activities import PackagingActivities
from cutroom.products.packaging.workflow import PackagingWorkflow, ResumePackagingWorkflow


def _activities(parts: WorkerContext) -> Activities:
    packaging = PackagingActivities(
        database=parts.database,
        engines=parts.engines,
        clock=parts.clock,
    )
    return {
        Queue.CONTROL: [packaging.read_decision],
        Queue.SPEECH: [packaging.write_text],
    }


WORK = WorkerRegistration(workflows=[PackagingWorkflow, ResumePackagingWorkflow], activities=_activities)
