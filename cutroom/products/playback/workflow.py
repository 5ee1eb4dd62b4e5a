"""The order in which a video becomes playable: pieces of its ladder side by side, then its tracks, then its lists."""

import asyncio
from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.common import Priority, RetryPolicy
from temporalio.exceptions import FailureError

with workflow.unsafe.imports_passed_through():
    from cutroom.jobs.workflow import ENVELOPE_RETRY, ENVELOPE_TIMEOUT, failure_of
    from cutroom.platform.temporal import Queue
    from cutroom.products.playback.activities import PlaybackActivities, PlaybackPlan, PlaybackRef

RETRY = RetryPolicy(initial_interval=timedelta(seconds=1), maximum_interval=timedelta(seconds=15))
HEARTBEAT = timedelta(seconds=15)
STEP_TIMEOUT = timedelta(minutes=90)
PLAYBACK_TIMEOUT = timedelta(hours=24)
PIECES_AT_ONCE = 16  # of one video, over all workers
# Nobody waits for a ladder as they wait for an import or a short: those go first where a queue is long.
BEHIND = 4


@workflow.defn(name="playback")
class PublishPlayback:
    """One video, until nothing is missing any more; what becomes ready meanwhile is seen to before the end."""

    @workflow.run
    async def run(self, ref: PlaybackRef) -> None:
        runner = workflow.info().workflow_id
        seen: int | None = await self._do(PlaybackActivities.claim_playback, ref, runner, queue=Queue.CONTROL)
        try:
            while seen is not None:
                await self._make(ref)
                seen = await self._do(PlaybackActivities.publish_playback, ref, runner, seen, queue=Queue.CONTROL)
        except FailureError as error:
            failure = failure_of(error)
            told = f"{failure.code}: {failure.message}"
            await self._do(PlaybackActivities.give_up_playback, ref, runner, told, queue=Queue.CONTROL)

    async def _make(self, ref: PlaybackRef) -> None:
        plan: PlaybackPlan | None = await self._do(PlaybackActivities.plan_playback, ref)
        if plan is None:
            return
        if plan.rungs:
            gate = asyncio.Semaphore(PIECES_AT_ONCE)
            await asyncio.gather(*(self._piece(ref, plan, index, gate) for index in range(plan.pieces)))
            rungs = range(len(plan.rungs))
            await asyncio.gather(*(self._do(PlaybackActivities.package_rung, ref, plan, each) for each in rungs))
            await self._do(PlaybackActivities.clear_ladder_pieces, ref, plan)
        await asyncio.gather(*(self._do(PlaybackActivities.package_track, ref, each) for each in plan.tracks))

    async def _piece(self, ref: PlaybackRef, plan: PlaybackPlan, index: int, gate: asyncio.Semaphore) -> None:
        async with gate:
            await self._do(PlaybackActivities.encode_ladder_piece, ref, plan, index)

    async def _do(self, step: Any, *arguments: Any, queue: Queue = Queue.MEDIA) -> Any:  # noqa: ANN401
        short = queue is Queue.CONTROL
        return await workflow.execute_activity_method(
            step,
            args=list(arguments),
            task_queue=queue,
            start_to_close_timeout=ENVELOPE_TIMEOUT if short else STEP_TIMEOUT,
            schedule_to_close_timeout=None if short else PLAYBACK_TIMEOUT,
            heartbeat_timeout=None if short else HEARTBEAT,
            retry_policy=ENVELOPE_RETRY if short else RETRY,
            priority=Priority(priority_key=BEHIND, fairness_key=arguments[0].library_id),
        )
