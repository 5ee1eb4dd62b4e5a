"""Comments beside the studio: a panel, and a list in it that reloads by itself."""

from typing import Any

from starlette.responses import Response

from cutroom.console.framework.forms import Form
from cutroom.console.framework.page_context import PageContext, error_text, page, parse, redirect
from cutroom.console.pages.reviews.guest_entry import studio_of
from cutroom.errors import CutroomError, invalid_field
from cutroom.reviews import routes, service
from cutroom.reviews.rules import MAX_TEXT, GuestRole
from cutroom.reviews.schemas import NewReviewComment, ReviewCommentPatch
from cutroom.reviews.service import CommentAuthor

MAX_SHOWN = 300
LIST_TARGET = "comment-list"


async def show_comments(context: PageContext) -> Response:
    """The panel, or only its list, which reloads every few seconds."""
    is_list = context.request.headers.get("hx-target") == LIST_TARGET
    return await _render(context, "reviews/comment_list.html" if is_list else _panel_template(context))


async def add_comment(context: PageContext) -> Response:
    video_id, form = context.request.path_params["video_id"], context.form
    try:
        new = _parse_comment(form)
        async with context.call.connection.transaction():
            await _create(context, video_id, new)
    except CutroomError as error:
        return await _render(
            context, _panel_template(context), status=error.status, error=error_text(error), typed=form.text("text")
        )
    return await _saved(context)


def _parse_comment(form: Form) -> NewReviewComment:
    document: dict[str, Any] = {"time": _seconds(form.text("time")), "text": form.text("text").replace("\r\n", "\n")}
    for name, field in (("language", "language"), ("segmentId", "segment")):
        if value := form.text(field):
            document[name] = value
    return parse(NewReviewComment, document)


async def _create(context: PageContext, video_id: str, new: NewReviewComment) -> None:
    if context.guest is None:
        await context.call_operation(routes.create_review_comment, video_id, new)
        return
    call = context.call
    created = await service.create_comment(call.connection, _author(context), video_id, new, now=call.now)
    context.record("createReviewComment", targets={"videoId": video_id, "id": created.id}, after={"time": created.time})


async def resolve_comment(context: PageContext) -> Response:
    """Marks a comment as resolved, or as open again."""
    video_id, comment_id = _ids(context)
    patch = parse(ReviewCommentPatch, {"resolved": context.form.text("resolved") == "true"})
    if context.guest is None:
        await context.call_operation(routes.update_review_comment, video_id, comment_id, patch)
    else:
        call = context.call
        await service.update_comment(call.connection, _author(context), video_id, comment_id, patch, now=call.now)
        context.record(
            "updateReviewComment",
            targets={"videoId": video_id, "commentId": comment_id},
            after={"resolved": patch.resolved},
        )
    return await _saved(context)


async def delete_comment(context: PageContext) -> Response:
    video_id, comment_id = _ids(context)
    if context.guest is None:
        await context.call_operation(routes.delete_review_comment, video_id, comment_id)
    else:
        await service.delete_comment(context.call.connection, _author(context), video_id, comment_id)
        context.record("deleteReviewComment", targets={"videoId": video_id, "commentId": comment_id})
    return await _saved(context)


def _ids(context: PageContext) -> tuple[str, str]:
    return context.request.path_params["video_id"], context.request.path_params["comment_id"]


def _author(context: PageContext) -> CommentAuthor:
    return CommentAuthor(context.principal, context.guest)


def _seconds(text: str) -> float:
    """`83.4`, or `1:23.4` as players show it."""
    try:
        parts = [float(each) for each in text.split(":")]
    except ValueError as error:
        raise invalid_field("time", "Enter a time such as 1:23.") from error
    seconds = 0.0
    for each in parts:
        seconds = seconds * 60 + each
    return seconds


async def _saved(context: PageContext) -> Response:
    """The panel again, or the studio without scripts."""
    if context.is_fragment:
        return await _render(context, "reviews/comments.html")
    return redirect(f"{studio_of(context.request.path_params['video_id'])}/comments")


def _panel_template(context: PageContext) -> str:
    return "reviews/comments.html" if context.is_fragment else "reviews/comments_page.html"


async def _render(
    context: PageContext, template: str, *, status: int = 200, error: str | None = None, typed: str = ""
) -> Response:
    video_id, call = context.request.path_params["video_id"], context.call
    shown, total = await service.list_by_time(call.connection, _author(context), video_id, limit=MAX_SHOWN)
    guest, may_write = context.guest, context.principal.may_write
    response = context.page(
        template,
        status=status,
        video_id=video_id,
        comments=shown,
        hidden=total - len(shown),
        may_comment=may_write if guest is None else guest.role.includes(GuestRole.COMMENT),
        may_delete_all=guest is None and may_write,
        max_text=MAX_TEXT,
        error=error,
        typed=typed,
        time=context.form.text("time") if error is not None else "",
    )
    if error is not None:
        response.headers["HX-Reswap"] = "outerHTML"  # by which scripts recognize a form to show again
    return response


_PATH = "/videos/{video_id}/studio/comments"
ROUTES = [
    page(_PATH, show_comments, guests=GuestRole.VIEW),
    page(_PATH, add_comment, method="POST", guests=GuestRole.COMMENT),
    page(f"{_PATH}/{{comment_id}}/resolve", resolve_comment, method="POST", guests=GuestRole.COMMENT),
    page(f"{_PATH}/{{comment_id}}/delete", delete_comment, method="POST", guests=GuestRole.COMMENT),
]
