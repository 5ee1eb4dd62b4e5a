"""HTTP routes of previews of a line."""

from typing import Annotated

from fastapi import APIRouter, Path

from cutroom.accounts.scopes import Scope
from cutroom.errors import Code
from cutroom.jobs.ids import DubProduct
from cutroom.products.dubs.editing.routes import Language, SegmentId, VideoId, WhichProduct, dub_editor
from cutroom.products.dubs.editing.takes.schemas import LinePreview, NewLinePreview
from cutroom.products.dubs.editing.takes.service import LinePreviews
from cutroom.web.middleware import CurrentCall, OperationRoute
from cutroom.web.operation import Access, operation

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Dubs"])

PreviewId = Annotated[str, Path(alias="previewId", min_length=1, description="The id of the preview.")]


@router.post(
    "/videos/{videoId}/dubs/{lang}/segments/{segmentId}/preview", status_code=202, summary="Preview a line of a dub"
)
@operation(scope=Scope.DUBS_WRITE, access=Access.WRITE, errors=(Code.FAILED_PRECONDITION,), free_work=True)
async def preview_segment(
    call: CurrentCall,
    video_id: VideoId,
    lang: Language,
    segment_id: SegmentId,
    body: NewLinePreview,
    product: WhichProduct = DubProduct.PLUS,
) -> LinePreview:
    """Speaks a line as it stands now, or as the body says, up to three times, and changes nothing. It is free.

    The same request returns the same takes for 24 hours.
    """
    preview = await LinePreviews(dub_editor(call, video_id, lang, product), segment_id).request(body)
    call.record_change(after={"previewId": preview.id, "takes": body.count})
    return preview


@router.get("/videos/{videoId}/dubs/{lang}/segments/{segmentId}/preview/{previewId}", summary="Get a preview of a line")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ, errors=(Code.INVALID_ARGUMENT, Code.FAILED_PRECONDITION))
async def get_segment_preview(
    call: CurrentCall,
    video_id: VideoId,
    lang: Language,
    segment_id: SegmentId,
    preview_id: PreviewId,
    product: WhichProduct = DubProduct.PLUS,
) -> LinePreview:
    """Returns the takes once they are ready. After 24 hours the preview is not found."""
    return await LinePreviews(dub_editor(call, video_id, lang, product), segment_id).get(preview_id)
