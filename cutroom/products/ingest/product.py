"""Declares the ingest product."""

from cutroom.jobs.ids import JobType
from cutroom.media.probe import MAX_DURATION_SECONDS
from cutroom.products.declaration import JobSpec, Ownership, Product, StorageKind
from cutroom.products.dubs.product import PRODUCT as DUBS
from cutroom.products.ingest import export, recipes, routes, service, worker
from cutroom.products.ingest.activities import MAX_SOURCE_BYTES
from cutroom.products.ingest.workflow import ImportWorkflow, PreflightWorkflow
from cutroom.products.packaging.product import PRODUCT as PACKAGING
from cutroom.products.shorts.product import PRODUCT as SHORTS
from cutroom.products.thumbnails.product import PRODUCT as THUMBNAILS

PRODUCT = Product(
    name="ingest",
    worker=worker.register,
    jobs=(JobSpec(JobType.IMPORT, workflow=ImportWorkflow, before_retry=service.reactivate_source),),
    workflows=(PreflightWorkflow,),
    routers=(routes.router,),
    to_bundle=recipes.credit_bundle,
    owns=Ownership(
        tables=("sources",),
        objects={
            "source": StorageKind.ORIGINAL,
            "poster.jpg": StorageKind.DOCUMENT,
            "chunks/": StorageKind.INTERMEDIATE,
            # Extracted again by DerivedMedia.
            "speech.flac": StorageKind.INTERMEDIATE,
            "mix.mka": StorageKind.INTERMEDIATE,
            # Of imports before version 0.2; read by nothing.
            "proxy.aac": StorageKind.INTERMEDIATE,
            "proxy.mp4": StorageKind.INTERMEDIATE,
        },
    ),
    export=export.export_files,
    limits={"sourceBytes": MAX_SOURCE_BYTES, "durationSeconds": MAX_DURATION_SECONDS},
    depends_on=(DUBS, PACKAGING, SHORTS, THUMBNAILS),
)
