"""Routes that erase a library, and that serve the certificate of an erasure without a key."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from cutroom.accounts.principals import Role
from cutroom.accounts.scopes import Scope
from cutroom.errors import Code, CutroomError, not_found
from cutroom.retention.erasure import service
from cutroom.retention.erasure.links import PREFIX, CertificateLinks
from cutroom.retention.erasure.log import ErasureLog
from cutroom.retention.erasure.schemas import Erasure
from cutroom.web.error_responses import error_response
from cutroom.web.middleware import CurrentCall, OperationRoute
from cutroom.web.operation import Access, operation
from cutroom.web.runtime import Runtime

Confirm = Annotated[
    str,
    Query(
        min_length=1,
        max_length=64,
        pattern=r"^[^\x00]+$",  # PostgreSQL text cannot store NUL
        description="The id of the library, so that no other library is erased by mistake.",
        examples=["01j9z3k4m5n6p7q8r9s0t1v2w3"],
    ),
]

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Library"])


@router.delete("/library", status_code=202, summary="Erase the library")
@operation(
    scope=Scope.VIDEOS_WRITE,
    access=Access.WRITE,
    errors=(Code.INVALID_ARGUMENT, Code.FAILED_PRECONDITION, Code.CONFLICT),
    minimum_role=Role.OWNER,
)
async def erase_library(call: CurrentCall, confirm: Confirm) -> Erasure:
    """Destroys the library with everything in it, which cannot be undone; for its owners only.

    Keys, tokens and sessions stop working at once, and unfinished jobs are canceled. A personal library takes the
    account with it, unless the account is the only owner of a workspace (409).
    """
    requested = await service.request_erasure(call.connection, call.principal, confirm=confirm, now=call.now)
    links = CertificateLinks(call.runtime.secret_box, call.runtime.settings.base_url)
    return Erasure(
        erasure_id=requested.erasure_id,
        library_id=requested.library_id,
        status="erasing",
        requested_at=call.now,
        certificate_url=links.url(requested.erasure_id),
    )


async def certificate(request: Request) -> Response:
    """The state of an erasure, and its certificate once it has finished."""
    try:
        return await _read_certificate(request)
    except Exception as error:  # noqa: BLE001 (as in the middleware)
        return error_response(error)


async def _read_certificate(request: Request) -> Response:
    if request.method not in {"GET", "HEAD"}:
        raise CutroomError(Code.METHOD_NOT_ALLOWED, headers={"Allow": "GET, HEAD"})
    runtime: Runtime = request.app.state.runtime
    links = CertificateLinks(runtime.secret_box, runtime.settings.base_url)
    erasure_id = links.erasure_id(request.path_params["token"])
    if erasure_id is None:
        raise not_found()
    signed = await ErasureLog.of(runtime.settings).read_certificate(erasure_id)
    state = "erasing" if signed is None else "erased"
    headers = {"Cache-Control": "no-store"}
    return JSONResponse({"erasureId": erasure_id, "status": state, **(signed or {})}, headers=headers)


router.routes.append(
    Route(f"{PREFIX}/{{token}}", certificate, methods=["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"])
)
