"""The order in which a request's outputs are made: moments first, then each output by itself, side by side."""

import asyncio
from datetime import timedelta
from functools import partial
from typing import Any

from temporalio import workflow
from temporalio.exceptions import FailureError

with workflow.unsafe.imports_passed_through():
    from cutroom.jobs.lifecycle import UNDONE, JobRef
    from cutroom.jobs.workflow import ActivityRunner, failure_of, run_job
    from cutroom.platform.temporal import Queue
    from cutroom.products.shorts.activities import ShortsActivities, ShortsRef
    from cutroom.products.shorts.rules import parse_options
    from cutroom.products.shorts.service import FAILURES

CHOSEN_PERCENT = 10
run_activity = ActivityRunner(Queue.MEDIA, start_to_close=timedelta(minutes=90))


@workflow.defn(name="shorts")
class ShortsWorkflow:
    """All outputs of one request."""

    @workflow.run
    async def run(self, ref: JobRef) -> None:
        await run_job(ref, partial(self._steps, ref))

    async def _steps(self, ref: JobRef, plan: dict[str, Any]) -> dict[str, Any]:
        shorts = ShortsRef(ref.library_id, plan["video_id"], ref.job_id.partition("_")[2], plan)
        count: int = await run_activity(ShortsActivities.choose_moments, ref, shorts, queue=Queue.SPEECH)
        ends = await asyncio.gather(*(self._output(ref, shorts, number, count) for number in range(count)))
        failures = [end for end in ends if end is not None]
        if len(failures) == count:
            raise failures[0]
        told = []
        for number, error in enumerate(ends):
            if error is not None:
                failure = failure_of(error)
                told.append({"number": number, "code": failure.code, "message": failure.message})
        result: dict[str, Any] = {"outputs": count - len(failures), FAILURES: told}
        undone = parse_options(plan).count - result["outputs"]
        return result | ({UNDONE: undone} if undone else {})

    async def _output(self, ref: JobRef, shorts: ShortsRef, number: int, count: int) -> FailureError | None:
        """One output that cannot be made leaves the others alone."""
        done = CHOSEN_PERCENT + (100 - CHOSEN_PERCENT) * (number + 1) // count
        try:
            await run_activity(ShortsActivities.frame_output, ref, shorts, number, min(done, 40), queue=Queue.VISION)
            await run_activity(ShortsActivities.render_output, ref, shorts, number, done)
        except FailureError as error:
            return error
        return None
