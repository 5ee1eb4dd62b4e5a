"""Defines the dub and redub workflows."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from functools import partial
from itertools import chain
from typing import Any, TypeVar

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from cutroom.jobs.ids import parse_job_id
    from cutroom.jobs.lifecycle import JobRef
    from cutroom.jobs.workflow import ActivityRunner, run_job
    from cutroom.platform.task_queues import TaskQueue
    from cutroom.products.dubs.activities import DubActivities, DubPlan
    from cutroom.products.dubs.artifacts import DubRef
    from cutroom.products.dubs.editing.activities import RedubActivities, RedubRequest
    from cutroom.products.dubs.script import CHUNKS_PER_BATCH, DubBatch, chunk_batches
    from cutroom.products.dubs.sources.options import DEFAULT_OPTIONS, DubTextOptions

MAX_PARALLEL_ACTIVITIES = 16  # per dub, across all workers
PREVIEW_SCHEDULE, FULL_SCHEDULE = "preview-schedule", "schedule"
FIRST_CHUNK = DubBatch(0, 1)
LARGER_BATCHES = "larger-batches"  # patches
LINE_REDUBS = "line-redubs"

Result = TypeVar("Result")

speech = ActivityRunner(TaskQueue.SPEECH, start_to_close=timedelta(hours=1))


@workflow.defn(name="dub")
class DubWorkflow:
    """Dubs one video into one language. The first chunk is published early as a preview."""

    @workflow.run
    async def run(self, job: JobRef) -> None:
        await run_job(job, partial(self._dub, job))

    async def _dub(self, job: JobRef, plan: dict[str, Any]) -> dict[str, Any]:
        key = parse_job_id(job.job_id)
        assert key is not None
        dub = DubRef(job.library_id, plan["video_id"], str(key.language), str(key.product))
        return await make_dub(job, dub, DubTextOptions.of_plan(plan))


@workflow.defn(name="redub")
class RedubWorkflow:
    """Makes changed lines of a dub again. The published dub stays until the new one is ready."""

    @workflow.run
    async def run(self, job: JobRef) -> None:
        await run_job(job, partial(self._redub, job))

    async def _redub(self, job: JobRef, plan: dict[str, Any]) -> dict[str, Any]:
        dub = DubRef(job.library_id, plan["dubbed_video_id"], plan["language"], plan["product"])
        if not workflow.patched(LINE_REDUBS):
            return await make_dub(job, dub)
        return await remake_lines(job, dub, RedubRequest(plan["transcript_revision"], plan["lines"]))


async def remake_lines(job: JobRef, dub: DubRef, request: RedubRequest) -> dict[str, Any]:
    plan = await speech.run(RedubActivities.plan_redub, job, dub, request)
    if plan.new_speakers:
        await speech.run(RedubActivities.assign_redub_voices, job, plan.dub, plan.new_speakers)
    await _synthesize(job, plan.dub, plan.batches)
    await speech.run(RedubActivities.schedule_redub_lines, job, plan.dub)
    mix, batches = DubActivities.mix_dub_chunks, chunk_batches(range(plan.chunk_count))
    mixed = await _run_all([partial(speech.run, mix, job, plan.dub, each, FULL_SCHEDULE) for each in batches])
    await speech.run(RedubActivities.transcribe_redub_lines, job, plan.dub)
    return await speech.run(RedubActivities.publish_redub, job, plan.dub, list(chain.from_iterable(mixed)), request)


async def make_dub(job: JobRef, dub: DubRef, options: DubTextOptions = DEFAULT_OPTIONS) -> dict[str, Any]:
    if options == DEFAULT_OPTIONS:  # a worker of 0.1.0 can plan it
        plan = await speech.run(DubActivities.plan_dub, job, dub)
    else:
        plan = await speech.run(DubActivities.plan_dub_texts, job, dub, options)
    await speech.run(DubActivities.separate_dub_chunks, job, dub, FIRST_CHUNK)
    if dub.product == "premium":  # cloning needs the isolated speech of every chunk
        await _separate_remaining(job, dub, plan)
    if plan.line_batches:
        await speech.run(DubActivities.assign_voices, job, dub)
    await _synthesize(job, dub, [each for each in plan.line_batches if each.end <= plan.preview_lines])
    if plan.chunk_count > 1:
        await _publish_preview(job, dub, plan)
        if dub.product != "premium":
            await _separate_remaining(job, dub, plan)
    await _synthesize(job, dub, [each for each in plan.line_batches if each.end > plan.preview_lines])
    line_count = plan.line_batches[-1].end if plan.line_batches else 0
    await speech.run(DubActivities.schedule_lines, job, dub, line_count, FULL_SCHEDULE)
    mixed, transcribed = await _finish_chunks(job, dub, plan)
    return await speech.run(DubActivities.publish_dub, job, dub, mixed, transcribed, FULL_SCHEDULE)


async def _finish_chunks(job: JobRef, dub: DubRef, plan: DubPlan) -> tuple[list[str], list[str]]:
    """Mix and transcribe every chunk; returns the storage paths of both."""
    batches = _chunk_batches(range(plan.chunk_count))
    if not workflow.patched(LARGER_BATCHES):
        mix, transcribe = DubActivities.mix_dub_chunks, DubActivities.transcribe_dub_chunks
        mixed = await _run_all([partial(speech.run, mix, job, dub, each, FULL_SCHEDULE) for each in batches])
        transcribed = await _run_all(
            [partial(speech.run, transcribe, job, dub, each, FULL_SCHEDULE) for each in batches]
        )
        return list(chain.from_iterable(mixed)), list(chain.from_iterable(transcribed))
    finish = DubActivities.finish_dub_chunks
    finished = await _run_all([partial(speech.run, finish, job, dub, each, FULL_SCHEDULE) for each in batches])
    return [path for each in finished for path in each.mixed], [path for each in finished for path in each.transcribed]


def _chunk_batches(chunks: range) -> list[DubBatch]:
    return chunk_batches(chunks, at_least=CHUNKS_PER_BATCH if workflow.patched(LARGER_BATCHES) else 1)


async def _publish_preview(job: JobRef, dub: DubRef, plan: DubPlan) -> None:
    await speech.run(DubActivities.schedule_lines, job, dub, plan.preview_lines, PREVIEW_SCHEDULE)
    (mixed,) = await speech.run(DubActivities.mix_dub_chunks, job, dub, FIRST_CHUNK, schedule=PREVIEW_SCHEDULE)
    await speech.run(DubActivities.publish_dub_preview, job, dub, mixed)


async def _separate_remaining(job: JobRef, dub: DubRef, plan: DubPlan) -> None:
    batches = _chunk_batches(range(1, plan.chunk_count))
    await _run_all([partial(speech.run, DubActivities.separate_dub_chunks, job, dub, each) for each in batches])


async def _synthesize(job: JobRef, dub: DubRef, batches: Sequence[DubBatch]) -> None:
    await _run_all([partial(_synthesize_batch, job, dub, each) for each in batches])


async def _synthesize_batch(job: JobRef, dub: DubRef, batch: DubBatch) -> None:
    while batch.first < batch.end:
        batch = DubBatch(await speech.run(DubActivities.synthesize_lines, job, dub, batch), batch.end)


async def _run_all(calls: Sequence[Callable[[], Awaitable[Result]]]) -> list[Result]:
    """Run activities concurrently, at most MAX_PARALLEL_ACTIVITIES at a time, and return their results in order."""
    semaphore = asyncio.Semaphore(MAX_PARALLEL_ACTIVITIES)

    async def run(call: Callable[[], Awaitable[Result]]) -> Result:
        async with semaphore:
            return await call()

    return list(await asyncio.gather(*(run(call) for call in calls)))
