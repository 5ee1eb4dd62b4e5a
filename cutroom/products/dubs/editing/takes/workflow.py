"""Defines the workflow that speaks takes of a line."""

from datetime import timedelta
from functools import partial
from typing import Any

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from cutroom.jobs.ids import parse_job_id
    from cutroom.jobs.lifecycle import JobRef
    from cutroom.jobs.workflow import ActivityRunner, run_job
    from cutroom.platform.task_queues import TaskQueue
    from cutroom.products.dubs.artifacts import DubRef
    from cutroom.products.dubs.editing.takes.activities import TakeActivities

# A person waits: in the interactive queue, before the lines of dubs.
voice = ActivityRunner(TaskQueue.VOICE, start_to_close=timedelta(minutes=10), schedule_to_close=timedelta(hours=1))


@workflow.defn(name="takes")
class TakesWorkflow:
    """Speaks takes of one line, which a regeneration can use later."""

    @workflow.run
    async def run(self, job: JobRef) -> None:
        await run_job(job, partial(self._speak, job))

    async def _speak(self, job: JobRef, plan: dict[str, Any]) -> dict[str, Any]:
        key = parse_job_id(job.job_id)
        assert key is not None
        dub = DubRef(job.library_id, plan["dubbed_video_id"], plan["language"], plan["product"])
        return await voice.run(TakeActivities.speak_takes, job, dub, key.subject)
