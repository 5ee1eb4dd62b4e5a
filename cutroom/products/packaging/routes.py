"""Packaging over HTTP."""

from typing import Annotated

from fastapi import APIRouter, Path

from cutroom.accounts.scopes import Scope
from cutroom.credits.pricing import load_prices
from cutroom.errors import Code
from cutroom.products.packaging import service
from cutroom.products.packaging.schemas import Decision, NewPackaging, PackagingAsked, PackagingState
from cutroom.web.middleware import CurrentCall, OperationRoute
from cutroom.web.operation import Access, operation

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Packaging"])

VideoId = Annotated[str, Path(alias="videoId", min_length=1, description="The video's id.")]


@router.post("/videos/{videoId}/packaging", status_code=202, summary="Write titles and descriptions, draw a thumbnail")
@operation(
    scope=Scope.PACKAGING_WRITE,
    access=Access.PRODUCE,
    errors=(Code.CONFLICT, Code.FAILED_PRECONDITION, Code.INSUFFICIENT_CREDITS),
)
async def create_packaging(call: CurrentCall, video_id: VideoId, asked: NewPackaging) -> PackagingAsked:
    """Each automation has one run for a video. One that is pending is told of and not begun again.

    One that is done runs again with `overwriteMode` `always`; one that failed or was skipped runs again in any case.
    """
    prices = load_prices(call.runtime.settings.prices_file)
    return await service.ask_for_packaging(
        call.connection, call.principal, video_id, asked=asked, prices=prices, now=call.now
    )


@router.get("/videos/{videoId}/packaging", summary="Get the state of packaging")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ)
async def get_packaging(call: CurrentCall, video_id: VideoId) -> PackagingState:
    """Every run, and the title, description and thumbnail as they are now."""
    return await service.get_packaging(call.connection, call.principal, video_id, storage=call.runtime.storage)


@router.post("/videos/{videoId}/packaging/review", summary="Approve or reject what was detected")
@operation(scope=Scope.PACKAGING_WRITE, access=Access.PRODUCE, errors=(Code.CONFLICT,))
async def review_packaging(call: CurrentCall, video_id: VideoId, decision: Decision) -> PackagingState:
    """For thumbnails whose approval mode is `review`: nothing is drawn until this comes.

    What is rejected ends the run, and its credits go back.
    """
    await service.decide(call.connection, call.principal, video_id, decision=decision, now=call.now)
    return await service.get_packaging(call.connection, call.principal, video_id, storage=call.runtime.storage)
