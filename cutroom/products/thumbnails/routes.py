"""HTTP routes of thumbnails."""

from typing import Annotated

from fastapi import APIRouter, Path, Response

from cutroom.accounts.scopes import Scope
from cutroom.credits.pricing import load_prices
from cutroom.errors import Code
from cutroom.products.thumbnails import deletion, service
from cutroom.products.thumbnails.schemas import (
    DetectionQueued,
    NewThumbnail,
    ThumbnailCreated,
    ThumbnailRequest,
    ThumbnailRequestList,
)
from cutroom.web.middleware import CurrentCall, OperationRoute
from cutroom.web.operation import Access, operation

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Thumbnails"])

VideoId = Annotated[str, Path(alias="videoId", min_length=1, description="The video's id.")]
ThumbnailRequestId = Annotated[str, Path(alias="thumbnailRequestId", min_length=1, description="The request's id.")]
ThumbnailId = Annotated[str, Path(alias="thumbnailId", min_length=1, description="The image's id.")]


@router.post(
    "/videos/{videoId}/thumbnails",
    summary="Create a thumbnail",
    responses={202: {"model": DetectionQueued, "description": "Detection in the video runs first."}},
)
@operation(
    scope=Scope.THUMBNAILS_WRITE,
    access=Access.PRODUCE,
    errors=(Code.CONFLICT, Code.FAILED_PRECONDITION, Code.INSUFFICIENT_CREDITS),
    priced=True,
)
async def create_thumbnail(
    call: CurrentCall, video_id: VideoId, body: NewThumbnail, response: Response
) -> ThumbnailCreated | DetectionQueued:
    """From a prompt, or from the transcript and frames of the video. Three candidates are rendered.

    Detection flags are for zero-prompt thumbnails only; such requests return 202 and a packaging job.
    """
    prices = load_prices(call.runtime.settings.prices_file)
    created = await service.create_thumbnail(
        call.connection, call.principal, video_id, body=body, prices=prices, now=call.now
    )
    if isinstance(created, DetectionQueued):
        response.status_code = 202
    return created


@router.get("/videos/{videoId}/thumbnails", summary="List a video's thumbnails")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ)
async def list_thumbnails(call: CurrentCall, video_id: VideoId) -> ThumbnailRequestList:
    """The 50 most recent requests, newest first."""
    found = await service.list_requests(call.connection, call.principal, video_id, storage=call.runtime.storage)
    return ThumbnailRequestList(thumbnails=found)


@router.get("/thumbnails/{thumbnailRequestId}", summary="Get a thumbnail request")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ)
async def get_thumbnail(call: CurrentCall, request_id: ThumbnailRequestId) -> ThumbnailRequest:
    """Images appear as they are rendered, best first; translations come last."""
    return await service.get_request(call.connection, call.principal, request_id, storage=call.runtime.storage)


@router.delete("/thumbnails/{thumbnailRequestId}", status_code=204, summary="Delete a thumbnail request")
@operation(scope=Scope.THUMBNAILS_WRITE, access=Access.WRITE, errors=(Code.FAILED_PRECONDITION,))
async def delete_thumbnail(call: CurrentCall, request_id: ThumbnailRequestId) -> None:
    """Deletes a request with all of its images; if one is the video's thumbnail, the frame that the import chose
    becomes it again. While images are being made, nothing is deleted (409): cancel their job first.
    """
    count = await deletion.delete_request(call.connection, call.principal, request_id, now=call.now)
    call.record_change(before={"images": count})


@router.delete(
    "/thumbnails/{thumbnailRequestId}/images/{thumbnailId}", status_code=204, summary="Delete a thumbnail image"
)
@operation(scope=Scope.THUMBNAILS_WRITE, access=Access.WRITE, errors=(Code.FAILED_PRECONDITION,))
async def delete_thumbnail_image(call: CurrentCall, request_id: ThumbnailRequestId, thumbnail_id: ThumbnailId) -> None:
    """Deletes one image of a request; if it is the video's thumbnail, the frame that the import chose becomes it
    again. While images of the request are being made, none is deleted (409): cancel their job first.
    """
    number = await deletion.delete_image(call.connection, call.principal, request_id, thumbnail_id=thumbnail_id)
    call.record_change(before={"number": number})
