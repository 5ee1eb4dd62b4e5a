"""Uploads, for the worker."""

from datetime import timedelta

from cutroom.jobs.worker import Activities, WorkerContext, WorkerRegistration
from cutroom.platform.temporal import Queue, Recurring
from cutroom.products.uploads.activities import UploadActivities
from cutroom.products.uploads.service import Gateway
from cutroom.products.uploads.workflow import SweepUploadsWorkflow


def _activities(parts: WorkerContext) -> Activities:
    gateway = Gateway(
        database=parts.database,
        multipart=parts.multipart,
        storage=parts.storage,
        secrecy=parts.secrecy,
        clock=parts.clock,
    )
    uploads = UploadActivities(gateway, past_us=parts.settings.gcs_account_file is not None)
    return {
        Queue.CONTROL: [uploads.tend_uploads],
    }


WORK = WorkerRegistration(
    workflows=[SweepUploadsWorkflow],
    activities=_activities,
    recurring=[Recurring(workflow="sweep-uploads", every=timedelta(minutes=1))],
)
