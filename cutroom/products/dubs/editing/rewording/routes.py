"""HTTP routes of shorter wordings of a line."""

from typing import Annotated

from fastapi import APIRouter, Path

from cutroom.accounts.scopes import Scope
from cutroom.errors import Code
from cutroom.jobs.ids import DubProduct
from cutroom.platform.settings import Settings
from cutroom.products.dubs.editing.rewording.service import LineRewording
from cutroom.products.dubs.editing.routes import Language, SegmentId, VideoId, WhichProduct, dub_editor
from cutroom.products.dubs.editing.schemas import LineWordings, WordingsRequest
from cutroom.web.middleware import CurrentCall, OperationRoute, RequestCall
from cutroom.web.operation import Access, operation

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Dubs"])

WordingsId = Annotated[str, Path(alias="wordingsId", min_length=1, description="The id of the wordings.")]


@router.post("/videos/{videoId}/dubs/{lang}/segments/{segmentId}/wordings", summary="Find shorter wordings of a line")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ, errors=(Code.FAILED_PRECONDITION,), free_work=True)
async def list_segment_wordings(
    call: CurrentCall,
    video_id: VideoId,
    lang: Language,
    segment_id: SegmentId,
    body: WordingsRequest,
    product: WhichProduct = DubProduct.PLUS,
) -> LineWordings:
    """Returns up to three wordings that are shorter than the text and fit the time of the line. Nothing is changed.

    Fillers and redundant words are left out; names, numbers, negations and terms of the glossary stay. If a language
    model is configured, it is asked as well: while `model` is `pending`, get the wordings by their `id`. Callers who
    may not edit get the wordings without the model.
    """
    return await _rewording(call, video_id, lang, segment_id, product).find(body)


@router.get(
    "/videos/{videoId}/dubs/{lang}/segments/{segmentId}/wordings/{wordingsId}", summary="Get shorter wordings of a line"
)
@operation(scope=Scope.VIDEOS_READ, access=Access.READ, errors=(Code.INVALID_ARGUMENT, Code.FAILED_PRECONDITION))
async def get_segment_wordings(
    call: CurrentCall,
    video_id: VideoId,
    lang: Language,
    segment_id: SegmentId,
    wordings_id: WordingsId,
    product: WhichProduct = DubProduct.PLUS,
) -> LineWordings:
    """Returns the wordings, with those of the model once it has answered. After 24 hours they are not found."""
    return await _rewording(call, video_id, lang, segment_id, product).get(wordings_id)


def _rewording(call: RequestCall, video_id: str, lang: str, segment_id: str, product: DubProduct) -> LineRewording:
    model = _model(call.runtime.settings)
    return LineRewording(dub_editor(call, video_id, lang, product), segment_id, model)


def _model(settings: Settings) -> str | None:
    """The language model that workers are configured with; they have the same settings."""
    if settings.chat_local_model or settings.chat_url is None:
        return settings.chat_local_model or None
    return settings.chat_model or settings.chat_url
