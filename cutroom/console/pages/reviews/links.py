"""The panel of the video page that shares a video for review."""

from typing import Any

from starlette.responses import Response

from cutroom.console.framework.page_context import PageContext, error_text, page, parse, redirect
from cutroom.errors import CutroomError
from cutroom.reviews import routes
from cutroom.reviews.rules import DEFAULT_DAYS, MAX_DAYS, MAX_LABEL, GuestRole
from cutroom.reviews.schemas import NewReviewLink

ROLE_LABELS = {
    GuestRole.VIEW: "View",
    GuestRole.COMMENT: "View and comment",
    GuestRole.EDIT: "View, comment and edit texts",
}


async def show_links(context: PageContext) -> Response:
    return await _panel(context)


async def create_link(context: PageContext) -> Response:
    """Creates a link and shows its URL, this once."""
    video_id, form = context.request.path_params["video_id"], context.form
    days = form.text("days")
    document: dict[str, Any] = {"role": form.text("role"), "expiresInDays": int(days) if days.isdecimal() else days}
    if label := form.text("label"):
        document["label"] = label
    connection = context.call.connection
    try:
        async with connection.transaction():
            created = await context.call_operation(routes.create_review_link, video_id, parse(NewReviewLink, document))
    except CutroomError as error:
        return await _panel(context, error=error_text(error), status=error.status)
    return await _panel(context, url=created.url)


async def revoke_link(context: PageContext) -> Response:
    video_id, link_id = (context.request.path_params[name] for name in ("video_id", "link_id"))
    await context.call_operation(routes.revoke_review_link, video_id, link_id)
    return await _panel(context) if context.is_fragment else redirect(f"/videos/{video_id}/review-links")


async def _panel(
    context: PageContext, *, url: str | None = None, error: str | None = None, status: int = 200
) -> Response:
    video_id = context.request.path_params["video_id"]
    found = await context.call_operation(routes.list_review_links, video_id)
    template = "reviews/links.html" if context.is_fragment else "reviews/links_page.html"
    response = context.page(
        template,
        status=status,
        video_id=video_id,
        links=found.links,
        roles=ROLE_LABELS,
        may_share=context.principal.may_write,
        url=url,
        default_days=DEFAULT_DAYS,
        max_days=MAX_DAYS,
        max_label=MAX_LABEL,
        error=error,
    )
    if error is not None:
        response.headers["HX-Reswap"] = "outerHTML"  # by which scripts recognize a form to show again
    return response


ROUTES = [
    page("/videos/{video_id}/review-links", show_links),
    page("/videos/{video_id}/review-links", create_link, method="POST"),
    page("/videos/{video_id}/review-links/{link_id}/revoke", revoke_link, method="POST"),
]
