"""Declares the captions product."""

from cutroom.credits.pricing import Action
from cutroom.jobs.ids import JobType
from cutroom.products.captions import export, routes, service, worker
from cutroom.products.captions.editing import routes as editing_routes
from cutroom.products.captions.editing import stale_captions
from cutroom.products.captions.editing.workflow import PublishCaptionsWorkflow
from cutroom.products.captions.importing import routes as importing_routes
from cutroom.products.captions.workflow import CaptionsWorkflow
from cutroom.products.declaration import ConsolePanel, JobSpec, Ownership, Product, VideoTab
from cutroom.products.transcripts.product import PRODUCT as TRANSCRIPTS
from cutroom.web.products import CallerContext


def _refusal(context: CallerContext) -> str | None:
    return None if context.caption_languages else "no_languages"


PRODUCT = Product(
    name="captions",
    worker=worker.register,
    jobs=(
        JobSpec(
            JobType.CAPTIONS,
            workflow=CaptionsWorkflow,
            prices=frozenset({Action.CAPTIONS}),
            check=service.check_start,
            discard=service.discard,
        ),
    ),
    workflows=(PublishCaptionsWorkflow,),
    routers=(routes.router, editing_routes.router, importing_routes.router),
    to_bundle=service.credit_bundle,
    check_bundle=service.check_bundle,
    owns=Ownership(tables=("captions",)),
    find_stale=stale_captions.find_stale,
    export=export.export_files,
    refusal=_refusal,
    depends_on=(TRANSCRIPTS,),
    panels=(
        ConsolePanel(
            "Captions",
            tab=VideoTab.TRANSCRIPT,
            template="products/captions.html",
            order={"kind": "captions"},
            unit="per language",
        ),
    ),
)
