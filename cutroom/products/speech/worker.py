"""Builds the voice cloning and speech synthesis activities by task queue."""

from cutroom.jobs.worker import Activities, WorkerContext
from cutroom.platform.task_queues import TaskQueue
from cutroom.products.speech.activities import SpeechActivities


def register(context: WorkerContext) -> Activities:
    speech = SpeechActivities(
        database=context.database,
        storage=context.storage,
        media_cache=context.media_cache,
        sandbox=context.interactive.sandbox,
        engines=context.interactive.engines,
        threads=context.interactive.threads,
        egress=context.egress,
        secret_box=context.secret_box,
        clock=context.clock,
    )
    return {
        TaskQueue.CONTROL: [speech.purge_speech],
        TaskQueue.DOWNLOAD: [speech.fetch_voice_sample],
        TaskQueue.VOICE: [
            speech.prepare_voice,
            speech.preview_voice,
            speech.synthesize_passage,
            speech.encode_synthesis,
        ],
    }
