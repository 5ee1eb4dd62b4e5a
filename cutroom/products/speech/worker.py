"""Voices and speech, for the worker."""

from datetime import timedelta

from cutroom.jobs.worker import Activities, WorkerContext, WorkerRegistration
from cutroom.platform.temporal import Queue, Recurring
from cutroom.products.speech.activities import SpeechActivities
from cutroom.products.speech.workflow import PurgeSpeechWorkflow, SpeechSynthesisWorkflow, VoiceCloneWorkflow


def _activities(parts: WorkerContext) -> Activities:
    speech = SpeechActivities(
        database=parts.database,
        storage=parts.storage,
        workbench=parts.workbench,
        sandbox=parts.sandbox,
        engines=parts.engines,
        egress=parts.egress,
        secrecy=parts.secrecy,
        clock=parts.clock,
    )
    return {
        Queue.CONTROL: [speech.forget_speech],
        Queue.DOWNLOAD: [speech.fetch_voice_sample],
        Queue.VOICE: [
            speech.prepare_voice,
            speech.preview_voice,
            speech.speak_passage,
            speech.join_reading,
        ],
    }


WORK = WorkerRegistration(
    workflows=[PurgeSpeechWorkflow, VoiceCloneWorkflow, SpeechSynthesisWorkflow],
    activities=_activities,
    recurring=[Recurring(workflow="purge-speech", every=timedelta(hours=1))],
)
