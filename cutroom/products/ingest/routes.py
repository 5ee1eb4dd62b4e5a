"""Routes that create videos."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Path

from cutroom.accounts.scopes import Scope
from cutroom.credits.pricing import load_prices
from cutroom.errors import Code
from cutroom.library.quotas import load_state_of
from cutroom.platform.payload_codec import payloads_of
from cutroom.products.ingest import service
from cutroom.products.ingest.preflight import run_preflight
from cutroom.products.ingest.schemas import CreatedVideo, NewVideo, UrlSource
from cutroom.web.middleware import CurrentCall, OperationRoute
from cutroom.web.operation import Access, operation

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Ingest"])

VideoId = Annotated[str, Path(alias="videoId", min_length=1, description="The video's id.")]


@router.post("/videos", status_code=202, summary="Create a video")
@operation(
    scope=Scope.VIDEOS_WRITE,
    access=Access.PRODUCE,
    errors=(
        Code.NOT_FOUND,
        Code.ALREADY_EXISTS,
        Code.FAILED_PRECONDITION,
        Code.UNSUPPORTED_SOURCE,
        Code.DURATION_UNKNOWN,
    ),
    free_work=True,
    priced=True,
)
async def create_video(call: CurrentCall, new_video: NewVideo) -> CreatedVideo:
    """Imports from a URL or reserves an upload. Products are validated now and start when the transcript is ready."""
    (await load_state_of(call.connection, call.principal)).require_free()  # before the source is contacted
    if isinstance(new_video.source, UrlSource):
        with payloads_of(call.principal.library_id):
            await run_preflight(call.runtime, new_video.source)
    return await service.create_video(
        call.connection,
        call.principal,
        new_video,
        secret_box=call.runtime.secret_box,
        prices=load_prices(call.runtime.settings.prices_file),
        upload_wait=timedelta(seconds=call.runtime.settings.upload_wait_seconds),
        now=call.now,
    )
