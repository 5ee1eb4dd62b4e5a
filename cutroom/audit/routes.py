"""Routes to read and export the audit log."""

from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response, StreamingResponse

from cutroom.accounts.principals import Role
from cutroom.accounts.scopes import Scope
from cutroom.audit import service
from cutroom.audit.rules import ChainHead
from cutroom.audit.schemas import AuditLogPage, entry_of, head_of
from cutroom.audit.service import AuditFilter
from cutroom.errors import Code
from cutroom.platform.db import Database
from cutroom.web.middleware import CurrentCall, OperationRoute
from cutroom.web.operation import Access, operation
from cutroom.web.paging import DEFAULT_PAGE, MAX_PAGE
from cutroom.web.schema import Instant

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Audit log"])

HEAD_HEADER = "Cutroom-Audit-Head"
JSON_LINES = "application/x-ndjson"
_LISTING = "audit-log"
_EXPORT: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "One JSON object per line, in the form of the entries of the list, oldest first.",
        "content": {JSON_LINES: {"schema": {"type": "string"}}},
        "headers": {
            HEAD_HEADER: {
                "description": "The head of the log when the export began, as `SEQUENCE:HASH`.",
                "schema": {"type": "string"},
            }
        },
    }
}


Action = Annotated[
    str | None,
    Query(pattern=r"^[A-Za-z.]{1,100}$", description="Only this action, such as `createFolder` or `key.revoke`."),
]
Actor = Annotated[
    str | None,
    Query(pattern=r"^[0-9A-Za-z_-]{1,100}$", description="Only entries of this key, token, session or user, by id."),
]
Since = Annotated[Instant | None, Query(description="Only entries at or after this time.")]
Until = Annotated[Instant | None, Query(description="Only entries before this time.")]


@router.get("/audit-log", summary="List audit log entries")
@operation(scope=Scope.WEBHOOKS_WRITE, access=Access.READ, errors=(Code.INVALID_ARGUMENT,), minimum_role=Role.ADMIN)
async def list_audit_log(
    call: CurrentCall,
    action: Action = None,
    actor: Actor = None,
    since: Since = None,
    until: Until = None,
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE, description="Maximum number of entries to return.")] = DEFAULT_PAGE,
    page_token: Annotated[
        str | None, Query(alias="pageToken", description="The `nextPageToken` of the previous page.")
    ] = None,
) -> AuditLogPage:
    """Returns who changed what in the library, newest first. For owners and admins."""
    tokens, library_id = call.runtime.page_tokens, call.principal.library_id
    before = int(tokens.read(page_token, listing=_LISTING, library_id=library_id)) if page_token is not None else None
    entries, more = await service.list_entries(
        call.connection, library_id, AuditFilter(action, actor, since, until), before=before, limit=limit
    )
    # Page tokens carry 26 characters.
    last = f"{entries[-1].entry.sequence:026d}" if more else None
    return AuditLogPage(
        entries=[entry_of(each) for each in entries],
        head=head_of(await service.read_head(call.connection, library_id)),
        next_page_token=tokens.after(last, listing=_LISTING, library_id=library_id) if last else None,
    )


@router.get("/audit-log/export", summary="Export the audit log", response_class=Response, responses=_EXPORT)
@operation(scope=Scope.WEBHOOKS_WRITE, access=Access.READ, errors=(Code.INVALID_ARGUMENT,), minimum_role=Role.ADMIN)
async def export_audit_log(
    call: CurrentCall, action: Action = None, actor: Actor = None, since: Since = None, until: Until = None
) -> Response:
    """Streams the audit log as JSON Lines, oldest first. For owners and admins."""
    library_id = call.principal.library_id
    head = await service.read_head(call.connection, library_id)
    lines = _export_lines(call.runtime.database, library_id, AuditFilter(action, actor, since, until), head)
    headers = {HEAD_HEADER: str(head), "Content-Disposition": 'attachment; filename="audit-log.jsonl"'}
    return StreamingResponse(lines, media_type=JSON_LINES, headers=headers)


async def _export_lines(
    database: Database, library_id: str, wanted: AuditFilter, head: ChainHead
) -> AsyncIterator[str]:
    """Reads each page in a transaction of its own: a slow client holds no connection."""
    after = 0
    while True:
        async with database.transaction(library_id) as connection:
            entries = await service.list_entries_after(connection, library_id, wanted, after=after, up_to=head.sequence)
        if not entries:
            return
        yield "".join(f"{entry_of(each).model_dump_json(by_alias=True)}\n" for each in entries)
        after = entries[-1].entry.sequence
