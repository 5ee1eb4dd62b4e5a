"""Requests the erasure of a library: ends its access and its work, and starts the workflow that destroys it."""

from dataclasses import asdict
from datetime import datetime

from cutroom.accounts.principals import Principal
from cutroom.errors import Code, CutroomError, invalid_field
from cutroom.jobs.cancellation import cancel_all_jobs
from cutroom.platform.db import Connection
from cutroom.platform.ids import new_id
from cutroom.platform.outbox import WorkflowStart, enqueue
from cutroom.retention.erasure.rules import ErasureRequest

WORKFLOW = "erase-library"


async def request_erasure(
    connection: Connection, principal: Principal, *, confirm: str, now: datetime
) -> ErasureRequest:
    """End all access to the library at once, refund its unfinished jobs, and start its erasure.

    With a personal library, the account is erased too.
    """
    library_id = principal.library_id
    if confirm != library_id:
        raise invalid_field("confirm", "This must be the id of the library, as GET /v1/library returns it.")
    if principal.workspace_id is None:
        await _require_no_abandoned_workspace(connection, principal.user_id)
    # Jobs first: their locks are taken in the same order as by every other transaction.
    await cancel_all_jobs(connection, library_id, now=now)
    if not await connection.fetchval("SELECT begin_erasure($1, $2)", library_id, now):
        raise CutroomError(Code.CONFLICT, message="The library is already being erased.")
    request = ErasureRequest(
        erasure_id=new_id(now.timestamp()),
        library_id=library_id,
        user_ids=[principal.user_id] if principal.workspace_id is None else [],
        requested_at=now.isoformat(),
    )
    await enqueue(
        connection,
        WorkflowStart(
            library_id=library_id,
            workflow=WORKFLOW,
            workflow_id=f"{WORKFLOW}_{library_id}",
            argument=asdict(request),
        ),
    )
    return request


async def _require_no_abandoned_workspace(connection: Connection, user_id: str) -> None:
    rows = await connection.fetch("SELECT library_id FROM workspaces_owned_alone($1)", user_id)
    if rows:
        raise CutroomError(
            Code.FAILED_PRECONDITION,
            message="This account is the only owner of a workspace. Add another owner, or erase the workspace first.",
            details={"workspaceIds": [row["library_id"] for row in rows]},
        )
