"""Manages webhook endpoints and records delivery attempts."""

import base64
import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg

from cutroom.accounts.principals import Principal
from cutroom.accounts.service import is_active_member
from cutroom.errors import Code, CutroomError, not_found
from cutroom.events import service as events
from cutroom.events.rules import DEFAULT_TYPES
from cutroom.events.service import Delivery
from cutroom.platform.db import Connection, insert, update
from cutroom.platform.ids import new_id
from cutroom.platform.secret_box import SecretBox
from cutroom.web.revisions import Revised, require_match
from cutroom.web.schema import changes_of
from cutroom.webhooks.rules import MAX_ENDPOINTS, DeliveryOutcome, without_root_dot
from cutroom.webhooks.schemas import (
    CreatedWebhookEndpoint,
    NewWebhookEndpoint,
    WebhookEndpoint,
    WebhookEndpointPatch,
)
from cutroom.webhooks.signing import SECRET_PREFIX

SECRET_PURPOSE = "webhook-secret"  # noqa: S105 (a purpose name, not a secret)
DISABLED_BY_USER = "Disabled by its owner."
MEMBER_REMOVED = "The member who registered it was removed from the workspace."
DISABLE_ACTION = "webhookEndpoint.disable"  # in the audit log
ROTATE_ACTION = "webhookEndpoint.rotateSecret"
SECRET_GRACE_PERIOD = timedelta(hours=24)
_SECRET_BYTES = 32
_ENDPOINT = """SELECT id, url, events, disabled_at IS NULL AS enabled, disabled_reason, user_id, revision
    FROM webhook_endpoints WHERE library_id = $1 AND id = $2 AND deleted_at IS NULL"""


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
    secret = _new_secret()
    row = {
        "library_id": principal.library_id,
        "id": endpoint_id,
        "user_id": principal.user_id,
        "url": endpoint.url,
        "events": list(DEFAULT_TYPES),
        "sealed_secret": secret_box.seal(SECRET_PURPOSE, secret.encode(), context=endpoint_id),
        "created_at": now,
    }
    try:
        await insert(connection, "webhook_endpoints", row)
    except asyncpg.UniqueViolationError as error:
        raise _already_registered() from error
    return CreatedWebhookEndpoint(
        id=endpoint_id, url=endpoint.url, events=list(DEFAULT_TYPES), enabled=True, secret=secret
    )


def _new_secret() -> str:
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def _already_registered() -> CutroomError:
    return CutroomError(Code.ALREADY_EXISTS, message="This URL is already registered.")


async def list_endpoints(connection: Connection, principal: Principal) -> list[WebhookEndpoint]:
    rows = await connection.fetch(
        """SELECT id, url, events, disabled_at IS NULL AS enabled, disabled_reason FROM webhook_endpoints
           WHERE library_id = $1 AND deleted_at IS NULL ORDER BY id DESC LIMIT $2""",
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
    row = await _lock(connection, principal, endpoint_id)
    if row is None:
        raise not_found()
    require_match(if_match, row["revision"])
    changes = changes_of(patch)
    if (enabled := changes.pop("enabled", row["enabled"])) != row["enabled"]:
        changes["disabled_at"] = None if enabled else now
        changes["disabled_reason"] = None if enabled else DISABLED_BY_USER
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
    row = await _lock(connection, principal, endpoint_id)
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


@dataclass(frozen=True, slots=True)
class RotatedSecret:
    """A new signing secret; the previous one signs too until its time."""

    library_id: str
    secret: str
    previous_until: datetime


async def rotate_secret(
    connection: Connection, endpoint_id: str, *, secret_box: SecretBox, grace_period: timedelta, now: datetime
) -> RotatedSecret:
    """Replace the signing secret of an endpoint of any library; deliveries are signed with both in the grace period."""
    row = await connection.fetchrow(
        "SELECT library_id, sealed_secret FROM webhook_endpoints WHERE id = $1 AND deleted_at IS NULL FOR UPDATE",
        endpoint_id,
    )
    if row is None:
        raise not_found()
    rotated = RotatedSecret(row["library_id"], _new_secret(), now + grace_period)
    columns = {
        "sealed_secret": secret_box.seal(SECRET_PURPOSE, rotated.secret.encode(), context=endpoint_id),
        "sealed_previous_secret": row["sealed_secret"],
        "previous_secret_until": rotated.previous_until,
    }
    await update(connection, "webhook_endpoints", rotated.library_id, endpoint_id, columns=columns)
    return rotated


async def _lock(connection: Connection, principal: Principal, endpoint_id: str) -> asyncpg.Record | None:
    """Lock an endpoint for a change; raise PERMISSION_DENIED if another user of the library created it."""
    row = await connection.fetchrow(f"{_ENDPOINT} FOR UPDATE", principal.library_id, endpoint_id)
    if row is not None and row["user_id"] != principal.user_id:
        raise CutroomError(Code.PERMISSION_DENIED)
    return row


async def delete_video_events(connection: Connection, library_id: str, video_id: str) -> None:
    """Delete the events of a video and of its jobs, with their delivery attempts."""
    deleted = await events.delete_video_events(connection, library_id, video_id)
    await connection.execute(
        "DELETE FROM delivery_attempts WHERE library_id = $1 AND event_id = ANY ($2)", library_id, deleted
    )


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """The outcome of an attempt, and the endpoint's Retry-After."""

    outcome: DeliveryOutcome
    retry_after_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class OutgoingWebhook:
    """The request to send."""

    url: str
    body: bytes
    secrets: tuple[str, ...]


async def recorded_attempt(connection: Connection, delivery: Delivery, number: int) -> AttemptResult | None:
    """Return the result of an attempt that was recorded before the worker could report it."""
    row = await connection.fetchrow(
        """SELECT outcome, retry_after_seconds FROM delivery_attempts
           WHERE library_id = $1 AND event_id = $2 AND endpoint_id = $3 AND number = $4""",
        delivery.library_id,
        delivery.event_id,
        delivery.endpoint_id,
        number,
    )
    return None if row is None else AttemptResult(DeliveryOutcome(row["outcome"]), row["retry_after_seconds"])


async def load_webhook(connection: Connection, delivery: Delivery, *, secret_box: SecretBox) -> OutgoingWebhook | None:
    """Load the request to send; None if the endpoint was deleted or disabled, or the event has expired.

    Also None if the library is suspended, or if the user who registered the endpoint is not a member: a request of
    theirs may have been running while they were removed.
    """
    row = await connection.fetchrow(
        """SELECT w.url, w.user_id, w.sealed_secret, e.type, e.payload, e.created_at,
                  CASE WHEN w.previous_secret_until > now() THEN w.sealed_previous_secret END AS sealed_previous_secret
           FROM published_events e JOIN webhook_endpoints w ON w.library_id = e.library_id
           WHERE e.library_id = $1 AND e.id = $2 AND w.id = $3
             AND w.deleted_at IS NULL AND w.disabled_at IS NULL""",
        delivery.library_id,
        delivery.event_id,
        delivery.endpoint_id,
    )
    if row is None or not await is_active_member(connection, delivery.library_id, row["user_id"]):
        return None
    sealed = [each for each in (row["sealed_secret"], row["sealed_previous_secret"]) if each is not None]
    opened = [secret_box.unseal(SECRET_PURPOSE, each, context=delivery.endpoint_id).decode() for each in sealed]
    body = event_body(row["type"], row["payload"], at=row["created_at"])
    return OutgoingWebhook(url=without_root_dot(row["url"]), body=body, secrets=tuple(opened))


def event_body(event_type: str, data: Mapping[str, Any], *, at: datetime) -> bytes:
    """Serialize an event; the bytes are identical for every attempt."""
    timestamp = at.astimezone(UTC).isoformat().replace("+00:00", "Z")
    event = {"type": event_type, "timestamp": timestamp, "data": data}
    return json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode()


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """An attempt to record."""

    number: int
    at: datetime
    status: int | None
    outcome: DeliveryOutcome
    milliseconds: int
    retry_after_seconds: int | None = None


async def record_attempt(connection: Connection, delivery: Delivery, attempt: AttemptRecord) -> None:
    """Record an attempt; a 410 response disables the endpoint."""
    await insert(connection, "delivery_attempts", {**asdict(delivery), **asdict(attempt)})
    if attempt.outcome is DeliveryOutcome.GONE:
        await connection.execute(
            """UPDATE webhook_endpoints SET disabled_at = $3, disabled_reason = $4
               WHERE library_id = $1 AND id = $2 AND disabled_at IS NULL""",
            delivery.library_id,
            delivery.endpoint_id,
            attempt.at,
            "The endpoint returned 410 Gone.",
        )
