"""Reads the delivery log of an endpoint: what was sent when, and what it responded."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import asyncpg

from cutroom.accounts.principals import Principal
from cutroom.errors import not_found
from cutroom.platform.db import Connection
from cutroom.platform.egress.client import USER_AGENT
from cutroom.webhooks.deliveries import event_body, event_data
from cutroom.webhooks.rules import MAX_RESPONSE_EXCERPT_BYTES, DeliveryOutcome, DeliveryState
from cutroom.webhooks.schemas import (
    DeliveryRequest,
    DeliveryResponse,
    LoggedAttempt,
    WebhookDelivery,
    WebhookDeliverySummary,
)
from cutroom.webhooks.signing import CONTENT_TYPE, message_headers

MAX_LOGGED_ATTEMPTS = 100  # of one delivery, newest first
MAX_JOB_DELIVERIES = 100  # in the timeline of a job


@dataclass(frozen=True, slots=True)
class EndpointDetails:
    """A registered endpoint."""

    id: str
    url: str
    user_id: str
    events: tuple[str, ...]
    created_at: datetime
    disabled_reason: str | None
    failing_since: datetime | None
    previous_secret_until: datetime | None


async def find_endpoint(connection: Connection, principal: Principal, endpoint_id: str) -> EndpointDetails:
    row = await connection.fetchrow(
        """SELECT id, url, user_id, events, created_at, disabled_reason, failing_since,
                  CASE WHEN previous_secret_until > now() THEN previous_secret_until END AS previous_secret_until
           FROM webhook_endpoints WHERE library_id = $1 AND id = $2 AND deleted_at IS NULL""",
        principal.library_id,
        endpoint_id,
    )
    if row is None:
        raise not_found()
    return EndpointDetails(**{**dict(row), "events": tuple(row["events"])})


async def list_deliveries(
    connection: Connection,
    principal: Principal,
    endpoint_id: str,
    *,
    limit: int,
    state: DeliveryState | None = None,
    before: str | None = None,
) -> tuple[list[WebhookDeliverySummary], bool]:
    """List deliveries, newest event first, and whether there are more."""
    await find_endpoint(connection, principal, endpoint_id)
    rows = await connection.fetch(
        """SELECT d.event_id, d.event_type, d.event_at, d.state, d.next_attempt_at, a.count, a.last
           FROM webhook_deliveries d CROSS JOIN LATERAL (
               SELECT count(*) AS count,
                      (array_agg(to_jsonb(t) - 'response_body' ORDER BY t.number DESC))[1] AS last
               FROM delivery_attempts t
               WHERE t.library_id = d.library_id AND t.event_id = d.event_id AND t.endpoint_id = d.endpoint_id) a
           WHERE d.library_id = $1 AND d.endpoint_id = $2 AND ($3::text IS NULL OR d.state = $3)
             AND ($4::text IS NULL OR d.event_id < $4)
           ORDER BY d.event_id DESC LIMIT $5""",
        principal.library_id,
        endpoint_id,
        state.value if state is not None else None,
        before,
        limit + 1,
    )
    found = [
        WebhookDeliverySummary(
            event_id=row["event_id"],
            type=row["event_type"],
            status=row["state"],
            created_at=row["event_at"],
            next_attempt_at=row["next_attempt_at"],
            attempt_count=row["count"],
            last_attempt_at=datetime.fromisoformat(row["last"]["at"]) if row["last"] else None,
            last_status=row["last"]["status"] if row["last"] else None,
            last_outcome=row["last"]["outcome"] if row["last"] else None,
        )
        for row in rows[:limit]
    ]
    return found, len(rows) > limit


async def get_delivery(
    connection: Connection, principal: Principal, endpoint_id: str, event_id: str
) -> WebhookDelivery:
    """One delivery with its body and its attempts."""
    endpoint = await find_endpoint(connection, principal, endpoint_id)
    row = await connection.fetchrow(
        """SELECT d.event_type, d.event_at, d.state, d.next_attempt_at, e.payload FROM webhook_deliveries d
           LEFT JOIN published_events e ON e.library_id = d.library_id AND e.id = d.event_id
           WHERE d.library_id = $1 AND d.endpoint_id = $2 AND d.event_id = $3""",
        principal.library_id,
        endpoint_id,
        event_id,
    )
    if row is None:
        raise not_found()
    attempts = await connection.fetch(
        """SELECT number, at, status, outcome, milliseconds, url, response_body FROM delivery_attempts
           WHERE library_id = $1 AND endpoint_id = $2 AND event_id = $3 ORDER BY number DESC LIMIT $4""",
        principal.library_id,
        endpoint_id,
        event_id,
        MAX_LOGGED_ATTEMPTS,
    )
    data = event_data(row["event_type"], row["payload"], endpoint_id=endpoint_id)
    return WebhookDelivery(
        event_id=event_id,
        type=row["event_type"],
        status=row["state"],
        created_at=row["event_at"],
        next_attempt_at=row["next_attempt_at"],
        body=event_body(row["event_type"], data, at=row["event_at"]).decode() if data is not None else None,
        attempts=_attempts(attempts, event_id=event_id, url=endpoint.url),
    )


def _attempts(rows: Sequence[asyncpg.Record], *, event_id: str, url: str) -> list[LoggedAttempt]:
    """The attempts, newest first. Headers follow from the attempt; the signature is left out."""
    return [
        LoggedAttempt(
            number=row["number"],
            at=row["at"],
            outcome=DeliveryOutcome(row["outcome"]),
            duration_ms=row["milliseconds"],
            request=DeliveryRequest(
                url=row["url"] or url,
                headers={
                    "content-type": CONTENT_TYPE,
                    "user-agent": USER_AGENT,
                    **message_headers(message_id=event_id, at=row["at"]),
                },
            ),
            response=None if row["status"] is None else _response(row),
        )
        for row in rows
    ]


def _response(row: asyncpg.Record) -> DeliveryResponse:
    body: str | None = row["response_body"]
    return DeliveryResponse(
        status=row["status"],
        body=body,
        truncated=body is not None and len(body.encode()) >= MAX_RESPONSE_EXCERPT_BYTES,
    )


async def list_job_deliveries(
    connection: Connection, library_id: str, job_id: str, *, ended_at: Sequence[datetime]
) -> list[asyncpg.Record]:
    """List the attempts to deliver the events of a job, given the times at which its attempts have ended."""
    return await connection.fetch(
        """SELECT e.id AS event_id, a.endpoint_id, e.type, a.number, a.at, a.outcome, a.status, a.milliseconds
           FROM published_events e JOIN delivery_attempts a ON a.library_id = e.library_id AND a.event_id = e.id
           WHERE e.library_id = $1 AND e.created_at = ANY ($3) AND e.payload ->> 'id' = $2 AND e.type LIKE 'job.%'
           ORDER BY a.at, a.number LIMIT $4""",
        library_id,
        job_id,
        list(ended_at),
        MAX_JOB_DELIVERIES,
    )
