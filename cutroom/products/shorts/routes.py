"""Routes to create and read shorts, promos and clips."""

from typing import Annotated

from fastapi import APIRouter, Path

from cutroom.accounts.scopes import Scope
from cutroom.credits.pricing import load_prices
from cutroom.errors import Code
from cutroom.products.shorts import deletion, service
from cutroom.products.shorts.schemas import NewRequest, ShortsAsked, ShortsRequest, ShortsRequests
from cutroom.web.middleware import CurrentCall, OperationRoute
from cutroom.web.operation import Access, operation

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Shorts"])

VideoId = Annotated[str, Path(alias="videoId", min_length=1, description="The video's id.")]
ShortsRequestId = Annotated[str, Path(alias="shortsRequestId", min_length=1, description="The request's id.")]
OutputId = Annotated[str, Path(alias="outputId", min_length=1, description="The output's id.")]


@router.post("/videos/{videoId}/shorts", status_code=202, summary="Make shorts, a promo or clips")
@operation(
    scope=Scope.SHORTS_WRITE,
    access=Access.PRODUCE,
    errors=(Code.CONFLICT, Code.FAILED_PRECONDITION, Code.INSUFFICIENT_CREDITS),
    priced=True,
)
async def create_shorts(call: CurrentCall, video_id: VideoId, request: NewRequest) -> ShortsAsked:
    """`kind` selects what to make; fields of other kinds are ignored. Outputs that cannot be made are not charged.

    Each call creates a new request with its own id.
    """
    prices = load_prices(call.runtime.settings.prices_file)
    return await service.create_shorts(
        call.connection, call.principal, video_id, request=request, prices=prices, now=call.now
    )


@router.get("/videos/{videoId}/shorts", summary="List a video's requests for shorts")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ)
async def list_shorts(call: CurrentCall, video_id: VideoId) -> ShortsRequests:
    """Every request, newest first."""
    return ShortsRequests(requests=await service.list_requests(call.connection, call.principal, video_id))


@router.get("/shorts/{shortsRequestId}", summary="Get a request for shorts")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ, errors=(Code.UNSUPPORTED_SOURCE,))
async def get_shorts(call: CurrentCall, request_id: ShortsRequestId) -> ShortsRequest:
    """At most five outputs, the best first. Poll until `complete`, `partial_failed` or a 422.

    A failed request returns 422 with the job's error, and the request itself in `details.request`.
    """
    return await service.get_request(call.connection, call.principal, request_id, storage=call.runtime.storage)


@router.delete("/shorts/{shortsRequestId}", status_code=204, summary="Delete a request for shorts")
@operation(scope=Scope.SHORTS_WRITE, access=Access.WRITE, errors=(Code.FAILED_PRECONDITION,))
async def delete_shorts(call: CurrentCall, request_id: ShortsRequestId) -> None:
    """Deletes a request with all of its outputs and their files. While they are being made, nothing is deleted (409):
    cancel their job first.
    """
    count = await deletion.delete_request(call.connection, call.principal, request_id, now=call.now)
    call.record_change(before={"outputs": count})


@router.delete("/shorts/{shortsRequestId}/outputs/{outputId}", status_code=204, summary="Delete a short, promo or clip")
@operation(scope=Scope.SHORTS_WRITE, access=Access.WRITE, errors=(Code.FAILED_PRECONDITION,))
async def delete_shorts_output(call: CurrentCall, request_id: ShortsRequestId, output_id: OutputId) -> None:
    """Deletes one output of a request and its files; the others stay. While outputs of the request are being made,
    none is deleted (409): cancel their job first.
    """
    number = await deletion.delete_single_output(
        call.connection, call.principal, request_id, output_id=output_id, now=call.now
    )
    call.record_change(before={"number": number})
