"""Declares the packaging product."""

from cutroom.jobs.ids import JobType
from cutroom.products.declaration import ConsolePanel, JobSpec, Product, VideoTab
from cutroom.products.packaging import routes, service, staleness, worker
from cutroom.products.packaging.workflow import PackagingWorkflow, ResumePackagingWorkflow
from cutroom.products.thumbnails import service as thumbnails
from cutroom.products.thumbnails.product import PRODUCT as THUMBNAILS
from cutroom.products.transcripts.product import PRODUCT as TRANSCRIPTS

PRODUCT = Product(
    name="packaging",
    worker=worker.register,
    jobs=(
        JobSpec(
            JobType.PACKAGING,
            workflow=PackagingWorkflow,
            check=thumbnails.check_start,
            discard=thumbnails.discard,
            output_prefix=thumbnails.output_prefix,
        ),
    ),
    workflows=(ResumePackagingWorkflow,),
    routers=(routes.router,),
    to_bundle=service.credit_bundle,
    find_stale=staleness.find_stale,
    depends_on=(THUMBNAILS, TRANSCRIPTS),
    panels=(
        ConsolePanel("Title", tab=VideoTab.PUBLISH, template="products/title.html", order={"kind": "title"}),
        ConsolePanel(
            "Description", tab=VideoTab.PUBLISH, template="products/description.html", order={"kind": "description"}
        ),
    ),
)
