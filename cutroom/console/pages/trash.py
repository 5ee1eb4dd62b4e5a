"""Deletes a video from its page, and shows the trash: restoring videos, and deleting them permanently."""

from starlette.responses import Response

from cutroom.console.framework.editing import is_outdated
from cutroom.console.framework.page_context import PageContext, page, redirect
from cutroom.errors import Code, CutroomError
from cutroom.jobs import routes as jobs
from cutroom.jobs.states import TERMINAL
from cutroom.library.routes import get_video
from cutroom.platform.ids import is_id
from cutroom.retention.trash import routes, service
from cutroom.retention.trash.rules import TRASH_DAYS
from cutroom.retention.trash.schemas import TrashedVideo
from cutroom.web.operation import operation_of

PAGE_SIZE = 50
NOT_IN_TRASH = "This video is no longer in the trash: it was restored or removed for good in the meantime."


async def load_trashed(context: PageContext, video_id: str) -> TrashedVideo | None:
    """A video in the trash of the selected library; None if it is not there."""
    operation_of(routes.list_trash).authorize(context.me.principal)
    return await service.get_trashed_video(context.call.connection, context.me.principal.library_id, video_id)


async def _page(context: PageContext, *, error: str | None = None, status: int = 200) -> Response:
    query = context.request.query_params
    token, restored = query.get("page") or None, query.get("video", "")
    listed = await context.call_operation(routes.list_trash, limit=PAGE_SIZE, page_token=token)
    return context.page(
        "trash.html",
        status=status,
        videos=listed.videos,
        more=listed.next_page_token,
        may_edit=context.me.principal.may_write,
        restored=restored if is_id(restored) else None,
        days=TRASH_DAYS,
        error=error,
    )


async def show_trash(context: PageContext) -> Response:
    return await _page(context)


async def show_deletion(context: PageContext) -> Response:
    """Asks for confirmation: inside the page of the video, or on a page of its own without scripts."""
    return await _ask(context, outdated=False)


async def _ask(context: PageContext, *, outdated: bool) -> Response:
    operation_of(routes.delete_video).authorize(context.me.principal)
    video_id = context.request.path_params["video_id"]
    video, revision = await context.call_revised(get_video, video_id)
    found = (await context.call_operation(jobs.list_video_jobs, video_id)).jobs
    return context.page(
        "video/deletion.html" if context.is_fragment else "video/deletion_page.html",
        status=409 if outdated else 200,
        video=video,
        revision=revision,
        unfinished=sum(job.status not in TERMINAL for job in found),
        days=TRASH_DAYS,
        is_outdated=outdated,
    )


async def delete(context: PageContext) -> Response:
    """Moves the video to the trash as it was shown; one that is there already stays there."""
    video_id, revision = context.request.path_params["video_id"], context.form.text("revision") or None
    try:
        await context.call_operation(routes.delete_video, video_id, if_match=revision)
    except CutroomError as error:
        if is_outdated(error):
            return await _ask(context, outdated=True)
        if error.code is not Code.NOT_FOUND or await load_trashed(context, video_id) is None:
            raise
    return redirect("/library", notice="trashed", video=video_id)


async def restore(context: PageContext) -> Response:
    """Restores a video, from the trash or where it was deleted."""
    video_id = context.request.path_params["video_id"]
    try:
        await context.call_operation(routes.restore_video, video_id)
    except CutroomError as error:
        if error.code is not Code.NOT_FOUND:
            raise
        return await _page(context, error=NOT_IN_TRASH, status=error.status)
    if context.form.has("stay"):
        return redirect("/trash", notice="restored", video=video_id)
    return redirect(f"/videos/{video_id}", notice="restored")


async def show_permanent_deletion(context: PageContext) -> Response:
    operation_of(routes.delete_video).authorize(context.me.principal)
    video = await load_trashed(context, context.request.path_params["video_id"])
    if video is None:
        return await _page(context, error=NOT_IN_TRASH, status=404)
    return context.page("trash_deletion.html", video=video)


async def delete_permanently(context: PageContext) -> Response:
    """Removes a video in the trash for good. The operation would also remove one that was restored meanwhile."""
    operation_of(routes.delete_video).authorize(context.me.principal)
    video_id, call = context.request.path_params["video_id"], context.call
    if not await service.purge_video(call.connection, context.me.principal.library_id, video_id, now=call.now):
        return await _page(context, error=NOT_IN_TRASH, status=404)
    context.record("deleteVideo", targets={"videoId": video_id}, after={"permanently": True})
    return redirect("/trash", notice="removed")


ROUTES = [
    page("/trash", show_trash),
    page("/trash/{video_id}/restore", restore, method="POST"),
    page("/trash/{video_id}/delete", show_permanent_deletion),
    page("/trash/{video_id}/delete", delete_permanently, method="POST"),
    page("/videos/{video_id}/delete", show_deletion),
    page("/videos/{video_id}/delete", delete, method="POST"),
]
