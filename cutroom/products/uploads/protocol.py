"""Google's resumable protocol behind the URLs that we sign: start, send, ask, cancel.

What a client needs is the URL and nothing else; the URL, not a key, is the credential.

- Plain HTTP: POST the `url` of `POST /v1/videos/{videoId}/uploads` with `x-goog-resumable: start`, then PUT the bytes
  to the answer's `Location`, whole or in chunks.
- `google-resumable-media`: `ResumableUpload(url, chunk_size, headers={"x-goog-resumable": "start"})`; it takes the
  URL for a signed one because of the parameter's name.
- `google-cloud-storage`: a `Client` with `api_endpoint` set to this host and, as its access token, the note in the
  URL (the value of `X-Goog-Signature`); then `client.bucket("cutroom").blob(storagePath).upload_from_filename(...)`.
  Its small files come with their description in one POST, the others in sessions.
"""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import asyncpg
import httpx
from obstore.exceptions import BaseError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive

from cutroom.platform.storage.gcs import GcsError
from cutroom.platform.storage.multipart import StoreError
from cutroom.products.uploads.grants import PARAMETER, SESSION_PARAMETER, Grant, read_grant
from cutroom.products.uploads.multipart_related import read_body, read_description, replay, split_related
from cutroom.products.uploads.receiver import Receiver
from cutroom.products.uploads.rules import (
    Chunk,
    Session,
    UploadError,
    invalid,
    read_chunk,
    read_hashes,
    read_total,
    session_gone,
    try_again,
)
from cutroom.products.uploads.schemas import BUCKET, error_body, hash_header, object_resource
from cutroom.products.uploads.service import Gateway, abort, begin, find, finish
from cutroom.products.uploads.targets import GatewayTarget, GcsTarget, UploadTarget

RETRY_SECONDS = "1"
_METHODS = ("DELETE", "GET", "OPTIONS", "PATCH", "POST", "PUT")  # what is not served is refused in the same shape
# A browser may send a file from any page that was given the URL: there are no cookies that could be misused.
_CORS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "Location, Range, Retry-After, X-Goog-Hash, X-Request-Id",
}
_PREFLIGHT = {
    "Access-Control-Allow-Methods": "POST, PUT, DELETE",
    "Access-Control-Allow-Headers": "*",
    "Access-Control-Max-Age": "3600",
}
# A part of the house does not answer; at the caller's next try it may.
_AWAY = (
    asyncpg.InterfaceError,
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


def guarded(handler: Handler) -> Handler:
    """Whatever happens is answered in Google's shape, with what a browser needs to see it."""

    async def answer(request: Request) -> Response:
        try:
            response = await handler(request)
        except UploadError as error:
            response = _refusal(error)
        except _AWAY:
            _log.warning("an upload met a part that is away", exc_info=True)
            response = _refusal(try_again("A part of the service is away for a moment."))
        except Exception:  # noqa: BLE001 (whatever it was, the caller gets Google's shape)
            _log.exception("unexpected error in an upload")
            response = _refusal(UploadError(500, "internalError", "An unexpected error occurred."))
        response.headers.update(_CORS)
        return response

    return answer


def _refusal(error: UploadError) -> Response:
    headers = {"Retry-After": RETRY_SECONDS} if error.status == 503 else None
    return JSONResponse(error_body(error), status_code=error.status, headers=headers)


@guarded
async def upload(request: Request) -> Response:
    """The signed URL and the session's URL differ in their query only."""
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
            raise UploadError(405, "methodNotAllowed", "Start by POST, send by PUT, cancel by DELETE.")


async def _start(request: Request) -> Response:
    if request.headers.get("x-goog-resumable") != "start":
        raise invalid("Begin with the header x-goog-resumable: start.")
    grant = _grant(request, request.query_params.get(PARAMETER, ""))
    if grant.video_id != request.path_params["video_id"]:
        raise UploadError(403, "SignatureDoesNotMatch", "The URL was changed.")
    return Response(status_code=201, headers={"Location": await _open(request, grant)})


@guarded
async def upload_object(request: Request) -> Response:
    """The form that google-cloud-storage uses; the signed note comes as its access token."""
    if request.method != "POST":
        raise UploadError(405, "methodNotAllowed", "Objects are uploaded by POST.")
    kind = request.query_params.get("uploadType")
    if kind not in {"resumable", "multipart"}:
        raise invalid("The upload type is resumable, or multipart for a small file.")
    scheme, _, note = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        raise UploadError(401, "required", "Give the signed note of the upload as the access token.")
    grant, body = _grant(request, note.strip()), await read_body(request.receive)
    if kind == "resumable":
        _check_name(request, grant, read_description(body))
        return Response(status_code=200, headers={"Location": await _open(request, grant)})
    description, data = split_related(request.headers.get("content-type", ""), body)
    _check_name(request, grant, description)
    return await _put_small(_gateway(request), grant, description, data)


def _check_name(request: Request, grant: Grant, description: dict[str, Any]) -> None:
    name = request.query_params.get("name") or description.get("name")
    if (request.path_params["bucket"], name) != (BUCKET, grant.storage_path):
        raise UploadError(403, "forbidden", f"This note is for {grant.storage_path} in {BUCKET}.")


async def _put_small(gateway: Gateway, grant: Grant, description: dict[str, Any], data: bytes) -> Response:
    chunk = Chunk(0, len(data), total=len(data), is_whole=True)
    if not data:
        raise invalid("An empty file cannot be uploaded.")
    given = {"crc32c": description.get("crc32c"), "md5": description.get("md5Hash")}
    hashes = {name: value for name, value in given.items() if isinstance(value, str)}
    token = await begin(gateway, grant, total_bytes=len(data))
    session = await find(gateway, grant.video_id, token)
    return await _take(gateway, session, chunk, receive=replay(data), hashes=hashes)


async def _put(request: Request) -> Response:
    gateway = _gateway(request)
    session = await find(gateway, request.path_params["video_id"], request.query_params.get(SESSION_PARAMETER, ""))
    if session.is_complete:
        return _done(session)
    headers = request.headers
    chunk = read_chunk(headers.get("content-range"), headers.get("content-length"))
    hashes = read_hashes(headers.getlist("x-goog-hash"))
    if gateway.multipart.room.locked():
        raise try_again("Too many uploads at once.")
    async with gateway.multipart.room:
        return await _take(gateway, session, chunk, receive=request.receive, hashes=hashes)


async def _take(
    gateway: Gateway, session: Session, chunk: Chunk, *, receive: Receive, hashes: dict[str, str]
) -> Response:
    receiver = Receiver(gateway, session, chunk)
    ended = await receiver.take(receive)
    if receiver.is_whole:
        received = replace(session, crc32c=receiver.crc32c)
        return _done(await finish(gateway, received, hashes=hashes))
    if not ended:
        raise UploadError(408, "requestTimeout", "The body broke off; what came is kept.")
    return Response(
        status_code=308, headers={"Range": f"bytes=0-{receiver.received - 1}"} if receiver.received else None
    )


def _done(session: Session) -> Response:
    return JSONResponse(object_resource(session), headers={"X-Goog-Hash": hash_header(session)})


async def _cancel(request: Request) -> Response:
    gateway = _gateway(request)
    session = await find(gateway, request.path_params["video_id"], request.query_params.get(SESSION_PARAMETER, ""))
    if not await abort(gateway, session):
        raise session_gone()
    return Response(status_code=499)  # so Google says it


async def _open(request: Request, grant: Grant) -> str:
    total_bytes = read_total(request.headers.get("x-upload-content-length"))
    return await _target(request).open(grant, total_bytes=total_bytes, origin=request.headers.get("origin"))


def _grant(request: Request, note: str) -> Grant:
    runtime = request.app.state.runtime
    return read_grant(runtime.secret_box, note, now=runtime.clock())


def _target(request: Request) -> UploadTarget:
    runtime = request.app.state.runtime
    if runtime.gcs is not None:
        return GcsTarget(runtime.database, runtime.gcs)
    return GatewayTarget(_gateway(request), runtime.settings.base_url)


def _gateway(request: Request) -> Gateway:
    runtime = request.app.state.runtime
    return Gateway(
        database=runtime.database,
        multipart=runtime.multipart,
        storage=runtime.storage,
        secret_box=runtime.secret_box,
        clock=runtime.clock,
    )


ROUTES = (
    Route("/uploads/{video_id}", upload, methods=_METHODS, include_in_schema=False),
    Route("/upload/storage/v1/b/{bucket}/o", upload_object, methods=_METHODS, include_in_schema=False),
)
