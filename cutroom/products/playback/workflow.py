"""Defines the playback workflow."""

import asyncio
from dataclasses import replace
from datetime import timedelta

from temporalio import workflow
from temporalio.common import Priority
from temporalio.exceptions import FailureError

with workflow.unsafe.imports_passed_through():
    from cutroom.jobs.workflow import ActivityRunner, control, to_failure
    from cutroom.platform.task_queues import TaskQueue
    from cutroom.products.playback.activities import PlaybackActivities
    from cutroom.products.playback.plan import PlaybackPlan, PlaybackRef

MAX_PARALLEL_CHUNKS = 16  # per video, across all workers
# No caller waits for a ladder: imports and shorts go first if the queue is long.
LOW_PRIORITY = 4
ONE_PACKAGING_ACTIVITY = "one-packaging-activity"  # a patch
media_runner = ActivityRunner(TaskQueue.MEDIA, start_to_close=timedelta(minutes=90))


@workflow.defn(name="playback")
class PlaybackWorkflow:
    """Packages one video for streaming. Work requested while it runs is done before it ends."""

    @workflow.run
    async def run(self, playback: PlaybackRef) -> None:
        lease_holder = workflow.info().workflow_id
        revision = await control.run_local(PlaybackActivities.acquire_playback_lease, playback, lease_holder)
        try:
            while revision is not None:
                await self._package(playback)
                revision = await control.run_local(
                    PlaybackActivities.publish_playback, playback, lease_holder, revision
                )
        except FailureError as error:
            failure = to_failure(error)
            message = f"{failure.code}: {failure.message}"
            await control.run_local(PlaybackActivities.fail_playback, playback, lease_holder, message)

    async def _package(self, playback: PlaybackRef) -> None:
        media = media_runner.with_options(priority=_priority(playback))
        plan = await media.run(PlaybackActivities.plan_playback, playback)
        if plan is None:
            return
        if plan.obsolete:
            await media.run(PlaybackActivities.delete_obsolete_tracks, playback, plan.obsolete)
        if plan.renditions:
            await self._encode_ladder(media, playback, plan)
            await self._package_ladder(media, playback, plan)
        await asyncio.gather(*(media.run(PlaybackActivities.package_track, playback, each) for each in plan.tracks))

    async def _package_ladder(self, media: ActivityRunner, playback: PlaybackRef, plan: PlaybackPlan) -> None:
        if workflow.patched(ONE_PACKAGING_ACTIVITY):
            await media.run(PlaybackActivities.package_ladder, playback, replace(plan, tracks=[], obsolete=[]))
            return
        numbers = range(len(plan.renditions))
        await asyncio.gather(
            *(media.run(PlaybackActivities.package_rendition, playback, plan, number) for number in numbers)
        )
        await media.run(PlaybackActivities.delete_ladder_chunks, playback, plan)

    async def _encode_ladder(self, media: ActivityRunner, playback: PlaybackRef, plan: PlaybackPlan) -> None:
        limit = asyncio.Semaphore(MAX_PARALLEL_CHUNKS)
        ladder = replace(plan, tracks=[], obsolete=[])  # repeated in the history for every chunk

        async def encode(index: int) -> None:
            async with limit:
                await media.run(PlaybackActivities.encode_ladder_chunk, playback, ladder, index)

        await asyncio.gather(*(encode(index) for index in range(plan.chunk_count)))


def _priority(playback: PlaybackRef) -> Priority:
    return Priority(priority_key=LOW_PRIORITY, fairness_key=playback.library_id)
