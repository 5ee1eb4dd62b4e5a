"""Serves objects at signed URLs.

At scale a CDN takes this role: it verifies the same signature and reads from the object store itself.
"""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from cutroom.errors import Code, CutroomError
from cutroom.library.live_videos import owner_of_path
from cutroom.platform.storage.links import NAME_PARAMETER, PREFIX, issued_at
from cutroom.web.object_responses import ServedObject, object_response, object_route
from cutroom.web.runtime import Runtime

MAX_AGE_SECONDS = 30


async def serve_file(request: Request) -> Response:
    runtime: Runtime = request.app.state.runtime
    token, path = request.path_params["token"], request.path_params["path"]
    file_name = request.query_params.get(NAME_PARAMETER)
    if not _is_as_issued(request) or not runtime.storage.links.is_valid(
        token, path, file_name=file_name, now=runtime.clock()
    ):
        raise CutroomError(Code.PERMISSION_DENIED, message="This URL is invalid or has expired.")

    async def is_live() -> bool:
        owner = owner_of_path(path)
        return owner is not None and await runtime.is_live_video(*owner, issued_at(token))

    served = ServedObject(path, MAX_AGE_SECONDS, is_live, file_name=file_name)
    return await object_response(request, runtime.storage, served)


def _is_as_issued(request: Request) -> bool:
    """Whether the URL is spelled as it was issued: no percent-encoding or trailing slash in the path, no parameters."""
    token, path = request.path_params["token"], request.path_params["path"]
    parameters = [name for name, _ in request.query_params.multi_items()]
    raw_path: bytes = request.scope["raw_path"]
    return raw_path.endswith(f"{PREFIX}/{token}/{path}".encode()) and parameters in ([], [NAME_PARAMETER])


router = APIRouter()
router.routes.append(object_route(PREFIX + "/{token}/{path:path}", serve_file))
