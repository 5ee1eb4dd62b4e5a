"""Asking for downloads and reading them."""

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


@router.post("/videos/{videoId}/downloads", status_code=202, summary="Prepare a download")
@operation(
    scope=Scope.DOWNLOADS_WRITE,
    access=Access.PRODUCE,
    errors=(Code.DOWNLOAD_TIER_NONE, Code.PREVIEW_NOT_DOWNLOADABLE, Code.FAILED_PRECONDITION),
)
async def create_download(call: CurrentCall, video_id: VideoId, wanted: NewDownload) -> DownloadAsked:
    """A video in one language, what was sent in, or an archive of all there is. The plan says how much of it.

    A dub that is still being made is waited for, unless its preview is out: that would be taken for the whole.
    """
    prices = load_prices(call.runtime.settings.prices_file)
    return await service.ask_for_download(
        call.connection, call.principal, video_id, wanted=wanted, prices=prices, now=call.now
    )


@router.get("/downloads/{downloadRequestId}", summary="Get a download")
@operation(scope=Scope.DOWNLOADS_WRITE, access=Access.READ)
async def get_download(
    call: CurrentCall,
    request_id: Annotated[str, Path(alias="downloadRequestId", min_length=1, description="The request's id.")],
) -> Download:
    """Ask again until it is `ready` or `failed`; both are answered with 200."""
    return await service.get_download(call.connection, call.principal, request_id, storage=call.runtime.storage)
