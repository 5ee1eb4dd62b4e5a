"""Builds the activities of the trash by task queue."""

from cutroom.jobs.worker import Activities, WorkerContext
from cutroom.platform.task_queues import TaskQueue
from cutroom.retention.trash.activities import TrashActivities


def register(context: WorkerContext) -> Activities:
    trash = TrashActivities(context)
    return {
        TaskQueue.CONTROL: [trash.start_purges, trash.delete_video_objects, trash.delete_video_rows],
        TaskQueue.EGRESS: [trash.release_external_copies],
    }
