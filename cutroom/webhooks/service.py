"""Registering, listing and retiring webhook endpoints."""

import base64
import secrets
from datetime import datetime

import asyncpg

from cutroom.accounts.principals import Principal
from cutroom.errors import Code, CutroomError, not_found
from cutroom.platform.db import Connection, insert
from cutroom.platform.ids import new_id
from cutroom.platform.secrecy import Secrecy
from cutroom.webhooks.rules import EVENTS, MAX_ENDPOINTS
from cutroom.webhooks.schemas import CreatedWebhookEndpoint, NewWebhookEndpoint, WebhookEndpoint

SECRET_PREFIX = "whsec_"  # noqa: S105 (a prefix, not a secret)
SECRET_PURPOSE = "webhook-secret"  # noqa: S105
_SECRET_BYTES = 32


async def create_endpoint(
    connection: Connection,
    principal: Principal,
    wanted: NewWebhookEndpoint,
    *,
    secrecy: Secrecy,
    now: datetime,
) -> CreatedWebhookEndpoint:
    """Register a destination; its secret leaves the house this once."""
    if len(await list_endpoints(connection, principal)) >= MAX_ENDPOINTS:
        raise CutroomError(Code.CONFLICT, details={"maxEndpoints": MAX_ENDPOINTS})
    endpoint_id = new_id()
    secret = SECRET_PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()
    row = {
        "library_id": principal.library_id,
        "id": endpoint_id,
        "user_id": principal.user_id,
        "url": wanted.url,
        "events": list(EVENTS),
        "sealed_secret": secrecy.seal(SECRET_PURPOSE, secret.encode(), context=endpoint_id),
        "created_at": now,
    }
    try:
        await insert(connection, "webhook_endpoints", row)
    except asyncpg.UniqueViolationError as error:
        raise CutroomError(Code.ALREADY_EXISTS, message="This URL is registered already.") from error
    return CreatedWebhookEndpoint(id=endpoint_id, url=wanted.url, events=list(EVENTS), secret=secret)


async def list_endpoints(connection: Connection, principal: Principal) -> list[WebhookEndpoint]:
    rows = await connection.fetch(
        """SELECT id, url, events FROM webhook_endpoints
           WHERE library_id = $1 AND deleted_at IS NULL ORDER BY id DESC LIMIT $2""",
        principal.library_id,
        MAX_ENDPOINTS,
    )
    return [WebhookEndpoint(**dict(row)) for row in rows]


async def delete_endpoint(connection: Connection, principal: Principal, endpoint_id: str, *, now: datetime) -> None:
    """Retire an endpoint of the caller's own; one that belongs to somebody else is 403, wherever it is."""
    done = await connection.execute(
        """UPDATE webhook_endpoints SET deleted_at = $4
           WHERE library_id = $1 AND id = $2 AND user_id = $3 AND deleted_at IS NULL""",
        principal.library_id,
        endpoint_id,
        principal.user_id,
        now,
    )
    if done == "UPDATE 1":
        return
    if await connection.fetchval("SELECT webhook_endpoint_exists($1)", endpoint_id):
        raise CutroomError(Code.PERMISSION_DENIED)
    raise not_found()
