"""Defines the workflows of voice cloning, speech synthesis and the speech purge."""

import asyncio
from datetime import timedelta
from functools import partial
from typing import Any

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from cutroom.jobs.lifecycle import JobRef
    from cutroom.jobs.workflow import ActivityRunner, run_job
    from cutroom.platform.task_queues import TaskQueue
    from cutroom.products.speech.activities import SpeechActivities

# Per synthesis, across all workers. The client plays passages in order, and task queues are not strictly FIFO, so more
# parallelism would delay the next passage.
MAX_PARALLEL_PASSAGES = 3

voice = ActivityRunner(
    TaskQueue.VOICE,
    start_to_close=timedelta(minutes=10),
    schedule_to_close=timedelta(hours=1),
    heartbeat_timeout=timedelta(seconds=10),  # short, because a client is waiting
)
download = voice.with_options(queue=TaskQueue.DOWNLOAD)
control = ActivityRunner(
    TaskQueue.CONTROL,
    start_to_close=timedelta(minutes=30),
    schedule_to_close=None,
    heartbeat_timeout=timedelta(minutes=1),
)


@workflow.defn(name="voice")
class VoiceCloneWorkflow:
    """Clones a voice: fetches the sample, extracts the reference audio, and synthesizes a preview."""

    @workflow.run
    async def run(self, job: JobRef) -> None:
        await run_job(job, partial(self._clone, job))

    async def _clone(self, job: JobRef, plan: dict[str, Any]) -> dict[str, Any]:
        voice_id = plan["voice_id"]
        await download.run(SpeechActivities.fetch_voice_sample, job, voice_id)
        await voice.run(SpeechActivities.prepare_voice, job, voice_id)
        return await voice.run(SpeechActivities.preview_voice, job, voice_id)


@workflow.defn(name="speech")
class SpeechSynthesisWorkflow:
    """Synthesizes a text. The first passage is synthesized alone for low latency, the others in parallel."""

    @workflow.run
    async def run(self, job: JobRef) -> None:
        await run_job(job, partial(self._synthesize, job))

    async def _synthesize(self, job: JobRef, plan: dict[str, Any]) -> dict[str, Any]:
        count = plan["passages"]
        await voice.run(SpeechActivities.synthesize_passage, job, number=0, progress=90 // count)
        semaphore = asyncio.Semaphore(MAX_PARALLEL_PASSAGES)

        async def synthesize(number: int) -> None:
            async with semaphore:
                progress = 90 * (number + 1) // count
                await voice.run(SpeechActivities.synthesize_passage, job, number=number, progress=progress)

        await asyncio.gather(*(synthesize(number) for number in range(1, count)))
        if plan["encode_last"]:
            await voice.run(SpeechActivities.encode_synthesis, job, count)
        return {"passages": count}


@workflow.defn(name="purge-speech")
class PurgeSpeechWorkflow:
    """Deletes expired speech data; started every hour by a schedule."""

    @workflow.run
    async def run(self) -> int:
        return await control.run(SpeechActivities.purge_speech)
