"""Lists deliveries of an endpoint, sends test events and redelivers events."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import asyncpg

from cutroom.accounts.principals import Principal
from cutroom.errors import not_found
from cutroom.events.rules import TEST_TYPE
from cutroom.events.service import send_to_endpoint
from cutroom.platform.db import Connection
from cutroom.webhooks.rules import FINAL_OUTCOMES, DeliveryOutcome

MAX_DELIVERIES = 100  # listed, newest first
MAX_ATTEMPTS = 2_000
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


@dataclass(frozen=True, slots=True)
class Attempt:
    """One delivery attempt."""

    number: int
    at: datetime
    status: int | None
    outcome: DeliveryOutcome
    milliseconds: int


@dataclass(frozen=True, slots=True)
class LoggedDelivery:
    """The delivery of one event to one endpoint, with its attempts."""

    event_id: str
    type: str
    at: datetime
    attempts: tuple[Attempt, ...]

    @property
    def state(self) -> str:
        """The delivery state as a job status, which the console knows how to render."""
        if not self.attempts:
            return "queued"
        last = self.attempts[-1].outcome
        if last is DeliveryOutcome.DELIVERED:
            return "ready"
        return "failed" if last in FINAL_OUTCOMES else "processing"


async def find_endpoint(connection: Connection, principal: Principal, endpoint_id: str) -> EndpointDetails:
    row = await connection.fetchrow(
        """SELECT id, url, user_id, events, created_at, disabled_reason FROM webhook_endpoints
           WHERE library_id = $1 AND id = $2 AND deleted_at IS NULL""",
        principal.library_id,
        endpoint_id,
    )
    if row is None:
        raise not_found()
    return EndpointDetails(**{**dict(row), "events": tuple(row["events"])})


async def list_deliveries(connection: Connection, principal: Principal, endpoint_id: str) -> list[LoggedDelivery]:
    """List deliveries, newest first, within the event retention."""
    attempts = await connection.fetch(
        """SELECT a.event_id, a.number, a.at, a.status, a.outcome, a.milliseconds, e.type, e.created_at
           FROM delivery_attempts a JOIN published_events e ON e.library_id = a.library_id AND e.id = a.event_id
           WHERE a.library_id = $1 AND a.endpoint_id = $2 ORDER BY a.event_id DESC, a.number LIMIT $3""",
        principal.library_id,
        endpoint_id,
        MAX_ATTEMPTS,
    )
    found: dict[str, LoggedDelivery] = {}
    for row in attempts:
        delivery = found.get(row["event_id"]) or LoggedDelivery(row["event_id"], row["type"], row["created_at"], ())
        attempt = Attempt(row["number"], row["at"], row["status"], DeliveryOutcome(row["outcome"]), row["milliseconds"])
        found[row["event_id"]] = LoggedDelivery(
            delivery.event_id, delivery.type, delivery.at, (*delivery.attempts, attempt)
        )
    return list(found.values())[:MAX_DELIVERIES]


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


async def send_test_event(connection: Connection, principal: Principal, endpoint_id: str, *, now: datetime) -> str:
    """Send a test event to one endpoint and return the event's id."""
    endpoint = await find_endpoint(connection, principal, endpoint_id)
    payload = {"endpointId": endpoint.id, "message": "This is a test event."}
    return await send_to_endpoint(connection, principal.library_id, endpoint.id, type_=TEST_TYPE, data=payload, now=now)


async def redeliver(
    connection: Connection, principal: Principal, endpoint_id: str, event_id: str, *, now: datetime
) -> str:
    """Send an event to this endpoint again, under a new event id."""
    endpoint = await find_endpoint(connection, principal, endpoint_id)
    row = await connection.fetchrow(
        "SELECT type, payload FROM published_events WHERE library_id = $1 AND id = $2", principal.library_id, event_id
    )
    if row is None:
        raise not_found()
    return await send_to_endpoint(
        connection, principal.library_id, endpoint.id, type_=row["type"], data=row["payload"], now=now
    )
