"""Routes to activate and read professional hosting, and the provider's webhook."""

import json
import logging
from typing import Annotated

from fastapi import APIRouter, Path
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from temporalio.service import RPCError

from cutroom.accounts.scopes import Scope
from cutroom.credits.pricing import load_prices
from cutroom.errors import Code, CutroomError
from cutroom.jobs.ids import InternalJobType, parse_job_id, workflow_id
from cutroom.products.hosting import service
from cutroom.products.hosting.mux import is_configured, is_signed
from cutroom.products.hosting.schemas import Hosting, NewHosting
from cutroom.web.error_responses import ErrorResponse
from cutroom.web.middleware import CurrentCall, OperationRoute
from cutroom.web.operation import Access, operation
from cutroom.web.runtime import Runtime

PATH = "/videos/{videoId}/professional-hosting"
MAX_EVENT_BYTES = 256 * 1024
_log = logging.getLogger(__name__)

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Hosting"])
# Some callers omit the version; both paths share idempotency records.
unversioned_router = APIRouter(route_class=OperationRoute, include_in_schema=False)

VideoId = Annotated[str, Path(alias="videoId", min_length=1, description="The video's id.")]


@unversioned_router.post(PATH, status_code=202)
@router.post(
    PATH,
    status_code=202,
    summary="Activate professional hosting",
    responses={200: {"model": Hosting, "description": "Hosting is already active or in progress."}},
)
@operation(scope=Scope.VIDEOS_WRITE, access=Access.PRODUCE, errors=(Code.FAILED_PRECONDITION,))
async def activate_hosting(
    call: CurrentCall,
    response: Response,
    video_id: VideoId,
    _request: NewHosting | None = None,
) -> Hosting:
    """Sends the source file to the hosting provider. Idempotent while in progress or active."""
    settings = call.runtime.settings
    hosting, started = await service.activate(
        call.connection,
        call.principal,
        video_id,
        is_configured=is_configured(settings),
        prices=load_prices(settings.prices_file),
        now=call.now,
    )
    response.status_code = 202 if started else 200
    return hosting


@unversioned_router.get(PATH)
@router.get(PATH, summary="Get professional hosting")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ)
async def get_hosting(call: CurrentCall, video_id: VideoId) -> Hosting:
    """The hosting status, and the reason if it cannot be activated."""
    configured = is_configured(call.runtime.settings)
    return await service.get_hosting(call.connection, call.principal, video_id, is_configured=configured)


async def receive_event(request: Request) -> Response:
    """Receives a Mux event, which only triggers an earlier poll: duplicates and losses are harmless."""
    runtime: Runtime = request.app.state.runtime
    secret = runtime.settings.mux_webhook_secret
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_EVENT_BYTES:
            return ErrorResponse(CutroomError(Code.INVALID_ARGUMENT))
    header, now = request.headers.get("mux-signature", ""), runtime.clock().timestamp()
    if secret is None or not is_signed(header, body, secret=secret.get_secret_value(), now=now):
        return ErrorResponse(CutroomError(Code.PERMISSION_DENIED))
    job_id, attempt = _job_of_event(body)
    if job_id is not None:
        handle = runtime.temporal.get_workflow_handle(workflow_id(job_id, attempt))
        try:
            await handle.signal("event_received")
        except RPCError as error:  # the workflow has ended, or Temporal is unavailable: polling continues anyway
            _log.info("hosting event not delivered", extra={"job_id": job_id, "error": str(error)})
    return JSONResponse({"ok": True})


def _job_of_event(body: bytes) -> tuple[str | None, int]:
    """The job and attempt that an event refers to, if it is ours."""
    try:
        data = json.loads(body).get("data") or {}
        passthrough = data.get("passthrough") or (data.get("new_asset_settings") or {}).get("passthrough") or ""
        _, job_id, attempt = str(passthrough).split(".")
        key = parse_job_id(job_id)
        return (job_id, int(attempt)) if key is not None and key.type is InternalJobType.HOSTING else (None, 0)
    except (ValueError, AttributeError):
        return None, 0


router.routes.extend(unversioned_router.routes)
router.routes.append(Route("/hosting/mux/events", receive_event, methods=["POST"]))
