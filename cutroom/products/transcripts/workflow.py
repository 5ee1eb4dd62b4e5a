"""Defines the transcript workflow."""

import asyncio
from datetime import timedelta
from functools import partial
from typing import Any

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from cutroom.jobs.lifecycle import JobRef
    from cutroom.jobs.workflow import ActivityRunner, run_job
    from cutroom.platform.task_queues import TaskQueue
    from cutroom.products.transcripts.activities import SpeechPlan, TranscriptActivities, TranscriptChunkTask
    from cutroom.products.transcripts.chunks import TranscriptChunk, language_probe
    from cutroom.products.transcripts.service import UNKNOWN_LANGUAGE

MAX_PARALLEL_CHUNKS = 16  # per transcript, across all workers

speech = ActivityRunner(TaskQueue.SPEECH, start_to_close=timedelta(hours=1))


@workflow.defn(name="transcript")
class TranscriptWorkflow:
    """Transcribes one video. One chunk is transcribed first to detect the language, the others in parallel."""

    @workflow.run
    async def run(self, job: JobRef) -> None:
        await run_job(job, partial(self._transcribe, job))

    async def _transcribe(self, job: JobRef, request: dict[str, Any]) -> dict[str, Any]:
        video_id, language = request["video_id"], request.get("language")
        plan = await speech.run(TranscriptActivities.detect_speech, job, video_id)
        if plan.chunks:
            probe = language_probe(plan.chunks)
            detected = await self._transcribe_chunk(job, video_id, plan, probe, language)
            language = language or detected
            semaphore = asyncio.Semaphore(MAX_PARALLEL_CHUNKS)

            async def transcribe(chunk: TranscriptChunk) -> None:
                async with semaphore:
                    await self._transcribe_chunk(job, video_id, plan, chunk, language)

            await asyncio.gather(*(transcribe(chunk) for chunk in plan.chunks if chunk != probe))
        result = await speech.run(
            TranscriptActivities.assemble_transcript, job, video_id, plan, language or UNKNOWN_LANGUAGE
        )
        await speech.run(TranscriptActivities.delete_transcript_chunks, job, video_id)
        return result

    async def _transcribe_chunk(
        self, job: JobRef, video_id: str, plan: SpeechPlan, chunk: TranscriptChunk, language: str | None
    ) -> str | None:
        """Transcribe one chunk, and return the detected language if there is one."""
        known = language if language != UNKNOWN_LANGUAGE else None
        task = TranscriptChunkTask(chunk, known, total_chunks=len(plan.chunks))
        detected = await speech.run(TranscriptActivities.transcribe_chunk, job, video_id, task)
        return detected if detected != UNKNOWN_LANGUAGE else None
