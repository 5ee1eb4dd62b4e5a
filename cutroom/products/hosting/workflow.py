"""The order of an activation: a place at the host, the source, then waiting until it plays."""

from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from cutroom.errors import Code
    from cutroom.jobs.lifecycle import JobRef
    from cutroom.jobs.workflow import run_job
    from cutroom.platform.temporal import Queue
    from cutroom.products.hosting.activities import HostingActivities

RETRY = RetryPolicy(initial_interval=timedelta(seconds=1), maximum_interval=timedelta(minutes=1))
HEARTBEAT = timedelta(seconds=30)
CALL_TIMEOUT = timedelta(minutes=2)
SEND_TIMEOUT = timedelta(hours=8)
HOSTING_TIMEOUT = timedelta(hours=24)
FIRST_LOOK, LAST_LOOK = timedelta(seconds=2), timedelta(minutes=1)


@workflow.defn(name="hosting")
class HostVideo:
    """One activation. The host's events only make it look sooner; what counts is what it sees."""

    def __init__(self) -> None:
        self._nudged = False

    @workflow.run
    async def run(self, ref: JobRef) -> None:
        await run_job(ref, partial(self._steps, ref))

    @workflow.signal(name="nudge")
    def nudge(self) -> None:
        self._nudged = True

    async def _steps(self, ref: JobRef, plan: dict[str, Any]) -> dict[str, Any]:
        video_id = plan["hosted_video_id"]
        await _do(HostingActivities.open_hosting_upload, ref, video_id, at_most=CALL_TIMEOUT, queue=Queue.EGRESS)
        await _do(HostingActivities.send_hosting_source, ref, video_id, at_most=SEND_TIMEOUT, queue=Queue.DOWNLOAD)
        started, pause = workflow.now(), FIRST_LOOK
        while not await _do(HostingActivities.check_hosting, ref, video_id, at_most=CALL_TIMEOUT, queue=Queue.EGRESS):
            if workflow.now() - started > HOSTING_TIMEOUT:
                sentence = "The host did not finish within a day."
                raise ApplicationError(sentence, {"reason": "TOO_SLOW"}, type=Code.INTERNAL.value)
            await self._pause(pause)
            pause = min(2 * pause, LAST_LOOK)
        return {"provider": "mux"}

    async def _pause(self, longest: timedelta) -> None:
        with suppress(TimeoutError):
            await workflow.wait_condition(lambda: self._nudged, timeout=longest)
        self._nudged = False


async def _do(step: Any, *arguments: Any, at_most: timedelta, queue: Queue) -> Any:  # noqa: ANN401
    return await workflow.execute_activity_method(
        step,
        args=list(arguments),
        task_queue=queue,
        start_to_close_timeout=at_most,
        schedule_to_close_timeout=HOSTING_TIMEOUT,
        heartbeat_timeout=HEARTBEAT,
        retry_policy=RETRY,
    )
