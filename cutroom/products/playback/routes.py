"""Serves playback files with signed paths, and the operations that cut streams.

At scale a CDN takes this role: it verifies the same signature and reads from the object store itself.
"""

import re
from typing import Annotated

from fastapi import APIRouter, Path
from starlette.requests import Request
from starlette.responses import Response

from cutroom.accounts.scopes import Scope
from cutroom.errors import Code, CutroomError, not_found
from cutroom.library.playback import PREFIX, PlaybackLinks, issued_at
from cutroom.products.playback.cutting import PlaybackEditor
from cutroom.products.playback.schemas import NewPlaybackCut, PlaybackState
from cutroom.products.playback.service import playback_path
from cutroom.web.middleware import CurrentCall, OperationRoute, RequestCall
from cutroom.web.object_responses import ServedObject, object_response, object_route
from cutroom.web.operation import Access, operation
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

operations = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Library"])

VideoId = Annotated[str, Path(alias="videoId", min_length=1, description="The video's id.")]


@operations.get("/videos/{videoId}/playback", summary="Get the stream of a video")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ)
async def get_playback(call: CurrentCall, video_id: VideoId) -> PlaybackState:
    """Returns the state of the stream, and which parts of the recording it plays; its URL is that of the video."""
    return await _editor(call, video_id).read()


@operations.post("/videos/{videoId}/playback", status_code=202, summary="Cut the stream of a video")
@operation(scope=Scope.DUBS_WRITE, access=Access.WRITE, errors=(Code.CONFLICT, Code.FAILED_PRECONDITION))
async def cut_playback(call: CurrentCall, video_id: VideoId, cut: NewPlaybackCut) -> PlaybackState:
    """Packages the stream without the words that are deleted in the transcript now, or the whole recording with
    `uncut`. Picture, sound, dubs and subtitles are cut in the same places; the recording itself is not changed.

    The stream plays as it is until the new one is ready. It is free.
    """
    editor = _editor(call, video_id)
    before, state = await editor.read(), await editor.request(cut)
    call.record_change(before=_audited(before), after=_audited(state))
    return state


def _audited(state: PlaybackState) -> dict[str, object]:
    return state.model_dump(mode="json", by_alias=True, include={"transcript_revision", "requested"}, exclude_none=True)


def _editor(call: RequestCall, video_id: str) -> PlaybackEditor:
    return PlaybackEditor(call.connection, call.principal, call.runtime.storage, video_id, call.now)
