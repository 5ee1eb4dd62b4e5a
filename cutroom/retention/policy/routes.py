"""Routes of the retention policy: its settings, its dry run, and its last report."""

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query

from cutroom.accounts.principals import Role
from cutroom.accounts.scopes import Scope
from cutroom.errors import Code
from cutroom.retention.policy import service
from cutroom.retention.policy.rules import MAX_DAYS, MIN_DAYS
from cutroom.retention.policy.schemas import RetentionPolicy, RetentionPolicyPatch, RetentionPreview, RetentionReport
from cutroom.web.middleware import CurrentCall, OperationRoute
from cutroom.web.operation import Access, operation
from cutroom.web.revisions import IfMatch

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Library"])

_OVERRIDE = "Instead of the policy's own setting."
OriginalsDays = Annotated[int | None, Query(alias="originalsDays", ge=MIN_DAYS, le=MAX_DAYS, description=_OVERRIDE)]
IntermediatesDays = Annotated[
    int | None, Query(alias="intermediatesDays", ge=MIN_DAYS, le=MAX_DAYS, description=_OVERRIDE)
]
OutputsDays = Annotated[int | None, Query(alias="outputsDays", ge=MIN_DAYS, le=MAX_DAYS, description=_OVERRIDE)]


@router.get("/library/retention", summary="Get the retention policy")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ, has_revisions=True)
async def get_retention(call: CurrentCall) -> RetentionPolicy:
    """Returns how long the library keeps originals, intermediates and outputs."""
    return call.with_etag(await service.get_policy(call.connection, call.principal.library_id))


@router.patch("/library/retention", summary="Update the retention policy")
@operation(scope=Scope.VIDEOS_WRITE, access=Access.WRITE, has_revisions=True, minimum_role=Role.ADMIN)
async def update_retention(call: CurrentCall, patch: RetentionPolicyPatch, if_match: IfMatch = None) -> RetentionPolicy:
    """Changes how long the library keeps what it stores. Fields that are not sent stay; null keeps a kind for ever.

    Only owners and admins can change it. The next daily run applies it; preview it first.
    """
    library_id = call.principal.library_id
    before = await service.get_policy(call.connection, library_id)
    await service.update_policy(call.connection, library_id, patch, if_match=if_match)
    updated = await service.get_policy(call.connection, library_id)
    call.record_update(patch, before=before.resource, after=updated.resource)
    return call.with_etag(updated)


@router.get("/library/retention/preview", summary="Preview the retention policy")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ, errors=(Code.INVALID_ARGUMENT,))
async def preview_retention(
    call: CurrentCall,
    originals_days: OriginalsDays = None,
    intermediates_days: IntermediatesDays = None,
    outputs_days: OutputsDays = None,
) -> RetentionPreview:
    """Returns what the policy, or the times given here, would delete now, without deleting anything.

    It is computed from the last daily scan. Videos in the trash are left out.
    """
    times = await service.get_times(call.connection, call.principal.library_id)
    given = {
        "originals_days": originals_days,
        "intermediates_days": intermediates_days,
        "outputs_days": outputs_days,
    }
    times = replace(times, **{name: days for name, days in given.items() if days is not None})
    return await service.preview(call.connection, call.principal.library_id, times, now=call.now)


@router.get("/library/retention/report", summary="Get the last retention report")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ)
async def get_retention_report(call: CurrentCall) -> RetentionReport:
    """Returns what the last daily run that deleted something has deleted."""
    return await service.last_report(call.connection, call.principal.library_id)
