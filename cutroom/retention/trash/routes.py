"""Routes that delete and restore videos."""

from typing import Annotated

from fastapi import APIRouter, Query

from cutroom.accounts.scopes import Scope
from cutroom.errors import Code
from cutroom.library.playback import PlaybackLinks
from cutroom.library.routes import VideoId
from cutroom.library.schemas import Video
from cutroom.library.service import get_revised_video
from cutroom.retention.trash import service
from cutroom.retention.trash.schemas import TrashPage
from cutroom.web.middleware import CurrentCall, OperationRoute
from cutroom.web.operation import Access, operation
from cutroom.web.paging import DEFAULT_PAGE, MAX_PAGE
from cutroom.web.revisions import IfMatch

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Library"])

_LISTING = "trash"


@router.delete("/videos/{videoId}", status_code=204, summary="Delete a video")
@operation(scope=Scope.VIDEOS_WRITE, access=Access.WRITE, errors=(Code.INVALID_ARGUMENT,), has_revisions=True)
async def delete_video(
    call: CurrentCall,
    video_id: VideoId,
    permanently: Annotated[  # noqa: FBT002 (a query parameter)
        bool, Query(description="Remove the video for good instead of moving it to the trash.")
    ] = False,
    if_match: IfMatch = None,
) -> None:
    """Moves a video to the trash, from which it can be restored for 30 days; then it is removed for good.

    It leaves all lists, its signed URLs stop within a minute, and its unfinished jobs are canceled and refunded. Use
    `permanently` to remove a video for good, in the trash or not.
    """
    await service.delete_video(
        call.connection,
        call.principal.library_id,
        video_id,
        permanently=permanently,
        if_match=if_match,
        hooks=call.runtime.job_hooks,
        now=call.now,
    )
    call.record_change(after={"permanently": permanently})


@router.post("/videos/{videoId}/restore", summary="Restore a video")
@operation(scope=Scope.VIDEOS_WRITE, access=Access.WRITE, errors=(Code.NOT_FOUND,))
async def restore_video(call: CurrentCall, video_id: VideoId) -> Video:
    """Takes a video out of the trash, with everything made from it. Canceled jobs stay canceled and can be retried."""
    await service.restore_video(call.connection, call.principal.library_id, video_id)
    found = await get_revised_video(
        call.connection,
        call.principal,
        video_id,
        storage=call.runtime.storage,
        links=PlaybackLinks(call.runtime.secret_box, call.runtime.settings.base_url),
        now=call.now,
    )
    return call.with_etag(found)


@router.get("/trash", summary="List the trash")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ, errors=(Code.INVALID_ARGUMENT,))
async def list_trash(
    call: CurrentCall,
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE, description="Maximum number of videos to return.")] = DEFAULT_PAGE,
    page_token: Annotated[
        str | None, Query(alias="pageToken", description="The `nextPageToken` of the previous page.")
    ] = None,
) -> TrashPage:
    """Returns the videos in the trash, newest video first, with the time at which each is removed for good."""
    tokens, library_id = call.runtime.page_tokens, call.principal.library_id
    before = tokens.read(page_token, listing=_LISTING, library_id=library_id) if page_token is not None else None
    found, more = await service.list_trash(call.connection, call.principal, before=before, limit=limit)
    token = tokens.after(found[-1].id, listing=_LISTING, library_id=library_id) if more else None
    return TrashPage(videos=found, next_page_token=token)
