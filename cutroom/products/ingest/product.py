"""Declares the ingest product."""

from cutroom.jobs.ids import JobType
from cutroom.products.declaration import JobSpec, Ownership, Product
from cutroom.products.ingest import routes, worker
from cutroom.products.ingest.workflow import ImportWorkflow, PreflightWorkflow
from cutroom.products.packaging.product import PRODUCT as PACKAGING
from cutroom.products.thumbnails.product import PRODUCT as THUMBNAILS

PRODUCT = Product(
    name="ingest",
    worker=worker.register,
    jobs=(JobSpec(JobType.IMPORT, workflow=ImportWorkflow),),
    workflows=(PreflightWorkflow,),
    routers=(routes.router,),
    owns=Ownership(tables=("sources",), object_prefixes=("chunks/",)),
    depends_on=(PACKAGING, THUMBNAILS),
)
