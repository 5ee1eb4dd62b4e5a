"""Builds the transcript activities by task queue."""

from cutroom.jobs.worker import Activities, WorkerContext
from cutroom.platform.task_queues import TaskQueue
from cutroom.products.transcripts.activities import TranscriptActivities


def register(context: WorkerContext) -> Activities:
    transcripts = TranscriptActivities(
        database=context.database,
        storage=context.storage,
        media_cache=context.media_cache,
        sandbox=context.sandbox,
        engines=context.engines,
        clock=context.clock,
    )
    return {
        TaskQueue.SPEECH: [
            transcripts.detect_speech,
            transcripts.transcribe_chunk,
            transcripts.assemble_transcript,
            transcripts.delete_transcript_chunks,
        ],
    }
