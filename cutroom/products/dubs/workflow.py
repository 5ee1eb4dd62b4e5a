"""The order in which a dub is made: its first minute before all else, so that it can be listened to early."""

import asyncio
from datetime import timedelta
from functools import partial
from typing import Any

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from cutroom.jobs.ids import parse_job_id
    from cutroom.jobs.lifecycle import JobRef
    from cutroom.jobs.workflow import ActivityRunner, run_job
    from cutroom.platform.temporal import Queue
    from cutroom.products.dubs.activities import DubActivities, Planned
    from cutroom.products.dubs.artifacts import DubRef
    from cutroom.products.dubs.script import Spoken

run_activity = ActivityRunner(Queue.SPEECH, start_to_close=timedelta(hours=1))
STEPS_AT_ONCE = 16  # of one dub, over all workers
FIRST, WHOLE = "first-layout", "layout"


@workflow.defn(name="dub")
class DubWorkflow:
    """One language of one video."""

    @workflow.run
    async def run(self, ref: JobRef) -> None:
        await run_job(ref, partial(self._steps, ref))

    async def _steps(self, ref: JobRef, plan: dict[str, Any]) -> dict[str, Any]:
        key = parse_job_id(ref.job_id)
        assert key is not None
        return await make_dub(ref, DubRef(ref.library_id, plan["video_id"], str(key.language), str(key.product)))


@workflow.defn(name="redub")
class RedubWorkflow:
    """A dub again, after some of its words were changed; what did not change is not made again."""

    @workflow.run
    async def run(self, ref: JobRef) -> None:
        await run_job(ref, partial(self._steps, ref))

    async def _steps(self, ref: JobRef, plan: dict[str, Any]) -> dict[str, Any]:
        return await make_dub(ref, DubRef(ref.library_id, plan["dubbed_video_id"], plan["language"], plan["product"]))


async def make_dub(ref: JobRef, dub: DubRef) -> dict[str, Any]:
    planned: Planned = await run_activity(DubActivities.plan_dub, ref, dub)
    await run_activity(DubActivities.separate_chunk, ref, dub, 0, 8)
    if dub.product == "premium":  # clones are made from speech that was parted from the rest, wherever it is
        await _all(
            [partial(run_activity, DubActivities.separate_chunk, ref, dub, at, 10) for at in range(1, planned.pieces)]
        )
    if planned.lines:
        await run_activity(DubActivities.assign_voices, ref, dub)
    first = [number for number, piece in enumerate(planned.lines) if piece == 0]
    rest = [number for number, piece in enumerate(planned.lines) if piece > 0]
    spoken = await _speak(ref, dub, first, planned)
    if planned.pieces > 1:
        await run_activity(DubActivities.schedule_lines, ref, dub, spoken, FIRST)
        mixed = await run_activity(DubActivities.mix_chunk, ref, dub, 0, FIRST, 29)
        await run_activity(DubActivities.publish_dub_preview, ref, dub, mixed)
        await _all(
            [partial(run_activity, DubActivities.separate_chunk, ref, dub, at, 35) for at in range(1, planned.pieces)]
        )
        spoken += await _speak(ref, dub, rest, planned)
    spoken.sort(key=lambda each: each.number)
    await run_activity(DubActivities.schedule_lines, ref, dub, spoken, WHOLE)
    pieces = range(planned.pieces)
    mixed_pieces = await _all(
        [partial(run_activity, DubActivities.mix_chunk, ref, dub, at, WHOLE, 88) for at in pieces]
    )
    heard = await _all(
        [partial(run_activity, DubActivities.transcribe_chunk, ref, dub, at, WHOLE, 93) for at in pieces]
    )
    result: dict[str, Any] = await run_activity(DubActivities.publish_dub, ref, dub, mixed_pieces, heard, WHOLE)
    return result


async def _speak(ref: JobRef, dub: DubRef, numbers: list[int], planned: Planned) -> list[Spoken]:
    whole = len(planned.lines)
    return await _all(
        [
            partial(run_activity, DubActivities.synthesize_line, ref, dub, number, 12 + 66 * (number + 1) // whole)
            for number in numbers
        ]
    )


async def _all(steps: list[Any]) -> list[Any]:
    """Side by side, a bounded number at a time; what each gave, in order."""
    gate = asyncio.Semaphore(STEPS_AT_ONCE)

    async def take(step: Any) -> Any:  # noqa: ANN401 (any of the activities)
        async with gate:
            return await step()

    return list(await asyncio.gather(*(take(step) for step in steps)))
