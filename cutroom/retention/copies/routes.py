"""Routes of the library's own bucket and of the copies in it."""

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query

from cutroom.accounts.principals import Role
from cutroom.accounts.scopes import Scope
from cutroom.audit.rules import recordable_url
from cutroom.errors import Code
from cutroom.platform.payload_codec import payloads_of
from cutroom.retention.copies import service
from cutroom.retention.copies.preflight import check_bucket
from cutroom.retention.copies.rules import CopyStatus
from cutroom.retention.copies.schemas import Destination, DestinationSettings, OutputCopy, OutputCopyPage
from cutroom.web.middleware import CurrentCall, OperationRoute
from cutroom.web.operation import Access, operation
from cutroom.web.paging import DEFAULT_PAGE, MAX_PAGE
from cutroom.web.revisions import IfMatch

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Destination"])

CopyId = Annotated[str, Path(alias="copyId", min_length=1, description="The copy's id.")]
# Copies contain every output of the library, which downloads:write opens; the bucket is a setting like webhooks.
SCOPE, FURTHER_SCOPES = Scope.DOWNLOADS_WRITE, (Scope.WEBHOOKS_WRITE,)
_LISTING = "output-copies"


@router.get("/library/destination", summary="Get the destination bucket")
@operation(
    scope=SCOPE,
    further_scopes=FURTHER_SCOPES,
    access=Access.READ,
    errors=(Code.NOT_FOUND,),
    has_revisions=True,
    minimum_role=Role.ADMIN,
)
async def get_destination(call: CurrentCall) -> Destination:
    """Returns the bucket that outputs are copied to, without its secret access key. For owners and admins."""
    return call.with_etag(await service.get_destination(call.connection, call.principal.library_id))


@router.put("/library/destination", summary="Set the destination bucket")
@operation(
    scope=SCOPE,
    further_scopes=FURTHER_SCOPES,
    access=Access.WRITE,
    errors=(Code.FAILED_PRECONDITION,),
    has_revisions=True,
    minimum_role=Role.ADMIN,
)
async def set_destination(call: CurrentCall, settings: DestinationSettings, if_match: IfMatch = None) -> Destination:
    """Sets the S3-compatible bucket that the files of every job are copied to when the job is ready.

    If it is enabled, a small object is written and deleted first; if that fails, nothing changes and the response is
    409 with the store's code in `details.storeCode`. For owners and admins.
    """
    with payloads_of(call.principal.library_id):
        before, saved = await service.set_destination(
            call.connection,
            call.principal.library_id,
            settings,
            if_match=if_match,
            secret_box=call.runtime.secret_box,
            check=partial(check_bucket, call.runtime),
            now=call.now,
        )
    secret = {"secretAccessKey": "redacted"} if settings.secret_access_key is not None else {}
    call.record_change(
        before=_recordable(before) if before is not None else None, after={**_recordable(saved.resource), **secret}
    )
    return call.with_etag(saved)


@router.delete("/library/destination", status_code=204, summary="Remove the destination bucket")
@operation(
    scope=SCOPE,
    further_scopes=FURTHER_SCOPES,
    access=Access.WRITE,
    errors=(Code.NOT_FOUND,),
    has_revisions=True,
    minimum_role=Role.ADMIN,
)
async def delete_destination(call: CurrentCall, if_match: IfMatch = None) -> None:
    """Forgets the bucket and its access key. What was copied to it stays there. For owners and admins."""
    removed = await service.delete_destination(call.connection, call.principal.library_id, if_match=if_match)
    call.record_change(before=_recordable(removed))


@router.get("/library/destination/copies", summary="List copies")
@operation(
    scope=SCOPE,
    further_scopes=FURTHER_SCOPES,
    access=Access.READ,
    errors=(Code.INVALID_ARGUMENT,),
    minimum_role=Role.ADMIN,
)
async def list_output_copies(
    call: CurrentCall,
    status: Annotated[CopyStatus | None, Query(description="Only copies with this status.")] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE, description="Maximum number of copies to return.")] = DEFAULT_PAGE,
    page_token: Annotated[
        str | None, Query(alias="pageToken", description="The `nextPageToken` of the previous page.")
    ] = None,
) -> OutputCopyPage:
    """Returns the copies of jobs in the destination bucket, newest first. For owners and admins."""
    tokens, library_id = call.runtime.page_tokens, call.principal.library_id
    before = tokens.read(page_token, listing=_LISTING, library_id=library_id) if page_token is not None else None
    found, more = await service.list_copies(call.connection, library_id, status=status, before=before, limit=limit)
    token = tokens.after(found[-1].id, listing=_LISTING, library_id=library_id) if more else None
    return OutputCopyPage(copies=found, next_page_token=token)


@router.post("/library/destination/copies/{copyId}/retry", status_code=202, summary="Copy again")
@operation(scope=SCOPE, further_scopes=FURTHER_SCOPES, access=Access.WRITE, minimum_role=Role.ADMIN)
async def retry_output_copy(call: CurrentCall, copy_id: CopyId) -> OutputCopy:
    """Copies the files of a job again that are missing in the bucket or have changed.

    A pending copy returns 409. For owners and admins.
    """
    return await service.retry_copy(call.connection, call.principal.library_id, copy_id)


def _recordable(destination: Destination) -> dict[str, Any]:
    fields = destination.model_dump(mode="json", by_alias=True)
    return {**fields, "endpoint": recordable_url(destination.endpoint)}
