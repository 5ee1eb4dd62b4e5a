"""Builds the upload activities by task queue."""

from datetime import timedelta

from cutroom.accounts.plans import load_plans
from cutroom.jobs.worker import Activities, WorkerContext
from cutroom.platform.task_queues import TaskQueue
from cutroom.products.uploads.activities import UploadActivities
from cutroom.products.uploads.service import Gateway
from cutroom.products.uploads.sweep import end_video_sessions


def register(context: WorkerContext) -> Activities:
    uploads = UploadActivities(_gateway(context), uploads_go_to_gcs=context.settings.gcs_account_file is not None)
    return {
        TaskQueue.CONTROL: [uploads.sweep_uploads],
    }


async def before_purge(context: WorkerContext, library_id: str, video_id: str) -> None:
    await end_video_sessions(_gateway(context), library_id, video_id)


def _gateway(context: WorkerContext) -> Gateway:
    return Gateway(
        database=context.database,
        multipart=context.multipart,
        storage=context.storage,
        secret_box=context.secret_box,
        clock=context.clock,
        upload_wait=timedelta(seconds=context.settings.upload_wait_seconds),
        plans=load_plans(context.settings.plans_file),
    )
