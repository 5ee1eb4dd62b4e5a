"""Builds the upload activities by task queue."""

from datetime import timedelta

from cutroom.jobs.worker import Activities, WorkerContext
from cutroom.platform.task_queues import TaskQueue
from cutroom.products.uploads.activities import UploadActivities
from cutroom.products.uploads.service import Gateway


def register(context: WorkerContext) -> Activities:
    gateway = Gateway(
        database=context.database,
        multipart=context.multipart,
        storage=context.storage,
        secret_box=context.secret_box,
        clock=context.clock,
        upload_wait=timedelta(seconds=context.settings.upload_wait_seconds),
    )
    uploads = UploadActivities(gateway, uploads_go_to_gcs=context.settings.gcs_account_file is not None)
    return {
        TaskQueue.CONTROL: [uploads.sweep_uploads],
    }
