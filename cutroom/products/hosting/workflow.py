"""Defines the hosting workflow."""

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
    from cutroom.platform.task_queues import TaskQueue
    from cutroom.products.hosting.activities import HostingActivities

SEND_TIMEOUT = timedelta(hours=8)
HOSTING_TIMEOUT = timedelta(hours=24)
MIN_POLL_INTERVAL, MAX_POLL_INTERVAL = timedelta(seconds=2), timedelta(minutes=1)

egress = ActivityRunner(
    TaskQueue.EGRESS,
    start_to_close=timedelta(minutes=2),
    schedule_to_close=HOSTING_TIMEOUT,
    heartbeat_timeout=timedelta(seconds=30),
    maximum_interval=timedelta(minutes=1),
)
download = egress.with_options(queue=TaskQueue.DOWNLOAD, start_to_close=SEND_TIMEOUT)


@workflow.defn(name="hosting")
class HostingWorkflow:
    """Uploads a video to the hosting provider and polls until it is playable. Events only trigger earlier polls."""

    def __init__(self) -> None:
        self._event_received = False

    @workflow.run
    async def run(self, job: JobRef) -> None:
        await run_job(job, partial(self._activate, job))

    @workflow.signal(name="event_received")
    def event_received(self) -> None:
        self._event_received = True

    async def _activate(self, job: JobRef, plan: dict[str, Any]) -> dict[str, Any]:
        video_id = plan["hosted_video_id"]
        await egress.run(HostingActivities.open_hosting_upload, job, video_id)
        await download.run(HostingActivities.send_hosting_source, job, video_id)
        started, interval = workflow.now(), MIN_POLL_INTERVAL
        while not await egress.run(HostingActivities.check_hosting, job, video_id):
            if workflow.now() - started > HOSTING_TIMEOUT:
                message = "The hosting provider did not finish within 24 hours."
                raise ApplicationError(message, {"reason": "TOO_SLOW"}, type=Code.INTERNAL.value)
            await self._wait(interval)
            interval = min(2 * interval, MAX_POLL_INTERVAL)
        return {"provider": "mux"}

    async def _wait(self, interval: timedelta) -> None:
        with suppress(TimeoutError):
            await workflow.wait_condition(lambda: self._event_received, timeout=interval)
        self._event_received = False
