"""The order in which a video becomes playable: pieces of its ladder side by side, then its tracks, then its lists."""

import asyncio
from datetime import timedelta
from functools import partial

from temporalio import workflow
from temporalio.common import Priority
from temporalio.exceptions import FailureError

with workflow.unsafe.imports_passed_through():
    from cutroom.jobs.workflow import ActivityRunner, failure_of, run_control_activity
    from cutroom.platform.temporal import Queue
    from cutroom.products.playback.activities import PlaybackActivities, PlaybackPlan, PlaybackRef

PIECES_AT_ONCE = 16  # of one video, over all workers
# Nobody waits for a ladder as they wait for an import or a short: those go first where a queue is long.
BEHIND = 4
run_activity = ActivityRunner(Queue.MEDIA, start_to_close=timedelta(minutes=90))


@workflow.defn(name="playback")
class PlaybackWorkflow:
    """One video, until nothing is missing any more; what becomes ready meanwhile is seen to before the end."""

    @workflow.run
    async def run(self, ref: PlaybackRef) -> None:
        runner, promptly = workflow.info().workflow_id, partial(run_control_activity, priority=_behind(ref))
        seen: int | None = await promptly(PlaybackActivities.claim_playback, ref, runner)
        try:
            while seen is not None:
                await self._make(ref)
                seen = await promptly(PlaybackActivities.publish_playback, ref, runner, seen)
        except FailureError as error:
            failure = failure_of(error)
            told = f"{failure.code}: {failure.message}"
            await promptly(PlaybackActivities.give_up_playback, ref, runner, told)

    async def _make(self, ref: PlaybackRef) -> None:
        take = partial(run_activity, priority=_behind(ref))
        plan: PlaybackPlan | None = await take(PlaybackActivities.plan_playback, ref)
        if plan is None:
            return
        if plan.rungs:
            gate = asyncio.Semaphore(PIECES_AT_ONCE)
            await asyncio.gather(*(self._piece(ref, plan, index, gate) for index in range(plan.pieces)))
            rungs = range(len(plan.rungs))
            await asyncio.gather(*(take(PlaybackActivities.package_rung, ref, plan, each) for each in rungs))
            await take(PlaybackActivities.clear_ladder_pieces, ref, plan)
        await asyncio.gather(*(take(PlaybackActivities.package_track, ref, each) for each in plan.tracks))

    async def _piece(self, ref: PlaybackRef, plan: PlaybackPlan, index: int, gate: asyncio.Semaphore) -> None:
        async with gate:
            await run_activity(PlaybackActivities.encode_ladder_piece, ref, plan, index, priority=_behind(ref))


def _behind(ref: PlaybackRef) -> Priority:
    return Priority(priority_key=BEHIND, fairness_key=ref.library_id)
