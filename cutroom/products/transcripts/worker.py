"""Builds the transcript activities by task queue."""

from cutroom.jobs.worker import Activities, WorkerContext
from cutroom.platform.task_queues import TaskQueue
from cutroom.products.transcripts.activities import TranscriptActivities
from cutroom.products.transcripts.editing.activities import AlignmentActivities
from cutroom.products.transcripts.optimizing.activities import OptimizingActivities
from cutroom.products.transcripts.recognition_runs.activities import RecognitionRunActivities
from cutroom.products.transcripts.speaker_recognition.activities import SpeakerEmbeddingActivities
from cutroom.products.transcripts.speaker_recognition.embedding import SpeechEmbedding


def register(context: WorkerContext) -> Activities:
    transcripts = TranscriptActivities(
        database=context.database,
        storage=context.storage,
        media_cache=context.media_cache,
        sandbox=context.sandbox,
        engines=context.engines,
        clock=context.clock,
        secret_box=context.secret_box,
    )
    alignment = AlignmentActivities(
        database=context.database,
        storage=context.storage,
        media_cache=context.media_cache,
        sandbox=context.sandbox,
        engines=context.engines,
    )
    embedding = SpeechEmbedding(
        database=context.database,
        storage=context.storage,
        media_cache=context.media_cache,
        sandbox=context.sandbox,
        engines=context.engines,
        secret_box=context.secret_box,
    )
    speaker_embeddings = SpeakerEmbeddingActivities(embedding)
    recognition_runs = RecognitionRunActivities(embedding, context.clock)
    scripts = OptimizingActivities(database=context.database, engines=context.engines, clock=context.clock)
    return {
        TaskQueue.CONTROL: [
            speaker_embeddings.fail_speaker_embedding,
            recognition_runs.list_videos,
            recognition_runs.fail_video,
            recognition_runs.finish,
        ],
        TaskQueue.SPEECH: [
            transcripts.detect_speech,
            transcripts.transcribe_chunk,
            transcripts.assemble_transcript,
            transcripts.delete_transcript_chunks,
            alignment.plan_alignment,
            alignment.align_chunk,
            alignment.publish_revision,
            alignment.delete_alignment,
            speaker_embeddings.embed_speaker,
            recognition_runs.recognize_in_video,
            scripts.optimize_transcript,
        ],
    }
