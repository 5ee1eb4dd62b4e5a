"""The order in which captions are made."""

from datetime import timedelta
from functools import partial
from typing import Any

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from cutroom.jobs.lifecycle import JobRef
    from cutroom.jobs.workflow import ActivityRunner, run_job
    from cutroom.platform.temporal import Queue
    from cutroom.products.captions.activities import CaptionActivities

run_activity = ActivityRunner(Queue.SPEECH, start_to_close=timedelta(hours=1))


@workflow.defn(name="captions")
class CaptionsWorkflow:
    """One language of one video."""

    @workflow.run
    async def run(self, ref: JobRef) -> None:
        await run_job(ref, partial(self._steps, ref))

    async def _steps(self, ref: JobRef, plan: dict[str, Any]) -> dict[str, Any]:
        made: dict[str, Any] = await run_activity(
            CaptionActivities.translate_captions, ref, plan["video_id"], plan["language"]
        )
        return made
