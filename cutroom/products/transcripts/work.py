"""Transcripts, for the worker."""

from cutroom.jobs.work import Activities, Parts, Work
from cutroom.platform.temporal import Queue
from cutroom.products.transcripts.activities import TranscriptActivities
from cutroom.products.transcripts.workflow import MakeTranscript


def _activities(parts: Parts) -> Activities:
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


WORK = Work(workflows=[MakeTranscript], activities=_activities)
