"""Defines the workflow that makes optimized scripts."""

from datetime import timedelta
from functools import partial
from typing import Any

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from cutroom.jobs.lifecycle import JobRef
    from cutroom.jobs.workflow import ActivityRunner, run_job
    from cutroom.platform.task_queues import TaskQueue
    from cutroom.products.transcripts.optimizing.activities import OptimizingActivities

speech = ActivityRunner(TaskQueue.SPEECH, start_to_close=timedelta(hours=1))


@workflow.defn(name="optimize")
class OptimizeWorkflow:
    """Makes the optimized script of a transcript, or what of it is stale."""

    @workflow.run
    async def run(self, job: JobRef) -> None:
        await run_job(job, partial(self._optimize, job))

    async def _optimize(self, job: JobRef, plan: dict[str, Any]) -> dict[str, Any]:
        video_id, revision = plan["optimized_video_id"], plan["transcript_revision"]
        return await speech.run(OptimizingActivities.optimize_transcript, job, video_id, revision)
