"""The order in which a download is prepared: one step."""

from datetime import timedelta
from functools import partial
from typing import Any

from temporalio import workflow
from temporalio.common import RetryPolicy

with workflow.unsafe.imports_passed_through():
    from cutroom.jobs.lifecycle import JobRef
    from cutroom.jobs.workflow import run_job
    from cutroom.platform.temporal import Queue
    from cutroom.products.downloads.activities import DownloadActivities, DownloadRef

RETRY = RetryPolicy(initial_interval=timedelta(seconds=1), maximum_interval=timedelta(seconds=15))
HEARTBEAT = timedelta(seconds=15)
STEP_TIMEOUT = timedelta(hours=3)
DOWNLOAD_TIMEOUT = timedelta(hours=24)


@workflow.defn(name="download")
class PrepareDownload:
    """One file."""

    @workflow.run
    async def run(self, ref: JobRef) -> None:
        await run_job(ref, partial(self._steps, ref))

    async def _steps(self, ref: JobRef, plan: dict[str, Any]) -> dict[str, Any]:
        wanted = DownloadRef(
            library_id=ref.library_id,
            video_id=plan["video_id"],
            request_id=ref.job_id.partition("_")[2],
            artifact=plan["artifact"],
            language=plan["language"],
            tier=plan["tier"],
        )
        return await workflow.execute_activity_method(
            DownloadActivities.prepare_download,
            args=[ref, wanted],
            task_queue=Queue.MEDIA,
            start_to_close_timeout=STEP_TIMEOUT,
            schedule_to_close_timeout=DOWNLOAD_TIMEOUT,
            heartbeat_timeout=HEARTBEAT,
            retry_policy=RETRY,
        )
