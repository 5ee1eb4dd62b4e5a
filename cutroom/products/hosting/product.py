"""Declares the hosting product."""

from cutroom.jobs.ids import InternalJobType
from cutroom.products.declaration import ConsolePanel, JobSpec, Ownership, Product, VideoTab
from cutroom.products.hosting import routes, worker
from cutroom.products.hosting.workflow import HostingWorkflow

PRODUCT = Product(
    name="hosting",
    worker=worker.register,
    jobs=(JobSpec(InternalJobType.HOSTING, workflow=HostingWorkflow),),
    routers=(routes.router,),
    owns=Ownership(tables=("hostings",)),
    panels=(ConsolePanel("Hosting", tab=VideoTab.PUBLISH, template="products/hosting.html", needs_transcript=False),),
)
