"""The thin way to what is played: it checks the path's signature and hands on what lies in the store.

A CDN takes its place at scale: it checks the same signature, and fetches from the store itself.
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
from cutroom.web.error_responses import problem_of
from cutroom.web.runtime import Runtime

_TYPES: Mapping[str, str] = {
    "m3u8": "application/vnd.apple.mpegurl",
    "mpd": "application/dash+xml",
    "m4s": "video/iso.segment",
    "mp4": "video/mp4",
    "vtt": "text/vtt; charset=utf-8",
}
# Two folders at most, and names of ours alone: nothing in them leads anywhere else.
_NAME = re.compile(r"(?:[a-z]/[A-Za-z0-9-]{1,64}/)?[A-Za-z0-9][A-Za-z0-9.-]{0,63}\.(m3u8|mpd|m4s|mp4|vtt)")
_RANGE = re.compile(r"bytes=(\d{1,15})-(\d{0,15})")
# A page anywhere may play what it was given the URL of: there are no cookies that could be misused.
_CORS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "GET, HEAD",
    "Access-Control-Allow-Headers": "Range",
    "Access-Control-Expose-Headers": "Content-Length, Content-Range, X-Request-Id",
    "Access-Control-Max-Age": "3600",
}
# Lists change when languages are added; segments never do, and their names change when they are made anew.
_LIST_SECONDS, _SEGMENT_SECONDS = 10, 6 * 60 * 60


async def media(request: Request) -> Response:
    """Whatever happens is answered in the one error shape, with what a browser needs to see it."""
    try:
        response = await _answer(request)
    except Exception as error:  # noqa: BLE001 (as in the envelope)
        response = problem_of(error)
    response.headers.update(_CORS)
    return response


async def _answer(request: Request) -> Response:
    if request.method == "OPTIONS":
        return Response(status_code=204)
    if request.method not in {"GET", "HEAD"}:
        raise CutroomError(Code.METHOD_NOT_ALLOWED, headers={"Allow": "GET, HEAD, OPTIONS"})
    runtime: Runtime = request.app.state.runtime
    token, library_id, video_id, name = (request.path_params[each] for each in ("token", "library", "video", "name"))
    links = PlaybackLinks(runtime.secrecy, runtime.settings.base_url)
    if not links.is_good(token, library_id, video_id, now=runtime.clock()):
        raise CutroomError(Code.PERMISSION_DENIED, message="This playback URL is not valid, or not any more.")
    found = _NAME.fullmatch(name)
    if found is None:
        raise not_found()
    return await _read(request, runtime, playback_path(library_id, video_id, name), ending=found[1])


async def _read(request: Request, runtime: Runtime, path: str, *, ending: str) -> Response:
    size = await runtime.storage.size(path)
    if size is None:
        raise not_found()
    is_list = ending in {"m3u8", "mpd"}
    headers = {
        "Accept-Ranges": "bytes",
        "Cache-Control": f"private, max-age={_LIST_SECONDS if is_list else _SEGMENT_SECONDS}",
    }
    status, span = _span(request.headers.get("range"), size)
    if status == 416:
        return Response(status_code=416, headers={"Content-Range": f"bytes */{size}"})
    start, end = span
    headers["Content-Length"] = str(end - start)
    if status == 206:
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    if request.method == "HEAD":
        return Response(status_code=status, headers=headers, media_type=_TYPES[ending])
    chunks = runtime.storage.read(path, span=span if status == 206 else None)
    return StreamingResponse(chunks, status_code=status, headers=headers, media_type=_TYPES[ending])


def _span(asked: str | None, size: int) -> tuple[int, tuple[int, int]]:
    """One range of bytes, as players ask for them; what is no such range is answered whole, as HTTP has it."""
    match = _RANGE.fullmatch(asked or "")
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
