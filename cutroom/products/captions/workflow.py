"""Defines the captions workflow."""

from datetime import timedelta
from functools import partial
from typing import Any

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from cutroom.jobs.lifecycle import JobRef
    from cutroom.jobs.workflow import ActivityRunner, run_job
    from cutroom.platform.task_queues import TaskQueue
    from cutroom.products.captions.activities import CaptionActivities
    from cutroom.products.captions.editing.activities import CaptionEditingActivities, RegenerationPlan

speech = ActivityRunner(TaskQueue.SPEECH, start_to_close=timedelta(hours=1))


@workflow.defn(name="captions")
class CaptionsWorkflow:
    """Translates the transcript of one video into one language, or what of it has changed."""

    @workflow.run
    async def run(self, job: JobRef) -> None:
        await run_job(job, partial(self._translate, job))

    async def _translate(self, job: JobRef, plan: dict[str, Any]) -> dict[str, Any]:
        if "regeneration" in plan:
            regeneration = RegenerationPlan(plan["video_id"], **plan["regeneration"])
            return await speech.run(CaptionEditingActivities.regenerate_captions, job, regeneration)
        return await speech.run(CaptionActivities.translate_captions, job, plan["video_id"], plan["language"])
