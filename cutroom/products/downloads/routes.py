"""Routes to create and read downloads."""

from typing import Annotated

from fastapi import APIRouter, Path

from cutroom.accounts.scopes import Scope
from cutroom.credits.pricing import load_prices
from cutroom.errors import Code
from cutroom.products.downloads import service
from cutroom.products.downloads.schemas import Download, DownloadAsked, NewDownload
from cutroom.web.middleware import CurrentCall, OperationRoute
from cutroom.web.operation import Access, operation

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Downloads"])

VideoId = Annotated[str, Path(alias="videoId", min_length=1, description="The video's id.")]
DownloadRequestId = Annotated[str, Path(alias="downloadRequestId", min_length=1, description="The request's id.")]


@router.post("/videos/{videoId}/downloads", status_code=202, summary="Prepare a download")
@operation(
    scope=Scope.DOWNLOADS_WRITE,
    access=Access.PRODUCE,
    errors=(Code.DOWNLOAD_TIER_NONE, Code.PREVIEW_NOT_DOWNLOADABLE, Code.FAILED_PRECONDITION),
    while_suspended=True,  # refused with DOWNLOAD_TIER_NONE
    free_work=True,
)
async def create_download(call: CurrentCall, video_id: VideoId, request: NewDownload) -> DownloadAsked:
    """Prepares a language video, the original file, or an archive of all files. The plan determines the tier.

    Waits for a dub in progress, unless its preview is available, which could be mistaken for the finished dub.
    """
    prices = load_prices(call.runtime.settings.prices_file)
    return await service.create_download(
        call.connection, call.principal, video_id, request=request, prices=prices, now=call.now
    )


@router.get("/downloads/{downloadRequestId}", summary="Get a download")
@operation(scope=Scope.DOWNLOADS_WRITE, access=Access.READ)
async def get_download(call: CurrentCall, request_id: DownloadRequestId) -> Download:
    """Poll until `ready` or `failed`; both return 200."""
    return await service.get_download(
        call.connection, call.principal, request_id, storage=call.runtime.storage, now=call.now
    )


@router.delete("/downloads/{downloadRequestId}", status_code=204, summary="Delete a download")
@operation(scope=Scope.DOWNLOADS_WRITE, access=Access.WRITE, errors=(Code.FAILED_PRECONDITION,))
async def delete_download(call: CurrentCall, request_id: DownloadRequestId) -> None:
    """Deletes a prepared file; the original file stays with its video. While the file is being prepared, it is not
    deleted (409): cancel its job first.
    """
    deleted = await service.delete_download(call.connection, call.principal, request_id, now=call.now)
    call.record_change(before=deleted)
