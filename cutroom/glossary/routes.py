"""Routes of the glossary."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from starlette.responses import Response, StreamingResponse

from cutroom.accounts.scopes import Scope
from cutroom.errors import Code
from cutroom.glossary import service
from cutroom.glossary.schemas import (
    GlossaryImport,
    GlossaryImported,
    GlossaryPage,
    GlossaryTerm,
    GlossaryTermPatch,
    NewGlossaryTerm,
)
from cutroom.glossary.service import TermListing
from cutroom.text.language_tags import LANGUAGE_PATTERN, canonical_language
from cutroom.web.middleware import CurrentCall, OperationRoute
from cutroom.web.operation import Access, operation
from cutroom.web.paging import DEFAULT_PAGE, MAX_PAGE
from cutroom.web.revisions import IfMatch

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Glossary"])

TermId = Annotated[str, Path(alias="termId", min_length=1, description="The term's id.")]
CSV = "text/csv"
_LISTING = "glossary"
_EXPORT: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "A header, then one row per term, oldest first.",
        "content": {CSV: {"schema": {"type": "string"}}},
    }
}
# Of the audit entry: the texts of people are in none.
_AUDITED = {"language", "folder_id", "keep", "case_sensitive"}


@router.get("/glossary/terms", summary="List glossary terms")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ, errors=(Code.INVALID_ARGUMENT,))
async def list_glossary_terms(
    call: CurrentCall,
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE, description="Maximum number of terms to return.")] = DEFAULT_PAGE,
    page_token: Annotated[
        str | None, Query(alias="pageToken", description="The `nextPageToken` of the previous page.")
    ] = None,
    language: Annotated[
        str | None,
        Query(min_length=2, max_length=16, pattern=LANGUAGE_PATTERN, description="Only terms of this language."),
    ] = None,
    folder_id: Annotated[
        str | None,
        Query(alias="folderId", pattern=r"^[0-9A-Za-z]{1,128}$", description="Only terms limited to this folder."),
    ] = None,
) -> GlossaryPage:
    """Returns the terms of the library, newest first. Results are paginated."""
    tokens, library_id = call.runtime.page_tokens, call.principal.library_id
    language = canonical_language(language) if language is not None else None
    name = f"{_LISTING} {language} {folder_id}"
    before = tokens.read(page_token, listing=name, library_id=library_id) if page_token is not None else None
    listing = TermListing(limit, before=before, language=language, folder_id=folder_id)
    terms, more = await service.list_terms(call.connection, library_id, listing)
    token = tokens.after(terms[-1].id, listing=name, library_id=library_id) if more else None
    return GlossaryPage(terms=terms, next_page_token=token)


@router.post("/glossary/terms", status_code=201, summary="Create a glossary term")
@operation(
    scope=Scope.DUBS_WRITE,
    access=Access.WRITE,
    errors=(Code.NOT_FOUND, Code.ALREADY_EXISTS, Code.FAILED_PRECONDITION),
)
async def create_glossary_term(call: CurrentCall, term: NewGlossaryTerm) -> GlossaryTerm:
    """Adds a term to the glossary. Captions and dubs that are made from now on use it.

    A library has at most 2,000 terms. A term with the same text, language and folder exists once.
    """
    created = await service.create_term(call.connection, call.principal, term, now=call.now)
    call.record_change(after=created.resource.model_dump(mode="json", by_alias=True, include=_AUDITED))
    return created.resource


@router.get("/glossary/terms/{termId}", summary="Get a glossary term")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ, has_revisions=True)
async def get_glossary_term(call: CurrentCall, term_id: TermId) -> GlossaryTerm:
    """Retrieves a term."""
    return call.with_etag(await service.get_term(call.connection, call.principal.library_id, term_id))


@router.patch("/glossary/terms/{termId}", summary="Update a glossary term")
@operation(scope=Scope.DUBS_WRITE, access=Access.WRITE, has_revisions=True, errors=(Code.ALREADY_EXISTS,))
async def update_glossary_term(
    call: CurrentCall, term_id: TermId, patch: GlossaryTermPatch, if_match: IfMatch = None
) -> GlossaryTerm:
    """Changes a term. Fields that are not sent stay. Captions and dubs that were made with it stay as they are."""
    before = await service.get_term(call.connection, call.principal.library_id, term_id)
    updated = await service.update_term(call.connection, call.principal, term_id, patch, if_match=if_match)
    audited = _AUDITED & patch.model_fields_set
    call.record_change(
        before=before.resource.model_dump(mode="json", by_alias=True, include=audited),
        after=updated.resource.model_dump(mode="json", by_alias=True, include=audited),
    )
    return call.with_etag(updated)


@router.delete("/glossary/terms/{termId}", status_code=204, summary="Delete a glossary term")
@operation(scope=Scope.DUBS_WRITE, access=Access.WRITE, has_revisions=True)
async def delete_glossary_term(call: CurrentCall, term_id: TermId, if_match: IfMatch = None) -> None:
    """Deletes a term. Captions and dubs that were made with it stay as they are."""
    before = await service.get_term(call.connection, call.principal.library_id, term_id)
    await service.delete_term(call.connection, call.principal, term_id, if_match=if_match)
    call.record_change(before=before.resource.model_dump(mode="json", by_alias=True, include=_AUDITED))


@router.post("/glossary/import", summary="Import glossary terms")
@operation(scope=Scope.DUBS_WRITE, access=Access.WRITE, errors=(Code.NOT_FOUND, Code.FAILED_PRECONDITION))
async def import_glossary(call: CurrentCall, body: GlossaryImport) -> GlossaryImported:
    """Adds the terms of a CSV file, and replaces those with the same text, language and folder. All rows, or none.

    The columns are those of the export. An error names the line.
    """
    imported = await service.import_terms(call.connection, call.principal, body.csv, now=call.now)
    call.record_change(after=imported.model_dump(by_alias=True))
    return imported


@router.get("/glossary/export", summary="Export the glossary", response_class=Response, responses=_EXPORT)
@operation(scope=Scope.VIDEOS_READ, access=Access.READ)
async def export_glossary(call: CurrentCall) -> Response:
    """Streams the glossary as a CSV file, which can be imported again.

    Cells that a spreadsheet would run as a formula start with an apostrophe.
    """
    library_id = call.principal.library_id
    languages = await service.read_languages(call.connection, library_id)
    lines = service.export_lines(call.runtime.database, library_id, languages)
    headers = {"Content-Disposition": 'attachment; filename="glossary.csv"'}
    return StreamingResponse(lines, media_type=CSV, headers=headers)
