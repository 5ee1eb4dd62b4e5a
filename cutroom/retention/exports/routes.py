"""Routes to export the library."""

from typing import Annotated

from fastapi import APIRouter, Path

from cutroom.accounts.principals import Role
from cutroom.accounts.scopes import Scope
from cutroom.errors import Code
from cutroom.retention.exports import service
from cutroom.retention.exports.schemas import LibraryExport, LibraryExportList
from cutroom.web.middleware import CurrentCall, OperationRoute
from cutroom.web.operation import Access, operation

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Exports"])

ExportId = Annotated[str, Path(alias="exportId", min_length=1, description="The export's id.")]
# An export contains every file of the library, which downloads:write opens, and its settings and audit log.
SCOPE, FURTHER_SCOPES = Scope.DOWNLOADS_WRITE, (Scope.WEBHOOKS_WRITE,)


@router.post("/library/exports", status_code=202, summary="Export the library")
@operation(
    scope=SCOPE,
    further_scopes=FURTHER_SCOPES,
    access=Access.WRITE,
    errors=(Code.FAILED_PRECONDITION,),
    minimum_role=Role.ADMIN,
)
async def create_library_export(call: CurrentCall) -> LibraryExport:
    """Starts an export of the whole library into one ZIP archive: media, products, transcripts, receipts and settings.

    The archive has a manifest with the checksum of every file. Poll the export until it is `ready` or `failed`. A
    library has one unfinished export at a time: another request returns 409 with its id. For owners and admins.
    """
    created = await service.create_export(call.connection, call.principal, now=call.now)
    call.record_change(after={"status": created.status.value})
    return created


@router.get("/library/exports", summary="List exports")
@operation(scope=SCOPE, further_scopes=FURTHER_SCOPES, access=Access.READ, minimum_role=Role.ADMIN)
async def list_library_exports(call: CurrentCall) -> LibraryExportList:
    """Returns up to 50 exports of the library, newest first. For owners and admins."""
    storage = call.runtime.storage
    exports = await service.list_exports(call.connection, call.principal, storage=storage, now=call.now)
    return LibraryExportList(exports=exports)


@router.get("/library/exports/{exportId}", summary="Get an export")
@operation(scope=SCOPE, further_scopes=FURTHER_SCOPES, access=Access.READ, minimum_role=Role.ADMIN)
async def get_library_export(call: CurrentCall, export_id: ExportId) -> LibraryExport:
    """Returns an export, with a URL of its archive once it is ready. For owners and admins."""
    storage = call.runtime.storage
    return await service.get_export(call.connection, call.principal, export_id, storage=storage, now=call.now)


@router.delete("/library/exports/{exportId}", status_code=204, summary="Delete an export")
@operation(scope=SCOPE, further_scopes=FURTHER_SCOPES, access=Access.WRITE, minimum_role=Role.ADMIN)
async def delete_library_export(call: CurrentCall, export_id: ExportId) -> None:
    """Removes an export and its archive, and stops the work of an unfinished one. For owners and admins."""
    status = await service.delete_export(call.connection, call.principal, export_id, now=call.now)
    call.record_change(before={"status": status.value})
