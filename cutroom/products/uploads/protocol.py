"""Google's resumable upload protocol: start, send, query and cancel.

The signed URL is the only credential.

- Plain HTTP: POST the `url` of `POST /v1/videos/{videoId}/uploads` with `x-goog-resumable: start`, then PUT the bytes
  to the response's `Location`, whole or in chunks.
- `google-resumable-media`: `ResumableUpload(url, chunk_size, headers={"x-goog-resumable": "start"})`; it
  recognizes a signed URL by the parameter's name.
- `google-cloud-storage`: a `Client` with `api_endpoint` set to this host and, as its access token, the token in
  the URL (the value of `X-Goog-Signature`); then
  `client.bucket("cutroom").blob(storagePath).upload_from_filename(...)`.
  It sends small files with their metadata in one POST, larger ones in sessions.
"""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, closing
from datetime import timedelta
from typing import Any

import asyncpg
import httpx
from obstore.exceptions import BaseError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive

from cutroom.platform import moved
from cutroom.platform.moved import has_moved
from cutroom.platform.slots import SlotLimit, SlotsFullError
from cutroom.platform.storage.gcs import GcsError
from cutroom.platform.storage.multipart import StoreError
from cutroom.products.uploads.assembly import finish_session
from cutroom.products.uploads.grants import PARAMETER, SESSION_PARAMETER, Grant, read_grant
from cutroom.products.uploads.multipart_related import (
    MAX_METADATA_BYTES,
    RelatedFile,
    parse_metadata,
    parse_related,
    replay,
)
from cutroom.products.uploads.receiver import Receiver
from cutroom.products.uploads.request_body import read_body
from cutroom.products.uploads.rules import (
    MAX_RELATED_BYTES,
    Chunk,
    Session,
    UploadError,
    being_finished,
    invalid,
    method_not_allowed,
    parse_chunk,
    parse_hashes,
    parse_total,
    session_gone,
    too_many_uploads,
    try_again,
)
from cutroom.products.uploads.schemas import BUCKET, error_body, hash_header, object_resource
from cutroom.products.uploads.service import Gateway, abort_session, find_session, open_session
from cutroom.products.uploads.spool import Spool
from cutroom.products.uploads.targets import GatewayTarget, GcsTarget, UploadTarget

RETRY_SECONDS = "1"
_METHODS = ("DELETE", "GET", "OPTIONS", "PATCH", "POST", "PUT")  # unsupported methods get an error of the same format
# Any origin may upload with a signed URL; no cookies are involved.
_CORS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "Location, Range, Retry-After, X-Goog-Hash, X-Request-Id",
}
_PREFLIGHT = {
    "Access-Control-Allow-Methods": "POST, PUT, DELETE",
    "Access-Control-Allow-Headers": "*",
    "Access-Control-Max-Age": "3600",
}
# Dependency failures, reported as retryable.
_UNAVAILABLE = (
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    asyncpg.LockNotAvailableError,
    asyncpg.PostgresConnectionError,
    BaseError,
    GcsError,
    httpx.HTTPError,
    OSError,
    StoreError,
)
_log = logging.getLogger(__name__)

Handler = Callable[[Request], Awaitable[Response]]


def google_errors(handler: Handler) -> Handler:
    """Converts every error to Google's error format and adds CORS headers."""

    async def wrapped(request: Request) -> Response:
        try:
            response = await handler(request)
        except UploadError as error:
            response = _error_response(error)
        except _UNAVAILABLE:
            _log.warning("upload dependency unavailable", exc_info=True)
            response = _error_response(try_again("The service is temporarily unavailable."))
        except Exception as error:  # noqa: BLE001 - the response must have Google's format
            if has_moved(error):
                response = _error_response(try_again("The library is moving to another cell."))
                response.headers.update(moved.HEADERS)
            else:
                _log.exception("upload failed unexpectedly")
                response = _error_response(UploadError(500, "internalError", "An unexpected error occurred."))
        response.headers.update(_CORS)
        return response

    return wrapped


def _error_response(error: UploadError) -> Response:
    headers = {"Retry-After": RETRY_SECONDS} if error.status == 503 else {}
    return JSONResponse(error_body(error), status_code=error.status, headers=headers | error.headers)


@google_errors
async def upload(request: Request) -> Response:
    """Handles both the signed start URL and the session URL, which differ only in their query."""
    match request.method:
        case "POST":
            return await _start(request)
        case "PUT":
            return await _put(request)
        case "DELETE":
            return await _cancel(request)
        case "OPTIONS":
            return Response(status_code=204, headers=_PREFLIGHT)
        case _:
            raise method_not_allowed(
                "DELETE, OPTIONS, POST, PUT", "Start with POST, send with PUT, cancel with DELETE."
            )


async def _start(request: Request) -> Response:
    if request.headers.get("x-goog-resumable") != "start":
        raise invalid("Start with the header x-goog-resumable: start.")
    grant = _grant(request, request.query_params.get(PARAMETER, ""))
    if grant.video_id != request.path_params["video_id"]:
        raise UploadError(403, "SignatureDoesNotMatch", "The URL was changed.")
    return Response(status_code=201, headers={"Location": await _open(request, grant)})


@google_errors
async def upload_object(request: Request) -> Response:
    """The endpoint that google-cloud-storage uses; the signed grant is its access token."""
    if request.method != "POST":
        raise method_not_allowed("POST", "Upload objects with POST.")
    kind = request.query_params.get("uploadType")
    if kind not in {"resumable", "multipart"}:
        raise invalid("The upload type must be resumable, or multipart for a small file.")
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        raise UploadError(401, "required", "Send the signed token of the upload as the access token.")
    grant = _grant(request, token.strip())
    async with _slot(request, grant.library_id, grant.account_id):
        with closing(Spool(_gateway(request).spool_dir)) as body:
            return await (_open_object if kind == "resumable" else _put_object)(request, grant, body)


async def _open_object(request: Request, grant: Grant, body: Spool) -> Response:
    idle_seconds = _gateway(request).idle_seconds
    await read_body(request.receive, body, max_bytes=MAX_METADATA_BYTES, idle_seconds=idle_seconds)
    _check_name(request, grant, parse_metadata(b"".join([chunk async for chunk in body.read()])))
    return Response(status_code=200, headers={"Location": await _open(request, grant)})


async def _put_object(request: Request, grant: Grant, body: Spool) -> Response:
    gateway, max_bytes = _gateway(request), MAX_RELATED_BYTES + MAX_METADATA_BYTES
    await read_body(request.receive, body, max_bytes=max_bytes, idle_seconds=gateway.idle_seconds)
    related = await parse_related(request.headers.get("content-type", ""), body)
    _check_name(request, grant, related.metadata)
    return await _put_related(gateway, grant, related, body)


def _check_name(request: Request, grant: Grant, metadata: dict[str, Any]) -> None:
    name = request.query_params.get("name") or metadata.get("name")
    if (request.path_params["bucket"], name) != (BUCKET, grant.storage_path):
        raise UploadError(403, "forbidden", f"This token is for {grant.storage_path} in {BUCKET}.")


async def _put_related(gateway: Gateway, grant: Grant, related: RelatedFile, body: Spool) -> Response:
    size_bytes, metadata = related.end - related.first, related.metadata
    chunk = Chunk(0, size_bytes, total=size_bytes, ends_file=True)
    if not size_bytes:
        raise invalid("An empty file cannot be uploaded.")
    declared = {"crc32c": metadata.get("crc32c"), "md5": metadata.get("md5Hash")}
    hashes = {name: value for name, value in declared.items() if isinstance(value, str)}
    token = await open_session(gateway, grant, total_bytes=size_bytes)
    session = await find_session(gateway, grant.video_id, token)
    return await _receive(gateway, session, chunk, receive=replay(body.read(related.first, related.end)), hashes=hashes)


async def _put(request: Request) -> Response:
    gateway = _gateway(request)
    session = await find_session(
        gateway, request.path_params["video_id"], request.query_params.get(SESSION_PARAMETER, "")
    )
    if session.is_complete:
        return _completed(session)
    headers = request.headers
    chunk = parse_chunk(headers.get("content-range"), headers.get("content-length"))
    hashes = parse_hashes(headers.getlist("x-goog-hash"))
    async with _slot(request, session.library_id, session.account_id):
        return await _receive(gateway, session, chunk, receive=request.receive, hashes=hashes)


@asynccontextmanager
async def _slot(request: Request, library_id: str, account_id: str | None) -> AsyncIterator[None]:
    """Holds a slot of this process, the account and the library while the body runs."""
    runtime = request.app.state.runtime
    settings, slots = runtime.settings, runtime.slots
    limits = {
        "at the moment": SlotLimit("upload:process", settings.upload_slots, per_process=True),
        "of this account": SlotLimit(f"upload:account:{account_id}", settings.upload_slots_per_account),
        "in this library": SlotLimit(f"upload:library:{library_id}", settings.upload_slots_per_library),
    }
    if not account_id:
        del limits["of this account"]
    async with AsyncExitStack() as stack:
        for scope, limit in limits.items():
            try:
                await stack.enter_async_context(slots.hold([limit]))
            except SlotsFullError:
                raise too_many_uploads(scope) from None
        yield


async def _receive(
    gateway: Gateway, session: Session, chunk: Chunk, *, receive: Receive, hashes: dict[str, str]
) -> Response:
    receiver = Receiver(gateway, session, chunk)
    is_body_complete = await receiver.receive(receive)
    if receiver.is_file_complete:
        return _completed(await finish_session(gateway, session, hashes=hashes))
    if not is_body_complete:
        raise UploadError(408, "requestTimeout", "The request body ended early; received bytes are kept.")
    return Response(
        status_code=308, headers={"Range": f"bytes=0-{receiver.received - 1}"} if receiver.received else None
    )


def _completed(session: Session) -> Response:
    return JSONResponse(object_resource(session), headers={"X-Goog-Hash": hash_header(session)})


async def _cancel(request: Request) -> Response:
    gateway = _gateway(request)
    session = await find_session(
        gateway, request.path_params["video_id"], request.query_params.get(SESSION_PARAMETER, "")
    )
    if not await abort_session(gateway, session):
        raise being_finished() if session.is_being_assembled(gateway.clock()) else session_gone()
    return Response(status_code=499)  # as Google does


async def _open(request: Request, grant: Grant) -> str:
    total_bytes = parse_total(request.headers.get("x-upload-content-length"))
    return await _target(request).open(grant, total_bytes=total_bytes, origin=request.headers.get("origin"))


def _grant(request: Request, token: str) -> Grant:
    runtime = request.app.state.runtime
    return read_grant(runtime.secret_box, token, now=runtime.clock())


def _target(request: Request) -> UploadTarget:
    runtime = request.app.state.runtime
    if runtime.gcs is not None:
        return GcsTarget(runtime.database, runtime.gcs, runtime.clock, runtime.authenticator.plans)
    return GatewayTarget(_gateway(request), runtime.settings.base_url)


def _gateway(request: Request) -> Gateway:
    runtime = request.app.state.runtime
    return Gateway(
        database=runtime.database,
        multipart=runtime.multipart,
        storage=runtime.storage,
        secret_box=runtime.secret_box,
        clock=runtime.clock,
        upload_wait=timedelta(seconds=runtime.settings.upload_wait_seconds),
        idle_seconds=runtime.settings.upload_idle_seconds,
        spool_dir=runtime.settings.upload_dir,
        plans=runtime.authenticator.plans,
    )


ROUTES = (
    Route("/uploads/{video_id}", upload, methods=_METHODS, include_in_schema=False),
    Route("/upload/storage/v1/b/{bucket}/o", upload_object, methods=_METHODS, include_in_schema=False),
)
