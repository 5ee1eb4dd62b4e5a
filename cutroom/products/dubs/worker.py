"""Builds the dub activities by task queue."""

from functools import partial

from cutroom.jobs.voice_priority import pause_for_voice
from cutroom.jobs.worker import Activities, WorkerContext
from cutroom.platform.task_queues import TaskQueue
from cutroom.products.dubs.activities import DubActivities
from cutroom.products.dubs.artifacts import DubArtifacts
from cutroom.products.dubs.editing.activities import RedubActivities
from cutroom.products.dubs.editing.takes.activities import TakeActivities


def register(context: WorkerContext) -> Activities:
    dubs = DubActivities(
        database=context.database,
        artifacts=DubArtifacts(context.storage, context.media_cache, context.sandbox),
        engines=context.engines,
        clock=context.clock,
        pause_for_voice=partial(pause_for_voice, context.interactive.lease, context.interactive.budget),
    )
    redubs = RedubActivities(dubs.database, dubs.artifacts, dubs.engines, dubs.clock)
    interactive = context.interactive
    takes = TakeActivities(
        dubs.database,
        DubArtifacts(context.storage, context.media_cache, interactive.sandbox),
        interactive.engines,
        context.clock,
    )
    return {
        TaskQueue.VOICE: [takes.speak_takes],
        TaskQueue.SPEECH: [
            dubs.plan_dub,
            dubs.plan_dub_texts,
            dubs.separate_dub_chunks,
            dubs.assign_voices,
            dubs.synthesize_lines,
            dubs.schedule_lines,
            dubs.mix_dub_chunks,
            dubs.finish_dub_chunks,
            dubs.transcribe_dub_chunks,
            dubs.publish_dub_preview,
            dubs.publish_dub,
            redubs.plan_redub,
            redubs.assign_redub_voices,
            redubs.schedule_redub_lines,
            redubs.transcribe_redub_lines,
            redubs.publish_redub,
        ],
    }
