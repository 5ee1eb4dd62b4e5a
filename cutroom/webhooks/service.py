"""Registering and retiring webhook endpoints, announcing events to them, and keeping account of the deliveries."""

import base64
import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import asyncpg

from cutroom.accounts.principals import Principal
from cutroom.errors import Code, CutroomError, not_found
from cutroom.platform.db import Connection, insert
from cutroom.platform.ids import new_id
from cutroom.platform.outbox import WorkflowStart, enqueue
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.temporal import Queue
from cutroom.webhooks.rules import EVENTS, MAX_ENDPOINTS, Outcome, without_root_dot
from cutroom.webhooks.schemas import CreatedWebhookEndpoint, NewWebhookEndpoint, WebhookEndpoint
from cutroom.webhooks.signing import SECRET_PREFIX

SECRET_PURPOSE = "webhook-secret"  # noqa: S105 (the name of a purpose)
DELIVERY_WORKFLOW = "deliver-webhook"
_SECRET_BYTES = 32


async def create_endpoint(
    connection: Connection,
    principal: Principal,
    wanted: NewWebhookEndpoint,
    *,
    secrecy: SecretBox,
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


@dataclass(frozen=True, slots=True)
class Delivery:
    """One event on its way to one endpoint; ids only, for it is kept in workflow histories."""

    library_id: str
    event_id: str
    endpoint_id: str

    @property
    def workflow_id(self) -> str:
        return f"deliver_{self.event_id}_{self.endpoint_id}"


async def announce(
    connection: Connection,
    library_id: str,
    *,
    type: str,  # noqa: A002 (the contract's word for it)
    data: Mapping[str, Any],
    now: datetime,
) -> str:
    """Record what happened and have every endpoint told of it, if the caller's transaction commits; the event's id.

    `data` is the Job or the Video as the API returns it, without signed URLs.
    """
    event_id = new_id(now.timestamp())
    row = {"library_id": library_id, "id": event_id, "type": type, "payload": dict(data), "created_at": now}
    await insert(connection, "events", row)
    endpoints = await connection.fetch(
        """SELECT id FROM webhook_endpoints
           WHERE library_id = $1 AND $2 = ANY (events) AND deleted_at IS NULL AND disabled_at IS NULL""",
        library_id,
        type,
    )
    for endpoint in endpoints:
        delivery = Delivery(library_id, event_id, endpoint_id=endpoint["id"])
        await enqueue(
            connection,
            WorkflowStart(
                library_id=library_id,
                workflow=DELIVERY_WORKFLOW,
                workflow_id=delivery.workflow_id,
                argument=asdict(delivery),
                queue=Queue.EGRESS,
            ),
        )
    return event_id


@dataclass(frozen=True, slots=True)
class Attempted:
    """How an attempt ended, and how long the receiver asked us to wait."""

    outcome: Outcome
    asked_pause_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class Parcel:
    """What is sent, and where to."""

    url: str
    body: bytes
    secrets: tuple[str, ...]


async def recorded_attempt(connection: Connection, delivery: Delivery, number: int) -> Attempted | None:
    """An attempt that was made and recorded before the worker could say so."""
    row = await connection.fetchrow(
        """SELECT outcome, asked_pause_seconds FROM delivery_attempts
           WHERE library_id = $1 AND event_id = $2 AND endpoint_id = $3 AND number = $4""",
        delivery.library_id,
        delivery.event_id,
        delivery.endpoint_id,
        number,
    )
    return None if row is None else Attempted(Outcome(row["outcome"]), row["asked_pause_seconds"])


async def parcel_for(connection: Connection, delivery: Delivery, *, secrecy: SecretBox) -> Parcel | None:
    """What to send now; nothing when the endpoint was deleted or disabled, or the event is past its retention."""
    row = await connection.fetchrow(
        """SELECT w.url, w.sealed_secret, e.type, e.payload, e.created_at
           FROM events e JOIN webhook_endpoints w ON w.library_id = e.library_id
           WHERE e.library_id = $1 AND e.id = $2 AND w.id = $3
             AND w.deleted_at IS NULL AND w.disabled_at IS NULL""",
        delivery.library_id,
        delivery.event_id,
        delivery.endpoint_id,
    )
    if row is None:
        return None
    secret = secrecy.unseal(SECRET_PURPOSE, row["sealed_secret"], context=delivery.endpoint_id).decode()
    body = event_body(row["type"], row["payload"], at=row["created_at"])
    return Parcel(url=without_root_dot(row["url"]), body=body, secrets=(secret,))


def event_body(event_type: str, data: Mapping[str, Any], *, at: datetime) -> bytes:
    """The same bytes for every attempt, so that a receiver may compare them."""
    timestamp = at.astimezone(UTC).isoformat().replace("+00:00", "Z")
    event = {"type": event_type, "timestamp": timestamp, "data": data}
    return json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode()


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """What is kept of an attempt."""

    number: int
    at: datetime
    status: int | None
    outcome: Outcome
    milliseconds: int
    asked_pause_seconds: int | None = None


async def record_attempt(connection: Connection, delivery: Delivery, made: AttemptRecord) -> None:
    """Keep account of an attempt; a receiver that is gone for good disables its endpoint."""
    await insert(connection, "delivery_attempts", {**asdict(delivery), **asdict(made)})
    if made.outcome is Outcome.GONE:
        await connection.execute(
            """UPDATE webhook_endpoints SET disabled_at = $3, disabled_reason = $4
               WHERE library_id = $1 AND id = $2 AND disabled_at IS NULL""",
            delivery.library_id,
            delivery.endpoint_id,
            made.at,
            "The receiver answered 410 Gone.",
        )
