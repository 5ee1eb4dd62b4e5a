"""Tells the router in front of several cells whether a credential, address or library belongs to this one."""

import hmac

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from cutroom.accounts.locating import locate
from cutroom.accounts.subjects import Subject
from cutroom.errors import Code, CutroomError, invalid_field, not_found
from cutroom.web.body import read_at_most
from cutroom.web.error_responses import error_response
from cutroom.web.runtime import Runtime

PATH = "/internal/locate"
MAX_BYTES = 16 * 1024
_BEARER = "Bearer "


class LocateRequest(BaseModel):
    """What the router asks for; the value of a credential is as secret as on the request that it came with."""

    model_config = ConfigDict(extra="forbid")

    subject: Subject
    value: str = Field(min_length=1, max_length=8192, pattern=r"^[^\x00]+$")


async def locate_library(request: Request) -> Response:
    """Returns the library; 404 if it is not here, and the answer of a moved library while it moves."""
    runtime: Runtime = request.app.state.runtime
    try:
        return await _respond(request, runtime)
    except Exception as error:  # noqa: BLE001 (as in the middleware)
        return error_response(error)


async def _respond(request: Request, runtime: Runtime) -> Response:
    if runtime.settings.cell_token is None:
        raise not_found()
    given = request.headers.get("authorization", "").removeprefix(_BEARER)
    if not hmac.compare_digest(given.encode(), runtime.settings.cell_token.get_secret_value().encode()):
        raise CutroomError(Code.UNAUTHENTICATED, message="The router's token is missing or wrong.")
    try:
        asked = LocateRequest.model_validate_json(await read_at_most(request, MAX_BYTES, name="body"))
    except ValidationError as error:
        raise invalid_field("body", "The body is not a question of the router.") from error
    async with runtime.database.connection() as connection:
        library_id = await locate(
            connection, asked.subject, asked.value, secret_box=runtime.secret_box, now=runtime.clock()
        )
    if library_id is None:
        raise not_found()
    return JSONResponse({"libraryId": library_id})


router = APIRouter()
router.routes.append(Route(PATH, locate_library, methods=["POST"]))
