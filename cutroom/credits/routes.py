"""Routes for quotes and reservations."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Path

from cutroom.accounts.scopes import Scope
from cutroom.credits import service
from cutroom.credits.pricing import load_prices
from cutroom.credits.schemas import CreditBundle, Quote, Reservation
from cutroom.errors import Code
from cutroom.web.middleware import CurrentCall, OperationRoute, RequestCall
from cutroom.web.operation import Access, operation

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Credits"])

VideoId = Annotated[str, Path(alias="videoId", min_length=1, description="The video's id.")]


@router.post("/videos/{videoId}/quote", summary="Quote a bundle")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ, errors=(Code.DURATION_UNKNOWN, Code.FAILED_PRECONDITION))
async def quote(call: CurrentCall, video_id: VideoId, bundle: CreditBundle) -> Quote:
    """Returns the exact price of a bundle for this video. Nothing is charged; an empty bundle costs nothing.

    A quote is refused for the same reasons as the products it prices, such as a language that cannot be made.
    """
    rated = await _check(call, video_id, bundle)
    prices = load_prices(call.runtime.settings.prices_file)
    return await service.quote(call.connection, call.principal, video_id, rated=rated, prices=prices)


@router.post("/videos/{videoId}/reservations", status_code=201, summary="Reserve a bundle")
@operation(
    scope=Scope.VIDEOS_WRITE,
    access=Access.PRODUCE,
    errors=(Code.DURATION_UNKNOWN, Code.FAILED_PRECONDITION, Code.INSUFFICIENT_CREDITS),
    priced=True,
)
async def reserve(call: CurrentCall, video_id: VideoId, bundle: CreditBundle) -> Reservation:
    """Holds the price of a bundle in escrow for requests made within 24 hours.

    Pass `reservationId`, or a line item for each language, when you request the products. Unused credits return to
    the balance automatically.
    """
    rated = await _check(call, video_id, bundle)
    settings = call.runtime.settings
    return await service.reserve(
        call.connection,
        call.principal,
        video_id,
        rated=rated,
        prices=load_prices(settings.prices_file),
        lifetime=timedelta(seconds=settings.reservation_seconds),
        now=call.now,
    )


async def _check(call: RequestCall, video_id: str, bundle: CreditBundle) -> service.RatedBundle:
    checks = call.runtime.bundle_checks
    return await service.check_bundle(
        call.connection, call.principal, video_id, bundle=bundle, checks=checks, now=call.now
    )
