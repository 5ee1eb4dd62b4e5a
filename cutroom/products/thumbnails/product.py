"""Declares the thumbnails product."""

from cutroom.credits.pricing import Action
from cutroom.jobs.ids import JobType
from cutroom.products.declaration import ConsolePanel, JobSpec, Ownership, Product, VideoTab
from cutroom.products.thumbnails import routes, service, worker
from cutroom.products.thumbnails.workflow import ThumbnailWorkflow
from cutroom.products.transcripts.product import PRODUCT as TRANSCRIPTS

PRODUCT = Product(
    name="thumbnails",
    worker=worker.register,
    jobs=(
        JobSpec(
            JobType.THUMBNAIL,
            workflow=ThumbnailWorkflow,
            prices=frozenset(
                {
                    Action.PROMPT_THUMBNAIL,
                    Action.ZERO_PROMPT_THUMBNAIL,
                    Action.THUMBNAIL_TRANSLATE,
                    Action.CONTENT_MOMENT_DETECT,
                }
            ),
        ),
    ),
    routers=(routes.router,),
    to_bundle=service.credit_bundle,
    owns=Ownership(tables=("thumbnail_requests", "thumbnails"), object_prefixes=("thumbnails/",)),
    depends_on=(TRANSCRIPTS,),
    panels=(
        ConsolePanel(
            "Thumbnail",
            tab=VideoTab.THUMBNAILS,
            template="products/thumbnail.html",
            order={"kind": "thumbnail"},
            unit="for 3 images",
        ),
    ),
)
