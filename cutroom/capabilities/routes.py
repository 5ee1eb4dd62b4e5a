"""Route that describes what can be made."""

from fastapi import APIRouter

from cutroom.accounts.scopes import Scope
from cutroom.capabilities.overview import describe_capabilities
from cutroom.capabilities.schemas import Capabilities
from cutroom.web.middleware import CurrentCall, OperationRoute
from cutroom.web.operation import Access, operation

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Capabilities"])


@router.get("/capabilities", summary="Get capabilities")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ)
async def get_capabilities(call: CurrentCall) -> Capabilities:
    """Returns the languages, language pairs, voices, models, limits and products that the caller can use now.

    Quotes and product requests are validated against the same data: a pair that is listed can be requested. It changes
    as workers start and stop.
    """
    return await describe_capabilities(
        call.connection,
        call.principal,
        products=call.runtime.products,
        settings=call.runtime.settings,
        now=call.now,
    )
