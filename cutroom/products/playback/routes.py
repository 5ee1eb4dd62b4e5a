"""Serves playback files with signed paths.

At scale a CDN takes this role: it verifies the same signature and reads from the object store itself.
"""

import re

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from cutroom.errors import Code, CutroomError, not_found
from cutroom.library.playback import PREFIX, PlaybackLinks, issued_at
from cutroom.products.playback.service import playback_path
from cutroom.web.object_responses import ServedObject, object_response, object_route
from cutroom.web.runtime import Runtime

# At most two directories, and generated names only: no path traversal.
_NAME = re.compile(r"(?:[a-z]/[A-Za-z0-9-]{1,64}/)?[A-Za-z0-9][A-Za-z0-9.-]{0,63}\.(m3u8|mpd|m4s|mp4|vtt)")
# Manifests change when languages are added. Segments are immutable, but must not outlive a deleted video in caches.
_MANIFEST_MAX_AGE, _SEGMENT_MAX_AGE = 10, 60


async def serve_media(request: Request) -> Response:
    runtime: Runtime = request.app.state.runtime
    token, library_id, video_id, name = (request.path_params[each] for each in ("token", "library", "video", "name"))
    links = PlaybackLinks(runtime.secret_box, runtime.settings.base_url)
    if not links.is_valid(token, library_id, video_id, now=runtime.clock()):
        raise CutroomError(Code.PERMISSION_DENIED, message="This playback URL is invalid or has expired.")
    match = _NAME.fullmatch(name)
    if match is None:
        raise not_found()

    async def is_live() -> bool:
        return await runtime.is_live_video(library_id, video_id, issued_at(token))

    max_age = _MANIFEST_MAX_AGE if match[1] in {"m3u8", "mpd"} else _SEGMENT_MAX_AGE
    served = ServedObject(playback_path(library_id, video_id, name), max_age, is_live)
    return await object_response(request, runtime.storage, served)


router = APIRouter()
router.routes.append(object_route(PREFIX + "/{token}/{library}/{video}/{name:path}", serve_media))
