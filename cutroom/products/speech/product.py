"""Declares the speech product."""

from datetime import timedelta

from cutroom.credits.pricing import Action
from cutroom.jobs.ids import InternalJobType
from cutroom.platform.temporal import RecurringWorkflow
from cutroom.products.declaration import JobSpec, Ownership, Product, StorageKind
from cutroom.products.speech import export, routes, worker
from cutroom.products.speech.rules import MAX_TEXT, MODEL_ID
from cutroom.products.speech.workflow import PurgeSpeechWorkflow, SpeechSynthesisWorkflow, VoiceCloneWorkflow
from cutroom.web.products import CallerContext


def _refusal(context: CallerContext) -> str | None:
    if not context.principal.plan.speech:
        return "plan_required"
    return None if context.spoken_languages else "no_voices"


PRODUCT = Product(
    name="speech",
    worker=worker.register,
    jobs=(
        JobSpec(InternalJobType.VOICE, workflow=VoiceCloneWorkflow),
        JobSpec(InternalJobType.SPEECH, workflow=SpeechSynthesisWorkflow, prices=frozenset({Action.SPEECH})),
    ),
    workflows=(PurgeSpeechWorkflow,),
    recurring=(RecurringWorkflow(workflow="purge-speech", every=timedelta(hours=1)),),
    routers=(routes.router, routes.search_router),
    owns=Ownership(
        tables=("voices", "voice_consents", "syntheses"),
        objects={"voices/": StorageKind.DOCUMENT, "speech/": StorageKind.OUTPUT},
    ),
    export_library=export.export_library,
    limits={"textCharacters": MAX_TEXT},
    models=(MODEL_ID,),
    refusal=_refusal,
)
