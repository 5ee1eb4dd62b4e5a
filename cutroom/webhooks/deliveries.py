"""Starts deliveries of events to endpoints, builds their requests, and records their attempts."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from cutroom.accounts.service import is_active_member
from cutroom.platform.db import Connection, insert
from cutroom.platform.outbox import WorkflowStart, enqueue_all
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.task_queues import TaskQueue
from cutroom.webhooks import health
from cutroom.webhooks.rules import (
    TEST_EVENT,
    DeliveryOutcome,
    DeliveryState,
    data_of_test_event,
    next_delay,
    state_after,
    without_root_dot,
)
from cutroom.webhooks.signing import SECRET_PURPOSE

DELIVERY_WORKFLOW = "deliver-webhook"


@dataclass(frozen=True, slots=True)
class Delivery:
    """Identifies the delivery of one event to one endpoint; no content, because workflow histories contain it."""

    library_id: str
    event_id: str
    endpoint_id: str
    offset: int = 0  # how many numbers the attempts before a redelivery have used
    retries: bool = True

    @property
    def workflow_id(self) -> str:
        first = f"deliver_{self.event_id}_{self.endpoint_id}"
        return f"{first}_{self.offset}" if self.offset else first

    @property
    def start(self) -> WorkflowStart:
        argument: dict[str, Any] = {
            "library_id": self.library_id,
            "event_id": self.event_id,
            "endpoint_id": self.endpoint_id,
        }
        if self.offset:
            argument["offset"] = self.offset
        if not self.retries:
            argument["retries"] = False
        return WorkflowStart(
            library_id=self.library_id,
            workflow=DELIVERY_WORKFLOW,
            workflow_id=self.workflow_id,
            argument=argument,
            queue=TaskQueue.EGRESS,
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


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """An attempt to record; its number counts from 1 in each run of the delivery's workflow."""

    number: int
    at: datetime
    status: int | None
    outcome: DeliveryOutcome
    milliseconds: int
    retry_after_seconds: int | None = None
    url: str | None = None
    response_body: str | None = None


async def start_deliveries(
    connection: Connection,
    library_id: str,
    event_id: str,
    *,
    type: str,  # noqa: A002 (the field name in the payload)
    now: datetime,
) -> None:
    """Start the delivery of a new event to every endpoint that receives its type, in the caller's transaction."""
    rows = await connection.fetch(
        """INSERT INTO webhook_deliveries
               (library_id, endpoint_id, event_id, event_type, event_at, state, updated_at)
           SELECT library_id, id, $2::text, $3::text, $4::timestamptz, 'pending', $4 FROM webhook_endpoints
           WHERE library_id = $1 AND $3 = ANY (events) AND deleted_at IS NULL AND disabled_at IS NULL
           RETURNING endpoint_id""",
        library_id,
        event_id,
        type,
        now,
    )
    await enqueue_all(connection, [Delivery(library_id, event_id, row["endpoint_id"]).start for row in rows])


async def recorded_attempt(connection: Connection, delivery: Delivery, number: int) -> AttemptResult | None:
    """Return the result of an attempt that was recorded before the worker could report it."""
    row = await connection.fetchrow(
        """SELECT outcome, retry_after_seconds FROM delivery_attempts
           WHERE library_id = $1 AND event_id = $2 AND endpoint_id = $3 AND number = $4""",
        delivery.library_id,
        delivery.event_id,
        delivery.endpoint_id,
        delivery.offset + number,
    )
    return None if row is None else AttemptResult(DeliveryOutcome(row["outcome"]), row["retry_after_seconds"])


async def load_webhook(connection: Connection, delivery: Delivery, *, secret_box: SecretBox) -> OutgoingWebhook | None:
    """Load the request to send; None if the endpoint was deleted or disabled, or the event has expired.

    Also None if the library is suspended, if the user who registered the endpoint is not a member, as a request of
    theirs may have been running while they were removed, and if a redelivery has replaced this run.
    """
    row = await connection.fetchrow(
        """SELECT w.url, w.user_id, w.sealed_secret, coalesce(d.event_type, e.type) AS type, e.payload,
                  coalesce(d.event_at, e.created_at) AS at,
                  CASE WHEN w.previous_secret_until > now() THEN w.sealed_previous_secret END AS sealed_previous_secret
           FROM webhook_endpoints w
           LEFT JOIN webhook_deliveries d ON d.library_id = w.library_id AND d.endpoint_id = w.id AND d.event_id = $2
           LEFT JOIN published_events e ON e.library_id = w.library_id AND e.id = $2
           WHERE w.library_id = $1 AND w.id = $3 AND w.deleted_at IS NULL AND w.disabled_at IS NULL
             AND coalesce(d.attempt_offset, 0) = $4""",
        delivery.library_id,
        delivery.event_id,
        delivery.endpoint_id,
        delivery.offset,
    )
    data = None if row is None else event_data(row["type"], row["payload"], endpoint_id=delivery.endpoint_id)
    if row is None or data is None or not await is_active_member(connection, delivery.library_id, row["user_id"]):
        return None
    sealed = [each for each in (row["sealed_secret"], row["sealed_previous_secret"]) if each is not None]
    opened = [secret_box.unseal(SECRET_PURPOSE, each, context=delivery.endpoint_id).decode() for each in sealed]
    body = event_body(row["type"], data, at=row["at"])
    return OutgoingWebhook(url=without_root_dot(row["url"]), body=body, secrets=tuple(opened))


def event_data(type_: str | None, payload: dict[str, Any] | None, *, endpoint_id: str) -> dict[str, Any] | None:
    """The data of an event; test events have no row. None if the event is gone."""
    if payload is None and type_ == TEST_EVENT:
        return data_of_test_event(endpoint_id)
    return payload


def event_body(event_type: str, data: Mapping[str, Any], *, at: datetime) -> bytes:
    """Serialize an event; the bytes are identical for every attempt."""
    timestamp = at.astimezone(UTC).isoformat().replace("+00:00", "Z")
    event = {"type": event_type, "timestamp": timestamp, "data": data}
    return json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode()


async def record_attempt(connection: Connection, delivery: Delivery, attempt: AttemptRecord) -> None:
    """Record an attempt and what it means for its delivery and its endpoint."""
    row = {
        "library_id": delivery.library_id,
        "event_id": delivery.event_id,
        "endpoint_id": delivery.endpoint_id,
        "number": delivery.offset + attempt.number,
        "at": attempt.at,
        "status": attempt.status,
        "outcome": attempt.outcome.value,
        "milliseconds": attempt.milliseconds,
        "retry_after_seconds": attempt.retry_after_seconds,
        "url": attempt.url,
        "response_body": attempt.response_body,
    }
    await insert(connection, "delivery_attempts", row)
    delay = next_delay(attempt.number, retry_after_seconds=attempt.retry_after_seconds, retries=delivery.retries)
    state = state_after(attempt.outcome, will_retry=delay is not None)
    await _set_state(connection, delivery, state, at=attempt.at, delay=delay)
    await health.note_attempt(
        connection,
        delivery.library_id,
        delivery.endpoint_id,
        outcome=attempt.outcome,
        gave_up=state is DeliveryState.FAILED,
        is_test=not delivery.retries,
        at=attempt.at,
    )


async def withdraw(connection: Connection, delivery: Delivery, *, now: datetime) -> None:
    """Record that a delivery ends without another attempt, unless a redelivery has replaced it."""
    await connection.execute(
        """UPDATE webhook_deliveries SET state = 'failed', next_attempt_at = NULL, updated_at = $5
           WHERE library_id = $1 AND endpoint_id = $2 AND event_id = $3 AND attempt_offset = $4
             AND state = 'pending'""",
        delivery.library_id,
        delivery.endpoint_id,
        delivery.event_id,
        delivery.offset,
        now,
    )


async def _set_state(
    connection: Connection, delivery: Delivery, state: DeliveryState, *, at: datetime, delay: timedelta | None
) -> None:
    next_attempt_at = at + delay if state is DeliveryState.PENDING and delay is not None else None
    done = await connection.execute(
        """UPDATE webhook_deliveries SET state = $5, next_attempt_at = $6, updated_at = $7
           WHERE library_id = $1 AND endpoint_id = $2 AND event_id = $3 AND attempt_offset = $4""",
        delivery.library_id,
        delivery.endpoint_id,
        delivery.event_id,
        delivery.offset,
        state.value,
        next_attempt_at,
        at,
    )
    if done == "UPDATE 0":  # replaced by a redelivery, or published by a process of 0.1.0
        await connection.execute(
            """INSERT INTO webhook_deliveries
                   (library_id, endpoint_id, event_id, event_type, event_at, state, next_attempt_at, updated_at)
               SELECT library_id, $2::text, id, type, created_at, $4::text, $5::timestamptz, $6::timestamptz
               FROM published_events
               WHERE library_id = $1 AND id = $3
               ON CONFLICT DO NOTHING""",
            delivery.library_id,
            delivery.endpoint_id,
            delivery.event_id,
            state.value,
            next_attempt_at,
            at,
        )


async def delete_deliveries(connection: Connection, library_id: str, event_ids: list[str]) -> None:
    """Delete the deliveries of deleted events, with their attempts."""
    for table in ("delivery_attempts", "webhook_deliveries"):
        await connection.execute(
            f"DELETE FROM {table} WHERE library_id = $1 AND event_id = ANY ($2)",  # noqa: S608 (no caller's text)
            library_id,
            event_ids,
        )
