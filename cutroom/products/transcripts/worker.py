"""Transcripts, for the worker."""

from cutroom.jobs.worker import Activities, WorkerContext, WorkerRegistration
from cutroom.platform.temporal import Queue
from cutroom.products.transcripts.activities import TranscriptActivities
from cutroom.products.transcripts.workflow import TranscriptWorkflow


def _activities(parts: WorkerContext) -> Activities:
    transcripts = TranscriptActivities(
        database=parts.database,
        storage=parts.storage,
        workbench=parts.workbench,
        sandbox=parts.sandbox,
        engines=parts.engines,
        clock=parts.clock,
    )
    return {
        Queue.SPEECH: [
            transcripts.find_speech,
            transcripts.recognise_piece,
            transcripts.join_transcript,
            transcripts.clear_transcript_pieces,
        ],
    }


WORK = WorkerRegistration(workflows=[TranscriptWorkflow], activities=_activities)
