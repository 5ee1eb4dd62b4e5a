"""Streams objects to callers without credentials: byte ranges, CORS, caching and security headers."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from cutroom.errors import Code, CutroomError, not_found
from cutroom.platform.storage.disposition import content_disposition
from cutroom.platform.storage.objects import Storage
from cutroom.web.error_responses import error_response

Serve = Callable[[Request], Awaitable[Response]]
OCTET_STREAM = "application/octet-stream"
# By extension, never by content. Nothing that browsers would run is in the table.
CONTENT_TYPES: Mapping[str, str] = {
    "aac": "audio/aac",
    "flac": "audio/flac",
    "jpg": "image/jpeg",
    "json": "application/json",
    "m3u8": "application/vnd.apple.mpegurl",
    "m4a": "audio/mp4",
    "m4s": "video/iso.segment",
    "mka": "audio/x-matroska",
    "mp3": "audio/mpeg",
    "mp4": "video/mp4",
    "mpd": "application/dash+xml",
    "png": "image/png",
    "srt": "application/x-subrip; charset=utf-8",
    "ttml": "application/ttml+xml; charset=utf-8",
    "txt": "text/plain; charset=utf-8",
    "vtt": "text/vtt; charset=utf-8",
    "wav": "audio/wav",
    "webp": "image/webp",
    "zip": "application/zip",
}
_RANGE = re.compile(r"bytes=(\d{1,15})-(\d{0,15})")
_SUFFIX_RANGE = re.compile(r"bytes=-(\d{1,15})")
_METHODS = ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT")
# Any origin may read a URL it was given: there are no cookies to misuse.
_CORS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "GET, HEAD",
    "Access-Control-Allow-Headers": "Range",
    "Access-Control-Expose-Headers": "Content-Length, Content-Range, X-Request-Id",
    "Access-Control-Max-Age": "3600",
}
# Objects share the console's origin: a browser that opens one as a page must not run anything in it.
_SECURITY = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cross-Origin-Resource-Policy": "cross-origin",  # players and images on other sites
}


@dataclass(frozen=True, slots=True)
class ServedObject:
    """An object and how it is served."""

    path: str
    max_age_seconds: int
    is_live: Callable[[], Awaitable[bool]]  # asked before and during the transfer
    file_name: str | None = None  # under which browsers save it

    @property
    def content_type(self) -> str:
        return CONTENT_TYPES.get(self.path.rpartition(".")[2], OCTET_STREAM)


def object_route(path: str, serve: Serve) -> Route:
    """A route for GET, HEAD and OPTIONS that returns errors in the API's error format, with CORS headers."""

    async def endpoint(request: Request) -> Response:
        try:
            response = await _checked(request, serve)
        except Exception as error:  # noqa: BLE001 (as in the middleware)
            response = error_response(error)
        response.headers.update(_CORS | _SECURITY)
        return response

    return Route(path, endpoint, methods=_METHODS)


async def _checked(request: Request, serve: Serve) -> Response:
    if request.method == "OPTIONS":
        return Response(status_code=204)
    if request.method not in {"GET", "HEAD"}:
        raise CutroomError(Code.METHOD_NOT_ALLOWED, headers={"Allow": "GET, HEAD, OPTIONS"})
    return await serve(request)


async def object_response(request: Request, storage: Storage, served: ServedObject) -> Response:
    """The object or the requested byte range of it; NOT_FOUND if it does not exist or was deleted."""
    size = await storage.size(served.path) if await served.is_live() else None
    if size is None:
        raise not_found()
    status, (start, end) = parse_range(request.headers.get("range"), size)
    if status == 416:
        return Response(status_code=416, headers={"Content-Range": f"bytes */{size}"})
    headers = {
        "Accept-Ranges": "bytes",
        "Cache-Control": f"private, max-age={served.max_age_seconds}",
        "Content-Length": str(end - start),
        "Content-Type": served.content_type,
    }
    if served.file_name is not None:
        headers["Content-Disposition"] = content_disposition(served.file_name)
    if status == 206:
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    if request.method == "HEAD":
        return Response(status_code=status, headers=headers)
    chunks = storage.read(served.path, span=(start, end) if status == 206 else None)
    # The first chunk is read before the response starts: a small object that is deleted meanwhile is a NOT_FOUND.
    try:
        first = await anext(chunks, b"")
    except FileNotFoundError as error:
        raise not_found() from error
    if not await served.is_live():
        raise not_found()
    return StreamingResponse(_while_live(first, chunks, served.is_live), status_code=status, headers=headers)


def parse_range(header: str | None, size: int) -> tuple[int, tuple[int, int]]:
    """Parses a single byte range; anything else returns the whole object, as HTTP requires."""
    if (match := _RANGE.fullmatch(header or "")) is not None:
        start, end = int(match[1]), min(int(match[2]) + 1 if match[2] else size, size)
    elif (match := _SUFFIX_RANGE.fullmatch(header or "")) is not None:
        start, end = max(size - int(match[1]), 0), size
    else:
        return 200, (0, size)
    return (206, (start, end)) if start < end else (416, (0, 0))


async def _while_live(
    first: bytes, rest: AsyncIterator[bytes], is_live: Callable[[], Awaitable[bool]]
) -> AsyncIterator[bytes]:
    """Breaks off the response when the object is deleted; a short body is an error to every client."""
    yield first
    async for chunk in rest:
        if not await is_live():
            raise not_found()
        yield chunk
