"""The order in which a video comes in."""

import asyncio
from datetime import timedelta
from functools import partial
from typing import Any

from temporalio import workflow
from temporalio.common import RetryPolicy

with workflow.unsafe.imports_passed_through():
    from cutroom.jobs.lifecycle import JobRef
    from cutroom.jobs.workflow import ActivityRunner, run_job
    from cutroom.platform.temporal import TaskQueue
    from cutroom.products.ingest.activities import (
        IngestActivities,
        Inspected,
        Kind,
        MediaChunkTask,
        PreflightRequest,
        PreflightResult,
    )

# Our own parts may be away for a while: the work waits for them, for hours if need be, and goes on soon after.
FETCH_TIMEOUT = timedelta(hours=8)
LOOK_TIMEOUT = timedelta(seconds=10)
PIECES_AT_ONCE = 4
run_activity = ActivityRunner(TaskQueue.MEDIA, start_to_close=timedelta(minutes=30))


@workflow.defn(name="import")
class ImportWorkflow:
    """Fetch, inspect, then poster and pieces side by side, then the joints."""

    @workflow.run
    async def run(self, ref: JobRef) -> None:
        await run_job(ref, partial(self._steps, ref))

    async def _steps(self, ref: JobRef, plan: dict[str, Any]) -> dict[str, Any]:
        video_id = plan["video_id"]
        await run_activity(
            IngestActivities.fetch_source, ref, video_id, queue=TaskQueue.DOWNLOAD, start_to_close=FETCH_TIMEOUT
        )
        found: Inspected = await run_activity(IngestActivities.inspect_source, ref, video_id)
        if found.picture_pieces:
            await run_activity(IngestActivities.make_poster, ref, video_id, found.info)
        gate = asyncio.Semaphore(PIECES_AT_ONCE)
        orders = _orders(found)
        await asyncio.gather(*(self._piece(ref, video_id, order, gate) for order in orders))
        if found.sound_pieces:
            await run_activity(IngestActivities.join_sound, ref, video_id, found.info)
        if found.picture_pieces:
            await run_activity(IngestActivities.join_picture, ref, video_id, found.info)
        await run_activity(IngestActivities.clear_pieces, ref, video_id)
        return {"durationSeconds": round(found.info["duration_seconds"], 3), "mediaType": found.info["media_type"]}

    async def _piece(self, ref: JobRef, video_id: str, order: MediaChunkTask, gate: asyncio.Semaphore) -> None:
        async with gate:
            await run_activity(IngestActivities.make_piece, ref, video_id, order)


@workflow.defn(name="preflight")
class PreflightWorkflow:
    """A short look for a caller who is waiting; nobody looks at its answer later."""

    @workflow.run
    async def run(self, wanted: PreflightRequest) -> PreflightResult:
        return await workflow.execute_activity_method(
            IngestActivities.look_at_source,
            wanted,
            task_queue=TaskQueue.EGRESS,
            schedule_to_close_timeout=LOOK_TIMEOUT,
            retry_policy=RetryPolicy(maximum_attempts=1),
        )


def _orders(found: Inspected) -> list[MediaChunkTask]:
    """Sound first: it is quick, and others wait for it; progress from 12 to 90 per cent along the way."""
    wanted: list[tuple[Kind, int]] = [("sound", index) for index in range(found.sound_pieces)]
    wanted += [("picture", index) for index in range(found.picture_pieces)]
    return [
        MediaChunkTask(kind=kind, index=index, info=found.info, progress=12 + 78 * (number + 1) // len(wanted))
        for number, (kind, index) in enumerate(wanted)
    ]
