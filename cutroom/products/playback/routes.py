"""Serves playback files with signed paths.

At scale a CDN takes this role: it verifies the same signature and reads from the object store itself.
"""

import re
from collections.abc import Mapping

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from cutroom.errors import Code, CutroomError, not_found
from cutroom.library.playback import PREFIX, PlaybackLinks
from cutroom.products.playback.service import playback_path
from cutroom.web.error_responses import error_response
from cutroom.web.runtime import Runtime

_TYPES: Mapping[str, str] = {
    "m3u8": "application/vnd.apple.mpegurl",
    "mpd": "application/dash+xml",
    "m4s": "video/iso.segment",
    "mp4": "video/mp4",
    "vtt": "text/vtt; charset=utf-8",
}
# At most two directories, and generated names only: no path traversal.
_NAME = re.compile(r"(?:[a-z]/[A-Za-z0-9-]{1,64}/)?[A-Za-z0-9][A-Za-z0-9.-]{0,63}\.(m3u8|mpd|m4s|mp4|vtt)")
_RANGE = re.compile(r"bytes=(\d{1,15})-(\d{0,15})")
# Any origin may play a URL it was given: there are no cookies to misuse.
_CORS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "GET, HEAD",
    "Access-Control-Allow-Headers": "Range",
    "Access-Control-Expose-Headers": "Content-Length, Content-Range, X-Request-Id",
    "Access-Control-Max-Age": "3600",
}
# Manifests change when languages are added; segments are immutable.
_MANIFEST_MAX_AGE, _SEGMENT_MAX_AGE = 10, 6 * 60 * 60


async def media(request: Request) -> Response:
    """Returns errors in the API's error format, with CORS headers."""
    try:
        response = await _serve(request)
    except Exception as error:  # noqa: BLE001 (as in the middleware)
        response = error_response(error)
    response.headers.update(_CORS)
    return response


async def _serve(request: Request) -> Response:
    if request.method == "OPTIONS":
        return Response(status_code=204)
    if request.method not in {"GET", "HEAD"}:
        raise CutroomError(Code.METHOD_NOT_ALLOWED, headers={"Allow": "GET, HEAD, OPTIONS"})
    runtime: Runtime = request.app.state.runtime
    token, library_id, video_id, name = (request.path_params[each] for each in ("token", "library", "video", "name"))
    links = PlaybackLinks(runtime.secret_box, runtime.settings.base_url)
    if not links.is_valid(token, library_id, video_id, now=runtime.clock()):
        raise CutroomError(Code.PERMISSION_DENIED, message="This playback URL is invalid or has expired.")
    match = _NAME.fullmatch(name)
    if match is None:
        raise not_found()
    return await _read(request, runtime, playback_path(library_id, video_id, name), extension=match[1])


async def _read(request: Request, runtime: Runtime, path: str, *, extension: str) -> Response:
    size = await runtime.storage.size(path)
    if size is None:
        raise not_found()
    is_manifest = extension in {"m3u8", "mpd"}
    headers = {
        "Accept-Ranges": "bytes",
        "Cache-Control": f"private, max-age={_MANIFEST_MAX_AGE if is_manifest else _SEGMENT_MAX_AGE}",
    }
    status, span = _span(request.headers.get("range"), size)
    if status == 416:
        return Response(status_code=416, headers={"Content-Range": f"bytes */{size}"})
    start, end = span
    headers["Content-Length"] = str(end - start)
    if status == 206:
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    if request.method == "HEAD":
        return Response(status_code=status, headers=headers, media_type=_TYPES[extension])
    chunks = runtime.storage.read(path, span=span if status == 206 else None)
    return StreamingResponse(chunks, status_code=status, headers=headers, media_type=_TYPES[extension])


def _span(header: str | None, size: int) -> tuple[int, tuple[int, int]]:
    """Parses a single byte range; anything else returns the whole file, as HTTP requires."""
    match = _RANGE.fullmatch(header or "")
    if match is None:
        return 200, (0, size)
    start, end = int(match[1]), min(int(match[2]) + 1 if match[2] else size, size)
    return (206, (start, end)) if start < end else (416, (0, 0))


router = APIRouter()
router.routes.append(
    Route(
        PREFIX + "/{token}/{library}/{video}/{name:path}",
        media,
        methods=["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"],
    )
)
