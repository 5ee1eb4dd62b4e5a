"""The order in which a thumbnail is made; packaging takes the same steps, with a look for people or content between."""

import asyncio
from datetime import timedelta
from functools import partial
from typing import Any

from temporalio import workflow
from temporalio.common import RetryPolicy

with workflow.unsafe.imports_passed_through():
    from cutroom.jobs.lifecycle import JobRef
    from cutroom.jobs.workflow import run_job
    from cutroom.platform.temporal import Queue
    from cutroom.products.thumbnails.activities import ThumbnailActivities
    from cutroom.products.thumbnails.material import ThumbnailRef

RETRY = RetryPolicy(initial_interval=timedelta(seconds=1), maximum_interval=timedelta(seconds=15))
HEARTBEAT = timedelta(seconds=15)
STEP_TIMEOUT = timedelta(minutes=20)
THUMBNAIL_TIMEOUT = timedelta(hours=24)


@workflow.defn(name="thumbnail")
class MakeThumbnail:
    """All pictures of one request."""

    @workflow.run
    async def run(self, ref: JobRef) -> None:
        await run_job(ref, partial(self._steps, ref))

    async def _steps(self, ref: JobRef, plan: dict[str, Any]) -> dict[str, Any]:
        thumbnail = ThumbnailRef.of(ref.library_id, plan)
        await gather(ref, thumbnail)
        return await draw(ref, thumbnail)


async def gather(ref: JobRef, thumbnail: ThumbnailRef) -> None:
    """Bring in what was pointed at, and look through the film."""
    steps = [do(ThumbnailActivities.look_for_frames, Queue.VISION, ref, thumbnail)]
    if thumbnail.wanted.urls:
        steps.append(do(ThumbnailActivities.fetch_pictures, Queue.DOWNLOAD, ref, thumbnail))
    await asyncio.gather(*steps)


async def draw(ref: JobRef, thumbnail: ThumbnailRef) -> dict[str, Any]:
    """Draw the candidates, and the best of them in other languages; what the job's result tells."""
    made: dict[str, Any] = await do(ThumbnailActivities.draw_candidates, Queue.VISION, ref, thumbnail)
    for number, language in enumerate(thumbnail.wanted.languages):
        await do(ThumbnailActivities.draw_translation, Queue.VISION, ref, thumbnail, language, number)
    return made | {"translations": list(thumbnail.wanted.languages)}


async def do(step: Any, queue: Queue, *arguments: Any) -> Any:  # noqa: ANN401 (any of the activities)
    return await workflow.execute_activity_method(
        step,
        args=list(arguments),
        task_queue=queue,
        start_to_close_timeout=STEP_TIMEOUT,
        schedule_to_close_timeout=THUMBNAIL_TIMEOUT,
        heartbeat_timeout=HEARTBEAT,
        retry_policy=RETRY,
    )
