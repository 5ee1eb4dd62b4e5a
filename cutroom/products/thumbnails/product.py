"""Declares the thumbnails product."""

from cutroom.credits.pricing import Action
from cutroom.engines.thumbnails.port import Pipeline
from cutroom.jobs.ids import JobType
from cutroom.products.declaration import ConsolePanel, JobSpec, Ownership, Product, StorageKind, VideoTab
from cutroom.products.thumbnails import export, routes, service, staleness, worker
from cutroom.products.thumbnails.rules import MAX_CHARACTERS, MAX_IMAGE_URLS, MAX_REFERENCE_IDS, MAX_TEXT
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
            check=service.check_start,
            discard=service.discard,
            output_prefix=service.output_prefix,
        ),
    ),
    routers=(routes.router,),
    to_bundle=service.credit_bundle,
    check_bundle=service.check_bundle,
    owns=Ownership(
        tables=("thumbnail_requests", "thumbnails"),
        # Posters, and the frames and detections that a later review chooses from.
        objects={"thumbnails/": StorageKind.DOCUMENT},
    ),
    find_stale=staleness.find_stale,
    export=export.export_files,
    limits={
        "characters": MAX_CHARACTERS,
        "referenceImages": MAX_REFERENCE_IDS,
        "imageUrls": MAX_IMAGE_URLS,
        "promptCharacters": MAX_TEXT,
    },
    models=tuple(Pipeline),
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
