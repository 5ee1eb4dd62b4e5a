"""Declares the dubs product."""

from cutroom.credits.pricing import Action
from cutroom.jobs.ids import InternalJobType, JobType
from cutroom.products.captions.product import PRODUCT as CAPTIONS
from cutroom.products.declaration import ConsolePanel, JobSpec, Ownership, Product, StorageKind, VideoTab
from cutroom.products.dubs import export, routes, service, worker
from cutroom.products.dubs.editing import routes as editing_routes
from cutroom.products.dubs.editing import stale_dubs
from cutroom.products.dubs.editing.rewording import routes as rewording_routes
from cutroom.products.dubs.editing.takes import routes as takes_routes
from cutroom.products.dubs.editing.takes.workflow import TakesWorkflow
from cutroom.products.dubs.workflow import DubWorkflow, RedubWorkflow
from cutroom.products.speech.product import PRODUCT as SPEECH
from cutroom.products.transcripts.product import PRODUCT as TRANSCRIPTS
from cutroom.web.products import CallerContext


def _refusal(context: CallerContext) -> str | None:
    return None if context.dub_languages else "no_languages"


PRODUCT = Product(
    name="dubs",
    worker=worker.register,
    jobs=(
        JobSpec(
            JobType.DUB,
            workflow=DubWorkflow,
            prices=frozenset({Action.DUB}),
            check=service.check_start,
            discard=service.discard,
        ),
        JobSpec(InternalJobType.REDUB, workflow=RedubWorkflow, prices=frozenset({Action.DUB})),
        JobSpec(InternalJobType.TAKES, workflow=TakesWorkflow),
    ),
    routers=(routes.router, editing_routes.router, rewording_routes.router, takes_routes.router),
    to_bundle=service.credit_bundle,
    check_bundle=service.check_bundle,
    refusal=_refusal,
    delete_outputs=service.delete_outputs,
    owns=Ownership(
        tables=("dubs",),
        objects={
            # Synthesized lines and separated tracks are outputs: an edit of one line leaves the others unchanged.
            "dubs/": StorageKind.OUTPUT,
            "dubs/shared/mixed/": StorageKind.INTERMEDIATE,  # mixed again from them
            "dubs/shared/takes/": StorageKind.INTERMEDIATE,  # a chosen take is stored with the lines
        },
    ),
    find_stale=stale_dubs.find_stale,
    export=export.export_files,
    depends_on=(CAPTIONS, SPEECH, TRANSCRIPTS),
    panels=(
        ConsolePanel(
            "Dub", tab=VideoTab.DUBS, template="products/dubs.html", order={"kind": "dub"}, unit="per language"
        ),
    ),
)
