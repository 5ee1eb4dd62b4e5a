"""Declares the hosting product."""

from cutroom.jobs.ids import InternalJobType
from cutroom.products.declaration import ConsolePanel, JobSpec, Ownership, Product, VideoTab
from cutroom.products.hosting import routes, worker
from cutroom.products.hosting.mux import is_configured
from cutroom.products.hosting.purge import delete_hosted_copy
from cutroom.products.hosting.workflow import HostingWorkflow
from cutroom.web.products import CallerContext


def _refusal(context: CallerContext) -> str | None:
    if not context.principal.plan.hosting:
        return "plan_required"
    return None if is_configured(context.settings) else "no_provider"


PRODUCT = Product(
    name="hosting",
    worker=worker.register,
    jobs=(JobSpec(InternalJobType.HOSTING, workflow=HostingWorkflow),),
    routers=(routes.router,),
    owns=Ownership(tables=("hostings",)),
    before_purge=delete_hosted_copy,
    refusal=_refusal,
    panels=(ConsolePanel("Hosting", tab=VideoTab.PUBLISH, template="products/hosting.html", needs_transcript=False),),
)
