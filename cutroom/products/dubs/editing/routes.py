"""HTTP routes of the lines of a dub."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from cutroom.accounts.scopes import Scope
from cutroom.credits.pricing import load_prices
from cutroom.errors import Code, not_found
from cutroom.jobs.ids import DubProduct
from cutroom.products.dubs.editing.schemas import (
    DubRegenerationRequest,
    DubSegments,
    DubSegmentsChange,
    DubSegmentsPatch,
    LineRegeneration,
    LineRegenerationQuote,
)
from cutroom.products.dubs.editing.service import DubEditor
from cutroom.text.language_tags import canonical_language, is_language
from cutroom.web.middleware import CurrentCall, OperationRoute, RequestCall
from cutroom.web.operation import Access, operation

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Dubs"])

VideoId = Annotated[str, Path(alias="videoId", min_length=1, description="The video's id.")]
Language = Annotated[str, Path(min_length=1, description="The language of the dub.")]
SegmentId = Annotated[str, Path(alias="segmentId", min_length=1, description="The id of the line.")]
WhichProduct = Annotated[DubProduct, Query(description="`plus` or `premium`.")]


@router.get("/videos/{videoId}/dubs/{lang}/segments", summary="List the lines of a dub")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ, errors=(Code.INVALID_ARGUMENT, Code.FAILED_PRECONDITION))
async def list_segments(
    call: CurrentCall, video_id: VideoId, lang: Language, product: WhichProduct = DubProduct.PLUS
) -> DubSegments:
    """Returns what each line should say and what the published audio says, which lines are outdated, and what it costs
    to regenerate them.
    """
    return await dub_editor(call, video_id, lang, product).read()


@router.patch("/videos/{videoId}/dubs/{lang}/segments", summary="Edit the lines of a dub")
@operation(scope=Scope.DUBS_WRITE, access=Access.WRITE, errors=(Code.CONFLICT, Code.FAILED_PRECONDITION))
async def edit_segments(
    call: CurrentCall,
    video_id: VideoId,
    lang: Language,
    patch: DubSegmentsPatch,
    product: WhichProduct = DubProduct.PLUS,
) -> DubSegmentsChange:
    """Changes what lines say and how, all or none. It is free; the published audio follows when it is regenerated.

    If there is a newer revision than the given one, nothing is changed (409 `CONFLICT`): `details.revision` is the
    current one.
    """
    change = await dub_editor(call, video_id, lang, product).edit(patch)
    call.record_change(
        before={"revision": patch.revision}, after={"revision": change.revision, "lines": len(patch.changes)}
    )
    return change


@router.post("/videos/{videoId}/dubs/{lang}/regenerate/quote", summary="Quote the regeneration of a dub")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ, errors=(Code.CONFLICT, Code.FAILED_PRECONDITION))
async def quote_regeneration(
    call: CurrentCall,
    video_id: VideoId,
    lang: Language,
    body: DubRegenerationRequest,
    product: WhichProduct = DubProduct.PLUS,
) -> LineRegenerationQuote:
    """Returns the exact price of the same request to regenerate lines. Nothing is charged."""
    return await dub_editor(call, video_id, lang, product).quote(body)


@router.post("/videos/{videoId}/dubs/{lang}/regenerate", status_code=202, summary="Regenerate lines of a dub")
@operation(
    scope=Scope.DUBS_WRITE,
    access=Access.PRODUCE,
    errors=(Code.CONFLICT, Code.FAILED_PRECONDITION, Code.INSUFFICIENT_CREDITS),
    priced=True,
)
async def regenerate(
    call: CurrentCall,
    video_id: VideoId,
    lang: Language,
    body: DubRegenerationRequest,
    product: WhichProduct = DubProduct.PLUS,
) -> LineRegeneration:
    """Makes outdated lines again; all others stay as they are, to the sample.

    Only the time of the lines that are spoken again is charged. The published audio stays until the new one is ready;
    if that fails, nothing is charged.
    """
    started = await dub_editor(call, video_id, lang, product).regenerate(body)
    call.record_change(
        after={"revision": body.revision, "jobId": started.job.id, "lines": len(started.quote.segment_ids)}
    )
    return started


def dub_editor(call: RequestCall, video_id: str, lang: str, product: DubProduct) -> DubEditor:
    """An editor of the dub for the caller; not found if the language is none."""
    if not is_language(lang):
        raise not_found()
    return DubEditor(
        call.connection,
        call.principal,
        call.runtime.storage,
        load_prices(call.runtime.settings.prices_file),
        call.now,
        video_id,
        canonical_language(lang),
        product,
    )
