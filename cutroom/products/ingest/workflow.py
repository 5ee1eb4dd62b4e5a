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
        ENCODED_PERCENT,
        POSTER_PERCENT,
        ChunkKind,
        ChunkTask,
        IngestActivities,
        PreflightRequest,
        PreflightResult,
        SourceInspection,
    )

PREFLIGHT_TIMEOUT = timedelta(seconds=10)
MAX_PARALLEL_CHUNKS = 4
CHUNK_WEIGHTS: dict[ChunkKind, int] = {"audio": 1, "video": 2}  # time that they take, relative to each other

media = ActivityRunner(TaskQueue.MEDIA, start_to_close=timedelta(minutes=30))
download = ActivityRunner(TaskQueue.DOWNLOAD, start_to_close=timedelta(hours=8))


@workflow.defn(name="import")
class ImportWorkflow:
    """Fetches and inspects a source, then encodes its audio and proxy video in parallel chunks."""

    @workflow.run
    async def run(self, job: JobRef) -> None:
        await run_job(job, partial(self._import, job))

    async def _import(self, job: JobRef, plan: dict[str, Any]) -> dict[str, Any]:
        video_id = plan["video_id"]
        await download.run(IngestActivities.fetch_source, job, video_id)
        source = await media.run(IngestActivities.inspect_source, job, video_id)
        if source.video_chunks:
            await media.run(IngestActivities.make_poster, job, video_id, source.info)
        slots = asyncio.Semaphore(MAX_PARALLEL_CHUNKS)
        await asyncio.gather(*(self._encode_chunk(job, video_id, task, slots) for task in _chunk_tasks(source)))
        if source.audio_chunks:
            await media.run(IngestActivities.join_audio_chunks, job, video_id, source.info)
        if source.video_chunks:
            await media.run(IngestActivities.join_video_chunks, job, video_id, source.info)
        await media.run(IngestActivities.delete_import_chunks, job, video_id)
        return {"durationSeconds": round(source.info["duration_seconds"], 3), "mediaType": source.info["media_type"]}

    async def _encode_chunk(self, job: JobRef, video_id: str, task: ChunkTask, slots: asyncio.Semaphore) -> None:
        async with slots:
            await media.run(IngestActivities.encode_chunk, job, video_id, task)


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


def _chunk_tasks(source: SourceInspection) -> list[ChunkTask]:
    """Audio first, because it is quick and other products need it."""
    chunks: list[tuple[ChunkKind, int]] = [("audio", index) for index in range(source.audio_chunks)]
    chunks += [("video", index) for index in range(source.video_chunks)]
    points = (ENCODED_PERCENT - POSTER_PERCENT) / sum(CHUNK_WEIGHTS[kind] for kind, _ in chunks) if chunks else 0.0
    return [
        ChunkTask(kind=kind, index=index, info=source.info, share=points * CHUNK_WEIGHTS[kind])
        for kind, index in chunks
    ]
