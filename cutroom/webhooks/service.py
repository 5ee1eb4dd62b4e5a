"""Manages webhook endpoints."""

from datetime import datetime

import asyncpg

from cutroom.accounts.principals import Principal
from cutroom.errors import Code, CutroomError, not_found
from cutroom.platform.db import Connection, insert, update
from cutroom.platform.ids import new_id
from cutroom.platform.secret_box import SecretBox
from cutroom.web.revisions import Revised, require_match
from cutroom.web.schema import changes_of
from cutroom.webhooks.rules import MAX_ENDPOINTS
from cutroom.webhooks.schemas import (
    CreatedWebhookEndpoint,
    NewWebhookEndpoint,
    WebhookEndpoint,
    WebhookEndpointPatch,
)
from cutroom.webhooks.signing import SECRET_PURPOSE, new_secret

DISABLED_BY_USER = "Disabled by its owner."
MEMBER_REMOVED = "The member who registered it was removed from the workspace."
DISABLE_ACTION = "webhookEndpoint.disable"  # in the audit log
_COLUMNS = """id, url, events, disabled_at IS NULL AS enabled, disabled_reason,
    CASE WHEN previous_secret_until > now() THEN previous_secret_until END AS previous_secret_until"""
_ENDPOINT = f"""SELECT {_COLUMNS}, user_id, revision
    FROM webhook_endpoints WHERE library_id = $1 AND id = $2 AND deleted_at IS NULL"""  # noqa: S608 (constant columns)


async def create_endpoint(
    connection: Connection,
    principal: Principal,
    endpoint: NewWebhookEndpoint,
    *,
    secret_box: SecretBox,
    now: datetime,
) -> CreatedWebhookEndpoint:
    """Register an endpoint; its secret is returned only here."""
    await connection.execute(  # an endpoint that no member can change anymore does not keep its URL
        """UPDATE webhook_endpoints SET deleted_at = $3
           WHERE library_id = $1 AND url = $2 AND deleted_at IS NULL AND disabled_reason = $4""",
        principal.library_id,
        endpoint.url,
        now,
        MEMBER_REMOVED,
    )
    if len(await list_endpoints(connection, principal)) >= MAX_ENDPOINTS:
        raise CutroomError(Code.CONFLICT, details={"maxEndpoints": MAX_ENDPOINTS})
    endpoint_id = new_id()
    secret = new_secret()
    row = {
        "library_id": principal.library_id,
        "id": endpoint_id,
        "user_id": principal.user_id,
        "url": endpoint.url,
        "events": list(endpoint.events),
        "sealed_secret": secret_box.seal(SECRET_PURPOSE, secret.encode(), context=endpoint_id),
        "created_at": now,
    }
    try:
        await insert(connection, "webhook_endpoints", row)
    except asyncpg.UniqueViolationError as error:
        raise _already_registered() from error
    return CreatedWebhookEndpoint(
        id=endpoint_id, url=endpoint.url, events=list(endpoint.events), enabled=True, secret=secret
    )


def _already_registered() -> CutroomError:
    return CutroomError(Code.ALREADY_EXISTS, message="This URL is already registered.")


async def list_endpoints(connection: Connection, principal: Principal) -> list[WebhookEndpoint]:
    rows = await connection.fetch(
        f"""SELECT {_COLUMNS} FROM webhook_endpoints
            WHERE library_id = $1 AND deleted_at IS NULL ORDER BY id DESC LIMIT $2""",  # noqa: S608 (constant columns)
        principal.library_id,
        MAX_ENDPOINTS,
    )
    return [WebhookEndpoint(**dict(row)) for row in rows]


async def get_endpoint(connection: Connection, principal: Principal, endpoint_id: str) -> Revised[WebhookEndpoint]:
    row = await connection.fetchrow(_ENDPOINT, principal.library_id, endpoint_id)
    if row is None:
        raise not_found()
    columns = {name: value for name, value in row.items() if name in WebhookEndpoint.model_fields}
    return Revised(WebhookEndpoint(**columns), row["revision"])


async def update_endpoint(
    connection: Connection,
    principal: Principal,
    endpoint_id: str,
    patch: WebhookEndpointPatch,
    *,
    if_match: str | None,
    now: datetime,
) -> Revised[WebhookEndpoint]:
    """Change an endpoint created by the caller."""
    row = await lock_own_endpoint(connection, principal, endpoint_id)
    if row is None:
        raise not_found()
    require_match(if_match, row["revision"])
    changes = changes_of(patch)
    if (enabled := changes.pop("enabled", row["enabled"])) != row["enabled"]:
        changes["disabled_at"] = None if enabled else now
        changes["disabled_reason"] = None if enabled else DISABLED_BY_USER
        if enabled:
            changes["failing_since"] = None
    try:
        if changes:
            await update(connection, "webhook_endpoints", principal.library_id, endpoint_id, columns=changes)
    except asyncpg.UniqueViolationError as error:
        raise _already_registered() from error
    return await get_endpoint(connection, principal, endpoint_id)


async def delete_endpoint(
    connection: Connection, principal: Principal, endpoint_id: str, *, if_match: str | None = None, now: datetime
) -> str:
    """Delete an endpoint created by the caller and return its URL.

    Raises PERMISSION_DENIED for one of any other user, of any library.
    """
    row = await lock_own_endpoint(connection, principal, endpoint_id)
    if row is None:
        exists = await connection.fetchval("SELECT webhook_endpoint_exists($1)", endpoint_id)
        raise CutroomError(Code.PERMISSION_DENIED) if exists else not_found()
    require_match(if_match, row["revision"])
    await update(connection, "webhook_endpoints", principal.library_id, endpoint_id, columns={"deleted_at": now})
    url: str = row["url"]
    return url


async def disable_endpoints_of(connection: Connection, library_id: str, *, user_id: str, now: datetime) -> list[str]:
    """Disable the endpoints that a removed member registered; return those that were enabled."""
    rows = await connection.fetch(
        """SELECT id, disabled_at IS NULL AS enabled FROM webhook_endpoints
           WHERE library_id = $1 AND user_id = $2 AND deleted_at IS NULL ORDER BY id FOR UPDATE""",
        library_id,
        user_id,
    )
    for row in rows:
        columns = {"disabled_at": now, "disabled_reason": MEMBER_REMOVED}
        await update(connection, "webhook_endpoints", library_id, row["id"], columns=columns)
    return [row["id"] for row in rows if row["enabled"]]


async def lock_own_endpoint(connection: Connection, principal: Principal, endpoint_id: str) -> asyncpg.Record | None:
    """Lock an endpoint for a change; raise PERMISSION_DENIED if another user of the library created it."""
    row = await connection.fetchrow(f"{_ENDPOINT} FOR UPDATE", principal.library_id, endpoint_id)
    if row is not None and row["user_id"] != principal.user_id:
        raise CutroomError(Code.PERMISSION_DENIED)
    return row
