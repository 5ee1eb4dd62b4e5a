"""The order in which a clone is made and a text is read, and the hourly forgetting."""

import asyncio
from datetime import timedelta
from functools import partial
from typing import Any

from temporalio import workflow
from temporalio.common import RetryPolicy

with workflow.unsafe.imports_passed_through():
    from cutroom.jobs.lifecycle import JobRef
    from cutroom.jobs.workflow import ActivityRunner, run_job
    from cutroom.platform.temporal import Queue
    from cutroom.products.speech.activities import SpeechActivities

RETRY = RetryPolicy(initial_interval=timedelta(seconds=1), maximum_interval=timedelta(seconds=15))
# Of one reading, over all workers. Whoever listens waits for the next one, and queues keep no strict order.
PASSAGES_AT_ONCE = 3
FORGET_TIMEOUT = timedelta(minutes=30)
run_activity = ActivityRunner(
    Queue.VOICE,
    start_to_close=timedelta(minutes=10),
    schedule_to_close=timedelta(hours=1),
    heartbeat_timeout=timedelta(seconds=10),  # somebody waits: a worker that died is noticed soon
)


@workflow.defn(name="voice")
class VoiceCloneWorkflow:
    """Fetch the sample, judge it, and let the clone speak."""

    @workflow.run
    async def run(self, ref: JobRef) -> None:
        await run_job(ref, partial(self._steps, ref))

    async def _steps(self, ref: JobRef, plan: dict[str, Any]) -> dict[str, Any]:
        voice_id = plan["voice_id"]
        await run_activity(SpeechActivities.fetch_voice_sample, ref, voice_id, queue=Queue.DOWNLOAD)
        await run_activity(SpeechActivities.prepare_voice, ref, voice_id)
        result: dict[str, Any] = await run_activity(SpeechActivities.preview_voice, ref, voice_id)
        return result


@workflow.defn(name="speech")
class SpeechSynthesisWorkflow:
    """The first passage before all others, for somebody waits for it; then the others side by side."""

    @workflow.run
    async def run(self, ref: JobRef) -> None:
        await run_job(ref, partial(self._steps, ref))

    async def _steps(self, ref: JobRef, plan: dict[str, Any]) -> dict[str, Any]:
        count = plan["passages"]
        await run_activity(SpeechActivities.speak_passage, ref, 0, 90 // count)
        gate = asyncio.Semaphore(PASSAGES_AT_ONCE)

        async def speak(number: int) -> None:
            async with gate:
                await run_activity(SpeechActivities.speak_passage, ref, number, 90 * (number + 1) // count)

        await asyncio.gather(*(speak(number) for number in range(1, count)))
        if plan["joins_last"]:
            await run_activity(SpeechActivities.join_reading, ref, count)
        return {"passages": count}


@workflow.defn(name="purge-speech")
class PurgeSpeechWorkflow:
    """Started every hour by a schedule."""

    @workflow.run
    async def run(self) -> int:
        return await workflow.execute_activity_method(
            SpeechActivities.forget_speech,
            task_queue=Queue.CONTROL,
            start_to_close_timeout=FORGET_TIMEOUT,
            heartbeat_timeout=timedelta(minutes=1),
            retry_policy=RETRY,
        )
