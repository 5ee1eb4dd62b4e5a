"""Cancels and retries jobs from the video page."""

from collections.abc import Iterable

from starlette.responses import Response

from cutroom.console.framework.page_context import PageContext, page, redirect
from cutroom.console.framework.recipes import may_produce
from cutroom.console.framework.states import can_retry
from cutroom.credits.pricing import load_prices, to_credits
from cutroom.jobs import routes
from cutroom.jobs.retries import price_retry
from cutroom.jobs.schemas import Job
from cutroom.library.schemas import Video
from cutroom.products.declaration import VideoTab

MAX_PRICED = 50  # failed jobs of one video that can be tried again from its page


async def load_retry_prices(context: PageContext, video: Video, jobs: Iterable[Job]) -> dict[str, float | None]:
    """The credits that each failed job costs if it is tried again; None if that is not known yet."""
    principal = context.me.principal
    if not may_produce(principal):
        return {}
    prices, found = load_prices(context.runtime.settings.prices_file), {}
    for job in [each for each in jobs if can_retry(each, video)][:MAX_PRICED]:
        price = await price_retry(context.call.connection, principal, job.id, prices=prices)
        found[job.id] = to_credits(price) if price is not None else None
    return found


async def cancel(context: PageContext) -> Response:
    await context.call_operation(routes.cancel_job, context.request.path_params["job_id"])
    return _back(context)


async def retry(context: PageContext) -> Response:
    await context.call_operation(routes.retry_job, context.request.path_params["job_id"])
    return _back(context)


def _back(context: PageContext) -> Response:
    tab = context.form.text("tab")
    shown = tab if tab in set(VideoTab) else VideoTab.ACTIVITY
    return redirect(f"/videos/{context.request.path_params['video_id']}", tab=shown)


ROUTES = [
    page("/videos/{video_id}/jobs/{job_id}/cancel", cancel, method="POST"),
    page("/videos/{video_id}/jobs/{job_id}/retry", retry, method="POST"),
]
