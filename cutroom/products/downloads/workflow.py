"""The order in which a download is prepared: one step."""

from datetime import timedelta
from functools import partial
from typing import Any

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from cutroom.jobs.lifecycle import JobRef
    from cutroom.jobs.workflow import ActivityRunner, run_job
    from cutroom.platform.temporal import Queue
    from cutroom.products.downloads.activities import DownloadActivities, DownloadRef

run_activity = ActivityRunner(Queue.MEDIA, start_to_close=timedelta(hours=3))


@workflow.defn(name="download")
class DownloadWorkflow:
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
        made: dict[str, Any] = await run_activity(DownloadActivities.prepare_download, ref, wanted)
        return made
