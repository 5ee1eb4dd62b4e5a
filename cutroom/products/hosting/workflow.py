"""The order of an activation: a place at the host, the source, then waiting until it plays."""

from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any

from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from cutroom.errors import Code
    from cutroom.jobs.lifecycle import JobRef
    from cutroom.jobs.workflow import ActivityRunner, run_job
    from cutroom.platform.temporal import Queue
    from cutroom.products.hosting.activities import HostingActivities

SEND_TIMEOUT = timedelta(hours=8)
HOSTING_TIMEOUT = timedelta(hours=24)
run_activity = ActivityRunner(
    Queue.EGRESS,
    start_to_close=timedelta(minutes=2),
    schedule_to_close=HOSTING_TIMEOUT,
    heartbeat_timeout=timedelta(seconds=30),
    maximum_interval=timedelta(minutes=1),
)
FIRST_LOOK, LAST_LOOK = timedelta(seconds=2), timedelta(minutes=1)


@workflow.defn(name="hosting")
class HostingWorkflow:
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
        await run_activity(HostingActivities.open_hosting_upload, ref, video_id)
        await run_activity(
            HostingActivities.send_hosting_source, ref, video_id, queue=Queue.DOWNLOAD, start_to_close=SEND_TIMEOUT
        )
        started, pause = workflow.now(), FIRST_LOOK
        while not await run_activity(HostingActivities.check_hosting, ref, video_id):
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
