"""The order in which captions are made."""

from datetime import timedelta
from functools import partial
from typing import Any

from temporalio import workflow
from temporalio.common import RetryPolicy

with workflow.unsafe.imports_passed_through():
    from cutroom.jobs.lifecycle import JobRef
    from cutroom.jobs.workflow import run_job
    from cutroom.platform.temporal import Queue
    from cutroom.products.captions.activities import CaptionActivities

RETRY = RetryPolicy(initial_interval=timedelta(seconds=1), maximum_interval=timedelta(seconds=15))
HEARTBEAT = timedelta(seconds=15)
STEP_TIMEOUT = timedelta(minutes=60)
CAPTIONS_TIMEOUT = timedelta(hours=24)


@workflow.defn(name="captions")
class MakeCaptions:
    """One language of one video."""

    @workflow.run
    async def run(self, ref: JobRef) -> None:
        await run_job(ref, partial(self._steps, ref))

    async def _steps(self, ref: JobRef, plan: dict[str, Any]) -> dict[str, Any]:
        return await workflow.execute_activity_method(
            CaptionActivities.translate_captions,
            args=[ref, plan["video_id"], plan["language"]],
            task_queue=Queue.SPEECH,
            start_to_close_timeout=STEP_TIMEOUT,
            schedule_to_close_timeout=CAPTIONS_TIMEOUT,
            heartbeat_timeout=HEARTBEAT,
            retry_policy=RETRY,
        )
