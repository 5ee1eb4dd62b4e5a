"""Thumbnail workflow; packaging runs the same steps with detection and review in between."""

import asyncio
from datetime import timedelta
from functools import partial
from typing import Any

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from cutroom.glossary.broken_terms import MAX_BROKEN_TERMS
    from cutroom.jobs.lifecycle import JobRef
    from cutroom.jobs.workflow import ActivityRunner, run_job
    from cutroom.platform.task_queues import TaskQueue
    from cutroom.products.thumbnails.activities import ThumbnailActivities
    from cutroom.products.thumbnails.inputs import ThumbnailRef

vision = ActivityRunner(TaskQueue.VISION, start_to_close=timedelta(minutes=20))
download = vision.with_options(queue=TaskQueue.DOWNLOAD)


@workflow.defn(name="thumbnail")
class ThumbnailWorkflow:
    """Renders all images of one request."""

    @workflow.run
    async def run(self, ref: JobRef) -> None:
        await run_job(ref, partial(self._steps, ref))

    async def _steps(self, ref: JobRef, plan: dict[str, Any]) -> dict[str, Any]:
        thumbnail = ThumbnailRef.of(ref.library_id, plan)
        await prepare(ref, thumbnail)
        return await render(ref, thumbnail)


async def prepare(ref: JobRef, thumbnail: ThumbnailRef) -> None:
    """Fetches referenced images and selects frames of the video."""
    steps = [vision.run(ThumbnailActivities.select_frames, ref, thumbnail)]
    if thumbnail.options.urls:
        steps.append(download.run(ThumbnailActivities.fetch_images, ref, thumbnail))
    await asyncio.gather(*steps)


async def render(ref: JobRef, thumbnail: ThumbnailRef) -> dict[str, Any]:
    """Renders the candidates and translations of the best one; returns the job result."""
    result = await vision.run(ThumbnailActivities.render_candidates, ref, thumbnail)
    broken = list(result.get("brokenTerms", ()))
    for number, language in enumerate(thumbnail.options.languages):
        found = await vision.run(ThumbnailActivities.render_translation, ref, thumbnail, language, number)
        broken += found or ()  # a worker of 0.1.0 returns nothing
    terms = {"brokenTerms": broken[:MAX_BROKEN_TERMS], "brokenTermCount": len(broken)}
    return result | terms | {"translations": list(thumbnail.options.languages)}
