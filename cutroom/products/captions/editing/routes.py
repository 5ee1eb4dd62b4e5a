"""HTTP routes of the segments of captions."""

from typing import Annotated

from fastapi import APIRouter, Path

from cutroom.accounts.scopes import Scope
from cutroom.credits.pricing import load_prices
from cutroom.errors import Code, not_found
from cutroom.products.captions.editing.regeneration import regenerate
from cutroom.products.captions.editing.schemas import (
    CaptionChange,
    CaptionEdit,
    CaptionSegments,
    Regeneration,
    RegenerationJob,
)
from cutroom.products.captions.editing.service import CaptionEditor
from cutroom.text.language_tags import canonical_language, is_language
from cutroom.web.middleware import CurrentCall, OperationRoute, RequestCall
from cutroom.web.operation import Access, operation

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Captions"])

VideoId = Annotated[str, Path(alias="videoId", min_length=1, description="The video's id.")]
Language = Annotated[str, Path(alias="lang", min_length=1, description="The language of the captions.")]


@router.get("/videos/{videoId}/captions/{lang}/segments", summary="Get segments of captions")
@operation(scope=Scope.TRANSCRIPTS_READ, access=Access.READ, errors=(Code.FAILED_PRECONDITION,))
async def get_caption_segments(call: CurrentCall, video_id: VideoId, language: Language) -> CaptionSegments:
    """Returns the translated segments, which of them are stale because the transcript has changed, and what it costs
    to bring them up to date.
    """
    return await _editor(call, video_id, language).get_segments(prices=load_prices(call.runtime.settings.prices_file))


@router.patch("/videos/{videoId}/captions/{lang}/segments", summary="Edit segments of captions")
@operation(scope=Scope.DUBS_WRITE, access=Access.WRITE, errors=(Code.CONFLICT, Code.FAILED_PRECONDITION))
async def edit_caption_segments(
    call: CurrentCall, video_id: VideoId, language: Language, edit: CaptionEdit
) -> CaptionChange:
    """Applies operations to a revision, all or none, and returns the new revision. This costs no credits.

    If there is a newer revision than the given one, nothing is changed (409 `CONFLICT`): `details.revision` is the
    current one. The subtitle files follow in the background.
    """
    change = await _editor(call, video_id, language).edit(edit)
    call.record_change(
        before={"language": change.language, "revision": edit.revision},
        after={"language": change.language, "revision": change.revision},
    )
    return change


@router.post(
    "/videos/{videoId}/captions/{lang}/regenerate", status_code=202, summary="Regenerate stale segments of captions"
)
@operation(
    scope=Scope.DUBS_WRITE,
    access=Access.PRODUCE,
    errors=(Code.CONFLICT, Code.FAILED_PRECONDITION, Code.INSUFFICIENT_CREDITS),
    priced=True,
)
async def regenerate_caption_segments(
    call: CurrentCall, video_id: VideoId, language: Language, request: Regeneration
) -> RegenerationJob:
    """Creates a job that translates stale segments again, and takes over changed times. All other segments stay as
    they are, and so do texts that were set by hand.

    The price is that of the changed seconds. Without a changed text there is nothing to charge.
    """
    prices = load_prices(call.runtime.settings.prices_file)
    return RegenerationJob(job=await regenerate(_editor(call, video_id, language), request, prices=prices))


def _editor(call: RequestCall, video_id: str, language: str) -> CaptionEditor:
    if not is_language(language):
        raise not_found()
    return CaptionEditor(call.connection, call.principal, video_id, canonical_language(language), call.now)
