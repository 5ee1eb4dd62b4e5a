"""The HTTP route of stale products."""

from typing import Annotated

from fastapi import APIRouter, Path

from cutroom.accounts.scopes import Scope
from cutroom.credits.pricing import load_prices
from cutroom.staleness.schemas import StaleProductList
from cutroom.staleness.service import list_stale_products
from cutroom.web.middleware import CurrentCall, OperationRoute
from cutroom.web.operation import Access, operation

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Library"])

VideoId = Annotated[str, Path(alias="videoId", min_length=1, description="The video's id.")]


@router.get("/videos/{videoId}/stale-products", summary="List stale products")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ)
async def get_stale_products(call: CurrentCall, video_id: VideoId) -> StaleProductList:
    """Returns what was made of the video before its transcript was edited and would be different now, why, and what
    it costs to make it again.

    Captions and dubs are listed with their own reasons, which their segments have in detail.
    """
    return await list_stale_products(
        call.connection,
        call.principal,
        call.runtime.storage,
        video_id,
        prices=load_prices(call.runtime.settings.prices_file),
        now=call.now,
    )
