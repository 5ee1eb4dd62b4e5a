"""Workflows that empty the trash and purge videos."""

from datetime import timedelta

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from cutroom.jobs.workflow import HEARTBEAT_TIMEOUT, ActivityRunner
    from cutroom.platform.task_queues import TaskQueue
    from cutroom.retention.trash.activities import TrashActivities, VideoRef

purge = ActivityRunner(TaskQueue.CONTROL, start_to_close=timedelta(hours=1), schedule_to_close=None)
egress = purge.with_options(queue=TaskQueue.EGRESS)


@workflow.defn(name="empty-trash")
class EmptyTrashWorkflow:
    """Starts the purge of videos whose time in the trash is over; started every hour by a schedule."""

    @workflow.run
    async def run(self) -> int:
        return await purge.run(TrashActivities.start_purges)


@workflow.defn(name="purge-video")
class PurgeVideoWorkflow:
    """Removes everything of a video, once none of its canceled jobs can write any more."""

    @workflow.run
    async def run(self, video: VideoRef) -> None:
        await workflow.sleep(HEARTBEAT_TIMEOUT)
        await egress.run(TrashActivities.release_external_copies, video)
        await purge.run(TrashActivities.delete_video_objects, video)
        await purge.run(TrashActivities.delete_video_rows, video)
        # Playback that was being packaged finds no video from now on; what it wrote until then goes too.
        await workflow.sleep(HEARTBEAT_TIMEOUT)
        await purge.run(TrashActivities.delete_video_objects, video)
