"""HTTP routes of dubs."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from cutroom.accounts.scopes import Scope
from cutroom.credits.pricing import load_prices
from cutroom.errors import Code, not_found
from cutroom.jobs.ids import DubProduct
from cutroom.products.dubs import service
from cutroom.products.dubs.deletion import delete_dubs
from cutroom.products.dubs.schemas import Dub, DubJobs, Dubs, NewDubs
from cutroom.text.language_tags import canonical_language, is_language
from cutroom.web.middleware import CurrentCall, OperationRoute
from cutroom.web.operation import Access, operation

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Dubs"])

VideoId = Annotated[str, Path(alias="videoId", min_length=1, description="The video's id.")]
Language = Annotated[str, Path(min_length=1, description="The language of the dub.")]


@router.post("/videos/{videoId}/dubs", status_code=202, summary="Dub a video")
@operation(
    scope=Scope.DUBS_WRITE,
    access=Access.PRODUCE,
    errors=(Code.CONFLICT, Code.FAILED_PRECONDITION, Code.INSUFFICIENT_CREDITS),
    priced=True,
)
async def create_dubs(call: CurrentCall, video_id: VideoId, body: NewDubs) -> DubJobs:
    """Creates one job per language. Unsupported languages are rejected with the list of supported ones.

    Requesting a dub that is processing or ready returns its existing job without a charge.
    """
    prices = load_prices(call.runtime.settings.prices_file)
    return await service.request_dubs(
        call.connection, call.principal, video_id, request=body, prices=prices, now=call.now
    )


@router.get("/videos/{videoId}/dubs", summary="List a video's dubs")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ)
async def list_dubs(call: CurrentCall, video_id: VideoId) -> Dubs:
    """Lists the dubs of a video, newest first."""
    return Dubs(dubs=await service.list_dubs(call.connection, call.principal, video_id))


@router.get("/videos/{videoId}/dubs/{lang}", summary="Get a dub")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ, errors=(Code.INVALID_ARGUMENT,))
async def get_dub(
    call: CurrentCall,
    video_id: VideoId,
    lang: Language,
    product: Annotated[DubProduct, Query(description="`plus` or `premium`.")] = DubProduct.PLUS,
) -> Dub:
    """Returns a dub with its audio URL, once available, its segments and its sync report."""
    if not is_language(lang):
        raise not_found()
    return await service.get_dub(
        call.connection,
        call.principal,
        video_id,
        language=canonical_language(lang),
        product=product,
        storage=call.runtime.storage,
    )


@router.delete("/videos/{videoId}/dubs/{lang}", status_code=204, summary="Delete a dub")
@operation(scope=Scope.DUBS_WRITE, access=Access.WRITE, errors=(Code.INVALID_ARGUMENT, Code.FAILED_PRECONDITION))
async def delete_dub(
    call: CurrentCall,
    video_id: VideoId,
    lang: Language,
    product: Annotated[DubProduct | None, Query(description="`plus` or `premium`; both by default.")] = None,
) -> None:
    """Deletes the dubs of a language, with their files and their track of the stream. While one is being made, nothing
    is deleted (409): cancel its job first.
    """
    if not is_language(lang):
        raise not_found()
    language = canonical_language(lang)
    deleted = await delete_dubs(
        call.connection, call.principal, video_id, language=language, product=product, now=call.now
    )
    call.record_change(before={"language": language, "products": deleted})
