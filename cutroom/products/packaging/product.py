"""Declares the packaging product."""

from cutroom.jobs.ids import JobType
from cutroom.products.declaration import ConsolePanel, JobSpec, Product, VideoTab
from cutroom.products.packaging import routes, worker
from cutroom.products.packaging.workflow import PackagingWorkflow, ResumePackagingWorkflow
from cutroom.products.thumbnails.product import PRODUCT as THUMBNAILS
from cutroom.products.transcripts.product import PRODUCT as TRANSCRIPTS

PRODUCT = Product(
    name="packaging",
    worker=worker.register,
    jobs=(JobSpec(JobType.PACKAGING, workflow=PackagingWorkflow),),
    workflows=(ResumePackagingWorkflow,),
    routers=(routes.router,),
    depends_on=(THUMBNAILS, TRANSCRIPTS),
    panels=(
        ConsolePanel("Title", tab=VideoTab.PUBLISH, template="products/title.html", order={"kind": "title"}),
        ConsolePanel(
            "Description", tab=VideoTab.PUBLISH, template="products/description.html", order={"kind": "description"}
        ),
    ),
)
