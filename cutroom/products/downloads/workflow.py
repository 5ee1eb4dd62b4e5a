"""Defines the download workflow."""

from datetime import timedelta
from functools import partial
from typing import Any

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from cutroom.jobs.lifecycle import JobRef
    from cutroom.jobs.workflow import ActivityRunner, run_job
    from cutroom.platform.task_queues import TaskQueue
    from cutroom.products.downloads.activities import DownloadActivities, DownloadRef

media = ActivityRunner(TaskQueue.MEDIA, start_to_close=timedelta(hours=3))


@workflow.defn(name="download")
class DownloadWorkflow:
    """Prepares one downloadable file."""

    @workflow.run
    async def run(self, job: JobRef) -> None:
        await run_job(job, partial(self._prepare, job))

    async def _prepare(self, job: JobRef, plan: dict[str, Any]) -> dict[str, Any]:
        download = DownloadRef(
            library_id=job.library_id,
            video_id=plan["video_id"],
            request_id=job.job_id.partition("_")[2],
            artifact=plan["artifact"],
            language=plan["language"],
            tier=plan["tier"],
            uncut=plan.get("uncut", False),
        )
        return await media.run(DownloadActivities.prepare_download, job, download)
