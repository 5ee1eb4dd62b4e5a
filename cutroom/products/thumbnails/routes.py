"""Thumbnails over HTTP."""

from typing import Annotated

from fastapi import APIRouter, Path, Response

from cutroom.accounts.scopes import Scope
from cutroom.credits.pricing import load_prices
from cutroom.errors import Code
from cutroom.products.thumbnails import service
from cutroom.products.thumbnails.schemas import (
    DetectionQueued,
    NewThumbnail,
    ThumbnailAsked,
    ThumbnailRequest,
    ThumbnailRequests,
)
from cutroom.web.middleware import CurrentCall, OperationRoute
from cutroom.web.operation import Access, operation

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Thumbnails"])

VideoId = Annotated[str, Path(alias="videoId", min_length=1, description="The video's id.")]


@router.post(
    "/videos/{videoId}/thumbnails",
    summary="Make a thumbnail",
    responses={202: {"model": DetectionQueued, "description": "Something has to be found in the film first."}},
)
@operation(
    scope=Scope.THUMBNAILS_WRITE,
    access=Access.PRODUCE,
    errors=(Code.CONFLICT, Code.FAILED_PRECONDITION, Code.INSUFFICIENT_CREDITS),
)
async def create_thumbnail(
    call: CurrentCall, video_id: VideoId, asked: NewThumbnail, response: Response
) -> ThumbnailAsked | DetectionQueued:
    """By a prompt, or without one out of the transcript and the pictures of the film; three candidates are drawn.

    Flags that detect something are for thumbnails without a prompt, and are answered with 202 and a packaging job.
    """
    prices = load_prices(call.runtime.settings.prices_file)
    made = await service.ask_for_thumbnail(
        call.connection, call.principal, video_id, asked=asked, prices=prices, now=call.now
    )
    if isinstance(made, DetectionQueued):
        response.status_code = 202
    return made


@router.get("/videos/{videoId}/thumbnails", summary="List a video's thumbnails")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ)
async def list_thumbnails(call: CurrentCall, video_id: VideoId) -> ThumbnailRequests:
    """The newest 50 requests, newest first."""
    found = await service.list_requests(call.connection, call.principal, video_id, storage=call.runtime.storage)
    return ThumbnailRequests(thumbnails=found)


@router.get("/thumbnails/{thumbnailRequestId}", summary="Get a request for a thumbnail")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ)
async def get_thumbnail(
    call: CurrentCall,
    request_id: Annotated[str, Path(alias="thumbnailRequestId", min_length=1, description="The request's id.")],
) -> ThumbnailRequest:
    """Images appear as they are made: the best first, translations after all."""
    return await service.get_request(call.connection, call.principal, request_id, storage=call.runtime.storage)
