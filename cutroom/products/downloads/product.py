"""Declares the downloads product."""

from cutroom.jobs.ids import JobType
from cutroom.products.declaration import ConsolePanel, JobSpec, Ownership, Product, StorageKind, VideoTab
from cutroom.products.downloads import routes, service, staleness, worker
from cutroom.products.downloads.rules import download_tier
from cutroom.products.downloads.workflow import DownloadWorkflow
from cutroom.products.dubs.product import PRODUCT as DUBS
from cutroom.products.thumbnails.product import PRODUCT as THUMBNAILS
from cutroom.products.transcripts.product import PRODUCT as TRANSCRIPTS
from cutroom.web.products import CallerContext


def _refusal(context: CallerContext) -> str | None:
    tier = download_tier(context.principal.plan.download, suspended=context.principal.suspended)
    return None if tier is not None else "suspended"


PRODUCT = Product(
    name="downloads",
    worker=worker.register,
    jobs=(JobSpec(JobType.DOWNLOAD, workflow=DownloadWorkflow, output_prefix=service.output_prefix),),
    routers=(routes.router,),
    owns=Ownership(objects={"downloads/": StorageKind.INTERMEDIATE}),
    refusal=_refusal,
    find_stale=staleness.find_stale,
    depends_on=(DUBS, THUMBNAILS, TRANSCRIPTS),
    panels=(
        ConsolePanel(
            "Download",
            tab=VideoTab.PUBLISH,
            template="products/download.html",
            order={"kind": "download"},
            needs_transcript=False,
        ),
    ),
)
