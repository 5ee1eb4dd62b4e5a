"""Declares the uploads product."""

from datetime import timedelta

from cutroom.jobs.ids import JobType
from cutroom.platform.temporal import RecurringWorkflow
from cutroom.products.declaration import Ownership, Product, StorageKind
from cutroom.products.ingest.product import PRODUCT as INGEST
from cutroom.products.uploads import cancellation, routes, worker
from cutroom.products.uploads.rules import MAX_UPLOAD_BYTES, SESSION_LIFETIME
from cutroom.products.uploads.workflow import SweepUploadsWorkflow

PRODUCT = Product(
    name="uploads",
    worker=worker.register,
    workflows=(SweepUploadsWorkflow,),
    recurring=(RecurringWorkflow(workflow="sweep-uploads", every=timedelta(minutes=1)),),
    routers=(routes.router,),
    owns=Ownership(tables=("upload_sessions", "upload_parts"), objects={"uploads/": StorageKind.INTERMEDIATE}),
    limits={"fileBytes": MAX_UPLOAD_BYTES, "sessionSeconds": SESSION_LIFETIME.total_seconds()},
    depends_on=(INGEST,),
    before_cancel={JobType.IMPORT: cancellation.end_session},
    before_purge=worker.before_purge,
)
