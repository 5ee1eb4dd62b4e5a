"""HTTP routes of captions."""

from typing import Annotated

from fastapi import APIRouter, Path

from cutroom.accounts.scopes import Scope
from cutroom.credits.pricing import load_prices
from cutroom.errors import Code, not_found
from cutroom.products.captions import service
from cutroom.products.captions.schemas import CaptionJobs, NewCaptions
from cutroom.text.language_tags import canonical_language, is_language
from cutroom.web.middleware import CurrentCall, OperationRoute
from cutroom.web.operation import Access, operation

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Captions"])

VideoId = Annotated[str, Path(alias="videoId", min_length=1, description="The video's id.")]


@router.post("/videos/{videoId}/captions", status_code=202, summary="Translate captions")
@operation(
    scope=Scope.DUBS_WRITE,
    access=Access.PRODUCE,
    errors=(Code.CONFLICT, Code.FAILED_PRECONDITION, Code.INSUFFICIENT_CREDITS),
    priced=True,
)
async def create_captions(call: CurrentCall, video_id: VideoId, body: NewCaptions) -> CaptionJobs:
    """Creates one job per language. Unsupported languages are rejected with the list of supported ones.

    Requesting captions that are processing or ready returns their existing job without a charge.
    """
    prices = load_prices(call.runtime.settings.prices_file)
    jobs = await service.request_captions(
        call.connection, call.principal, video_id, request=body, prices=prices, now=call.now
    )
    return CaptionJobs(jobs=jobs)


@router.delete("/videos/{videoId}/captions/{lang}", status_code=204, summary="Delete captions")
@operation(scope=Scope.DUBS_WRITE, access=Access.WRITE, errors=(Code.FAILED_PRECONDITION,))
async def delete_captions(
    call: CurrentCall,
    video_id: VideoId,
    lang: Annotated[str, Path(min_length=1, description="The language of the captions.")],
) -> None:
    """Deletes the translated captions of a language, with their files and their track of the stream. While they are
    being made, they are not deleted (409): cancel their job first.
    """
    if not is_language(lang):
        raise not_found()
    language = canonical_language(lang)
    await service.delete_captions(call.connection, call.principal, video_id, language=language, now=call.now)
    call.record_change(before={"language": language})
