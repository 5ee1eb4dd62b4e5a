"""The order in which a thumbnail is made; packaging takes the same steps, with a look for people or content between."""

import asyncio
from datetime import timedelta
from functools import partial
from typing import Any

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from cutroom.jobs.lifecycle import JobRef
    from cutroom.jobs.workflow import ActivityRunner, run_job
    from cutroom.platform.temporal import Queue
    from cutroom.products.thumbnails.activities import ThumbnailActivities
    from cutroom.products.thumbnails.material import ThumbnailRef

take = ActivityRunner(Queue.VISION, start_to_close=timedelta(minutes=20))


@workflow.defn(name="thumbnail")
class ThumbnailWorkflow:
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
    steps = [take(ThumbnailActivities.look_for_frames, ref, thumbnail)]
    if thumbnail.wanted.urls:
        steps.append(take(ThumbnailActivities.fetch_pictures, ref, thumbnail, queue=Queue.DOWNLOAD))
    await asyncio.gather(*steps)


async def draw(ref: JobRef, thumbnail: ThumbnailRef) -> dict[str, Any]:
    """Draw the candidates, and the best of them in other languages; what the job's result tells."""
    made: dict[str, Any] = await take(ThumbnailActivities.draw_candidates, ref, thumbnail)
    for number, language in enumerate(thumbnail.wanted.languages):
        await take(ThumbnailActivities.draw_translation, ref, thumbnail, language, number)
    return made | {"translations": list(thumbnail.wanted.languages)}
