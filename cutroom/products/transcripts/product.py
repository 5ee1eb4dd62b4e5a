"""Declares the transcripts product."""

from cutroom.credits.pricing import Action
from cutroom.jobs.ids import InternalJobType, JobType
from cutroom.products.declaration import JobSpec, Ownership, Product, StorageKind
from cutroom.products.transcripts import export, routes, service, worker
from cutroom.products.transcripts.cutting import routes as cutting_routes
from cutroom.products.transcripts.editing import routes as editing_routes
from cutroom.products.transcripts.editing.workflow import AlignTranscriptWorkflow
from cutroom.products.transcripts.optimizing import routes as optimizing_routes
from cutroom.products.transcripts.optimizing.workflow import OptimizeWorkflow
from cutroom.products.transcripts.recognition import routes as recognition_routes
from cutroom.products.transcripts.recognition_runs import routes as recognition_run_routes
from cutroom.products.transcripts.recognition_runs.workflow import RecognizeCastWorkflow
from cutroom.products.transcripts.speaker_recognition import routes as speaker_routes
from cutroom.products.transcripts.speaker_recognition.workflow import EmbedSpeakerWorkflow
from cutroom.products.transcripts.workflow import TranscriptWorkflow

PRODUCT = Product(
    name="transcripts",
    worker=worker.register,
    jobs=(
        JobSpec(
            JobType.TRANSCRIPT,
            workflow=TranscriptWorkflow,
            prices=frozenset({Action.TRANSCRIPT}),
            discard=service.discard,
        ),
        JobSpec(InternalJobType.OPTIMIZE, workflow=OptimizeWorkflow),
    ),
    workflows=(AlignTranscriptWorkflow, EmbedSpeakerWorkflow, RecognizeCastWorkflow),
    routers=(
        routes.router,
        editing_routes.router,
        cutting_routes.router,
        recognition_routes.router,
        speaker_routes.router,
        recognition_run_routes.router,
        optimizing_routes.router,
    ),
    check_bundle=service.check_bundle,
    owns=Ownership(
        tables=("transcripts", "transcript_revisions"),
        objects={
            "transcript/": StorageKind.DOCUMENT,  # dubs and shorts read the words
            "transcript/chunks/": StorageKind.INTERMEDIATE,
            "subtitles/": StorageKind.DOCUMENT,
        },
    ),
    export=export.export_files,
)
