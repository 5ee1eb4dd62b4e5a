"""HTTP routes of packaging."""

from typing import Annotated

from fastapi import APIRouter, Path

from cutroom.accounts.scopes import Scope
from cutroom.credits.pricing import load_prices
from cutroom.errors import Code
from cutroom.products.packaging import service
from cutroom.products.packaging.schemas import NewPackaging, PackagingCreated, PackagingState, ReviewDecision
from cutroom.web.middleware import CurrentCall, OperationRoute
from cutroom.web.operation import Access, operation

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Packaging"])

VideoId = Annotated[str, Path(alias="videoId", min_length=1, description="The video's id.")]


@router.post("/videos/{videoId}/packaging", status_code=202, summary="Generate a title, description and thumbnail")
@operation(
    scope=Scope.PACKAGING_WRITE,
    access=Access.PRODUCE,
    errors=(Code.CONFLICT, Code.FAILED_PRECONDITION, Code.INSUFFICIENT_CREDITS),
    free_work=True,
    priced=True,
)
async def create_packaging(call: CurrentCall, video_id: VideoId, body: NewPackaging) -> PackagingCreated:
    """Each automation has one run per video. Pending runs are reported and not started again.

    Finished runs start again with `overwriteMode` `always`; failed and skipped runs always do.
    """
    prices = load_prices(call.runtime.settings.prices_file)
    return await service.create_packaging(
        call.connection, call.principal, video_id, body=body, prices=prices, now=call.now
    )


@router.get("/videos/{videoId}/packaging", summary="Get the packaging state")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ)
async def get_packaging(call: CurrentCall, video_id: VideoId) -> PackagingState:
    """All runs, and the current title, description and thumbnail."""
    return await service.get_packaging(call.connection, call.principal, video_id, storage=call.runtime.storage)


@router.post("/videos/{videoId}/packaging/review", summary="Approve or reject detections")
@operation(scope=Scope.PACKAGING_WRITE, access=Access.PRODUCE, errors=(Code.CONFLICT,))
async def review_packaging(call: CurrentCall, video_id: VideoId, decision: ReviewDecision) -> PackagingState:
    """For thumbnails in approval mode `review`, which are not rendered before this call.

    A rejection ends the run and refunds its credits.
    """
    await service.record_review(call.connection, call.principal, video_id, decision=decision, now=call.now)
    return await service.get_packaging(call.connection, call.principal, video_id, storage=call.runtime.storage)
