"""Defines the import and preflight workflows."""

import asyncio
from datetime import timedelta
from functools import partial
from typing import Any

from temporalio import workflow
from temporalio.common import RetryPolicy

with workflow.unsafe.imports_passed_through():
    from cutroom.jobs.lifecycle import JobRef
    from cutroom.jobs.workflow import ActivityRunner, run_job
    from cutroom.platform.task_queues import TaskQueue
    from cutroom.products.ingest.activities import (
        AudioChunkTask,
        ChunkTask,
        IngestActivities,
        PreflightRequest,
        PreflightResult,
        SourceInspection,
    )
    from cutroom.products.ingest.rules import IS_UPLOAD

PREFLIGHT_TIMEOUT = timedelta(seconds=10)
MAX_PARALLEL_CHUNKS = 4
WITHOUT_PROXY = "without-proxy"  # a patch

media = ActivityRunner(TaskQueue.MEDIA, start_to_close=timedelta(minutes=30))
download = ActivityRunner(TaskQueue.DOWNLOAD, start_to_close=timedelta(hours=8))


@workflow.defn(name="import")
class ImportWorkflow:
    """Fetches and inspects a source, then extracts its audio in parallel chunks."""

    @workflow.run
    async def run(self, job: JobRef) -> None:
        await run_job(job, partial(self._import, job))

    async def _import(self, job: JobRef, plan: dict[str, Any]) -> dict[str, Any]:
        video_id = plan["video_id"]
        if not workflow.patched(WITHOUT_PROXY):
            return await self._import_with_proxy(job, video_id)
        if not plan.get(IS_UPLOAD):
            await download.run(IngestActivities.fetch_source, job, video_id)
        source = await media.run(IngestActivities.inspect_source, job, video_id)
        slots = asyncio.Semaphore(MAX_PARALLEL_CHUNKS)
        tasks = [AudioChunkTask(index, source.info, source.audio_chunks) for index in range(source.audio_chunks)]
        await asyncio.gather(*(self._encode_chunk(job, video_id, task, slots) for task in tasks))
        if len(tasks) > 1:
            await media.run(IngestActivities.join_audio_chunks, job, video_id, source.info)
        return _result(source)

    async def _import_with_proxy(self, job: JobRef, video_id: str) -> dict[str, Any]:
        """The steps of an import that was started by version 0.1; those of the proxy have no effect any more."""
        await download.run(IngestActivities.fetch_source, job, video_id)
        source = await media.run(IngestActivities.inspect_source, job, video_id)
        if source.video_chunks:
            await media.run(IngestActivities.make_poster, job, video_id, source.info)
        slots = asyncio.Semaphore(MAX_PARALLEL_CHUNKS)
        audio = [ChunkTask("audio", index, source.info, source.audio_chunks) for index in range(source.audio_chunks)]
        video = [ChunkTask("video", index, source.info, source.video_chunks) for index in range(source.video_chunks)]

        async def encode(task: ChunkTask) -> None:
            async with slots:
                await media.run(IngestActivities.encode_chunk, job, video_id, task)

        await asyncio.gather(*map(encode, [*audio, *video]))
        if source.audio_chunks:
            await media.run(IngestActivities.join_audio_chunks, job, video_id, source.info)
        if source.video_chunks:
            await media.run(IngestActivities.join_video_chunks, job, video_id, source.info)
        await media.run(IngestActivities.delete_import_chunks, job, video_id)
        return _result(source)

    async def _encode_chunk(self, job: JobRef, video_id: str, task: AudioChunkTask, slots: asyncio.Semaphore) -> None:
        async with slots:
            await media.run(IngestActivities.encode_audio_chunk, job, video_id, task)


def _result(source: SourceInspection) -> dict[str, Any]:
    return {"durationSeconds": round(source.info["duration_seconds"], 3), "mediaType": source.info["media_type"]}


@workflow.defn(name="preflight")
class PreflightWorkflow:
    """Probes a URL once while the caller waits."""

    @workflow.run
    async def run(self, request: PreflightRequest) -> PreflightResult:
        return await workflow.execute_activity_method(
            IngestActivities.probe_source,
            request,
            task_queue=TaskQueue.EGRESS,
            schedule_to_close_timeout=PREFLIGHT_TIMEOUT,
            retry_policy=RetryPolicy(maximum_attempts=1),
        )
