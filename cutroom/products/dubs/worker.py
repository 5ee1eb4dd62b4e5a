"""Builds the dub activities by task queue."""

from cutroom.jobs.worker import Activities, WorkerContext
from cutroom.platform.task_queues import TaskQueue
from cutroom.products.dubs.activities import DubActivities
from cutroom.products.dubs.artifacts import DubArtifacts


def register(context: WorkerContext) -> Activities:
    dubs = DubActivities(
        database=context.database,
        artifacts=DubArtifacts(context.storage, context.media_cache, context.sandbox),
        engines=context.engines,
        clock=context.clock,
    )
    return {
        TaskQueue.SPEECH: [
            dubs.plan_dub,
            dubs.separate_dub_chunk,
            dubs.assign_voices,
            dubs.synthesize_line,
            dubs.schedule_lines,
            dubs.mix_dub_chunk,
            dubs.transcribe_dub_chunk,
            dubs.publish_dub_preview,
            dubs.publish_dub,
        ],
    }
