"""Voices and speech, for the worker."""

from datetime import timedelta

from cutroom.jobs.work import Activities, Parts, Work
from cutroom.platform.temporal import Queue, Recurring
from cutroom.products.speech.activities import SpeechActivities
from cutroom.products.speech.workflow import ForgetSpeech, MakeVoice, ReadAloud


def _activities(parts: Parts) -> Activities:
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


WORK = Work(
    workflows=[ForgetSpeech, MakeVoice, ReadAloud],
    activities=_activities,
    recurring=[Recurring(workflow="forget-speech", every=timedelta(hours=1))],
)
