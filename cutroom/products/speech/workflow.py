"""The order in which a clone is made and a text is read, and the hourly forgetting."""

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
    from cutroom.products.speech.activities import SpeechActivities

RETRY = RetryPolicy(initial_interval=timedelta(seconds=1), maximum_interval=timedelta(seconds=15))
HEARTBEAT = timedelta(seconds=10)  # somebody waits: a worker that died is noticed soon
STEP_TIMEOUT = timedelta(minutes=10)
WHOLE_TIMEOUT = timedelta(hours=1)
# Of one reading, over all workers. Whoever listens waits for the next one, and queues keep no strict order.
PASSAGES_AT_ONCE = 3
FORGET_TIMEOUT = timedelta(minutes=30)


@workflow.defn(name="voice")
class MakeVoice:
    """Fetch the sample, judge it, and let the clone speak."""

    @workflow.run
    async def run(self, ref: JobRef) -> None:
        await run_job(ref, partial(self._steps, ref))

    async def _steps(self, ref: JobRef, plan: dict[str, Any]) -> dict[str, Any]:
        voice_id = plan["voice_id"]
        await _do(SpeechActivities.fetch_voice_sample, ref, voice_id, queue=Queue.DOWNLOAD)
        await _do(SpeechActivities.prepare_voice, ref, voice_id)
        result: dict[str, Any] = await _do(SpeechActivities.preview_voice, ref, voice_id)
        return result


@workflow.defn(name="speech")
class ReadAloud:
    """The first passage before all others, for somebody waits for it; then the others side by side."""

    @workflow.run
    async def run(self, ref: JobRef) -> None:
        await run_job(ref, partial(self._steps, ref))

    async def _steps(self, ref: JobRef, plan: dict[str, Any]) -> dict[str, Any]:
        count = plan["passages"]
        await _do(SpeechActivities.speak_passage, ref, 0, 90 // count)
        gate = asyncio.Semaphore(PASSAGES_AT_ONCE)

        async def speak(number: int) -> None:
            async with gate:
                await _do(SpeechActivities.speak_passage, ref, number, 90 * (number + 1) // count)

        await asyncio.gather(*(speak(number) for number in range(1, count)))
        if plan["joins_last"]:
            await _do(SpeechActivities.join_reading, ref, count)
        return {"passages": count}


@workflow.defn(name="forget-speech")
class ForgetSpeech:
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


async def _do(step: Any, *arguments: Any, queue: Queue = Queue.VOICE) -> Any:  # noqa: ANN401 (any of the activities)
    return await workflow.execute_activity_method(
        step,
        args=list(arguments),
        task_queue=queue,
        start_to_close_timeout=STEP_TIMEOUT,
        schedule_to_close_timeout=WHOLE_TIMEOUT,
        heartbeat_timeout=HEARTBEAT,
        retry_policy=RETRY,
    )
