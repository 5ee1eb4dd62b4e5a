"""HTTP route of imported captions."""

from typing import Annotated

from fastapi import APIRouter, Path

from cutroom.accounts.scopes import Scope
from cutroom.errors import Code, not_found
from cutroom.products.captions.importing.schemas import CaptionImport, CaptionImportResult
from cutroom.products.captions.importing.service import CaptionImporter
from cutroom.text.language_tags import canonical_language, is_language
from cutroom.web.middleware import CurrentCall, OperationRoute
from cutroom.web.operation import Access, operation

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Captions"])


@router.post("/videos/{videoId}/captions/{lang}/import", summary="Import translated captions")
@operation(scope=Scope.DUBS_WRITE, access=Access.WRITE, errors=(Code.CONFLICT, Code.FAILED_PRECONDITION))
async def import_captions(
    call: CurrentCall,
    video_id: Annotated[str, Path(alias="videoId", min_length=1, description="The video's id.")],
    language: Annotated[str, Path(alias="lang", min_length=1, description="The language of the captions.")],
    request: CaptionImport,
) -> CaptionImportResult:
    """Puts translated subtitles into the segments of the transcript, by their times. The texts count as set by hand.

    Captions of this language need not exist. This costs no credits; the subtitle files follow in the background.
    """
    if not is_language(language):
        raise not_found()
    importer = CaptionImporter(call.connection, call.principal, video_id, canonical_language(language), call.now)
    imported = await importer.import_captions(request)
    call.record_change(
        before={"language": imported.language, "revision": request.revision},
        after={"language": imported.language, "revision": imported.revision},
    )
    return imported
