"""Defines the shorts workflow."""

import asyncio
from datetime import timedelta
from functools import partial
from typing import Any

from temporalio import workflow
from temporalio.exceptions import FailureError

with workflow.unsafe.imports_passed_through():
    from cutroom.jobs.lifecycle import FAILED_ITEMS, JobRef
    from cutroom.jobs.workflow import ActivityRunner, run_job, to_failure
    from cutroom.platform.task_queues import TaskQueue
    from cutroom.products.shorts.activities import CHOSEN_PERCENT, RENDERED_PERCENT, ShortsActivities, ShortsRef
    from cutroom.products.shorts.rules import parse_options
    from cutroom.products.shorts.service import FAILURES

FRAMING_WEIGHT, RENDERING_WEIGHT = 0.35, 0.65  # of the time that an output takes

media = ActivityRunner(TaskQueue.MEDIA, start_to_close=timedelta(minutes=90))
speech = media.with_options(queue=TaskQueue.SPEECH)
vision = media.with_options(queue=TaskQueue.VISION)


@workflow.defn(name="shorts")
class ShortsWorkflow:
    """Makes all outputs of one request. Outputs are independent: one that fails does not affect the others."""

    @workflow.run
    async def run(self, job: JobRef) -> None:
        await run_job(job, partial(self._make_outputs, job))

    async def _make_outputs(self, job: JobRef, plan: dict[str, Any]) -> dict[str, Any]:
        shorts = ShortsRef(job.library_id, plan["video_id"], job.job_id.partition("_")[2], plan)
        count = await speech.run(ShortsActivities.choose_moments, job, shorts)
        share = (RENDERED_PERCENT - CHOSEN_PERCENT) / count
        numbers = range(count)
        errors = list(await asyncio.gather(*(self._plan_output(job, shorts, number, share) for number in numbers)))
        planned = [number for number in numbers if errors[number] is None]
        if len(planned) > 1:
            await vision.run(ShortsActivities.choose_covers, shorts, planned)
        rendered = await asyncio.gather(*(self._render_output(job, shorts, number, share) for number in planned))
        for number, error in zip(planned, rendered, strict=True):
            errors[number] = error
        failed = [(number, error) for number, error in enumerate(errors) if error is not None]
        if len(failed) == count:
            raise failed[0][1]
        failures = []
        for number, error in failed:
            failure = to_failure(error)
            failures.append({"number": number, "code": failure.code, "message": failure.message})
        result: dict[str, Any] = {"outputs": count - len(failed), FAILURES: failures}
        failed_items = parse_options(plan).count - result["outputs"]
        return result | ({FAILED_ITEMS: failed_items} if failed_items else {})

    async def _plan_output(self, job: JobRef, shorts: ShortsRef, number: int, share: float) -> FailureError | None:
        try:
            await vision.run(ShortsActivities.plan_short, job, shorts, number, FRAMING_WEIGHT * share)
        except FailureError as error:
            return error
        return None

    async def _render_output(self, job: JobRef, shorts: ShortsRef, number: int, share: float) -> FailureError | None:
        try:
            await media.run(ShortsActivities.render_short, job, shorts, number, RENDERING_WEIGHT * share)
        except FailureError as error:
            return error
        return None
