"""Builds the erasure activities by task queue."""

from cutroom.jobs.worker import Activities, WorkerContext
from cutroom.platform.storage.versions import ObjectVersions
from cutroom.platform.task_queues import TaskQueue
from cutroom.retention.erasure.activities import ErasureActivities


def register(context: WorkerContext) -> Activities:
    erasure = ErasureActivities(
        settings=context.settings,
        database=context.database,
        client=context.client,
        versions=ObjectVersions.connect(context.settings),
        clock=context.clock,
    )
    return {
        TaskQueue.CONTROL: [
            erasure.append_to_erasure_log,
            erasure.stop_library_work,
            erasure.survey_library,
            erasure.delete_library_histories,
            erasure.delete_library_objects,
            erasure.forget_library_limits,
            erasure.erase_library_rows,
            erasure.issue_certificate,
        ]
    }
