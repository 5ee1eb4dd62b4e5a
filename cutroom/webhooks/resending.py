"""Sends events again, and test events, to one endpoint at its owner's request."""

from datetime import datetime

from cutroom.accounts.principals import Principal
from cutroom.errors import Code, CutroomError, not_found
from cutroom.platform.db import Connection, insert
from cutroom.platform.ids import new_id
from cutroom.platform.outbox import enqueue, enqueue_all
from cutroom.web.limits import RateLimit
from cutroom.webhooks.deliveries import Delivery
from cutroom.webhooks.rules import MAX_ATTEMPT_OFFSET, MAX_RECOVERED, TEST_EVENT, DeliveryState
from cutroom.webhooks.service import lock_own_endpoint

# Of one library, in addition to its free work per day: endpoints are hosts of others, which must not be flooded.
SENDS_PER_HOUR = RateLimit(60, 3_600)  # redeliveries and test events
RECOVERIES_PER_HOUR = RateLimit(12, 3_600)
# Numbers from here on are free: a replaced run has at most one attempt in flight, with the number before.
_NEXT_OFFSET = """greatest(d.attempt_offset, (
    SELECT coalesce(max(a.number), 0) FROM delivery_attempts a
     WHERE a.library_id = d.library_id AND a.event_id = d.event_id AND a.endpoint_id = d.endpoint_id)) + 1"""


async def redeliver(
    connection: Connection, principal: Principal, endpoint_id: str, event_id: str, *, now: datetime
) -> None:
    """Deliver an event to this endpoint again, with the same id and body; a delivery in progress starts over."""
    await _lock_enabled(connection, principal, endpoint_id)
    row = await connection.fetchrow(
        f"""UPDATE webhook_deliveries d
            SET state = 'pending', attempt_offset = {_NEXT_OFFSET}, next_attempt_at = NULL, updated_at = $4
            WHERE library_id = $1 AND endpoint_id = $2 AND event_id = $3
            RETURNING attempt_offset, event_type""",  # noqa: S608 (a constant expression)
        principal.library_id,
        endpoint_id,
        event_id,
        now,
    )
    if row is None:
        await _deliver_first(connection, principal, endpoint_id, event_id, now=now)
        return
    if row["attempt_offset"] > MAX_ATTEMPT_OFFSET:
        raise CutroomError(
            Code.FAILED_PRECONDITION,
            message="This event has been sent to this endpoint too often.",
            details={"reason": "redelivery_limit"},
        )
    retries = row["event_type"] != TEST_EVENT
    delivery = Delivery(principal.library_id, event_id, endpoint_id, row["attempt_offset"], retries)
    await enqueue(connection, delivery.start)


async def _deliver_first(
    connection: Connection, principal: Principal, endpoint_id: str, event_id: str, *, now: datetime
) -> None:
    """Deliver an event that this endpoint was not sent when it happened."""
    event = await connection.fetchrow(
        "SELECT type, created_at FROM published_events WHERE library_id = $1 AND id = $2",
        principal.library_id,
        event_id,
    )
    if event is None:
        raise not_found()
    delivery = Delivery(principal.library_id, event_id, endpoint_id)
    await _insert(connection, delivery, type_=event["type"], event_at=event["created_at"], now=now)


async def send_test_event(connection: Connection, principal: Principal, endpoint_id: str, *, now: datetime) -> str:
    """Send a test event to one endpoint, without retries, and return the event's id."""
    await _lock_enabled(connection, principal, endpoint_id)
    delivery = Delivery(principal.library_id, new_id(now.timestamp()), endpoint_id, retries=False)
    await _insert(connection, delivery, type_=TEST_EVENT, event_at=now, now=now)
    return delivery.event_id


async def recover(
    connection: Connection, principal: Principal, endpoint_id: str, *, since: datetime, now: datetime
) -> tuple[int, bool]:
    """Start the failed deliveries of events since a time again, oldest first.

    Returns how many, and whether there may be more.
    """
    await _lock_enabled(connection, principal, endpoint_id)
    rows = await connection.fetch(
        f"""WITH failed AS (
                SELECT event_id FROM webhook_deliveries
                WHERE library_id = $1 AND endpoint_id = $2 AND state = 'failed' AND event_at >= $3
                  AND event_type <> $5 AND attempt_offset < $6
                ORDER BY event_id LIMIT $7 FOR UPDATE
            )
            UPDATE webhook_deliveries d
            SET state = 'pending', attempt_offset = {_NEXT_OFFSET}, next_attempt_at = NULL, updated_at = $4
            FROM failed WHERE d.library_id = $1 AND d.endpoint_id = $2 AND d.event_id = failed.event_id
            RETURNING d.event_id, d.attempt_offset""",  # noqa: S608 (a constant expression)
        principal.library_id,
        endpoint_id,
        since,
        now,
        TEST_EVENT,
        MAX_ATTEMPT_OFFSET,
        MAX_RECOVERED,
    )
    deliveries = [Delivery(principal.library_id, row["event_id"], endpoint_id, row["attempt_offset"]) for row in rows]
    deliveries.sort(key=lambda each: each.event_id)
    await enqueue_all(connection, [each.start for each in deliveries])
    return len(deliveries), len(deliveries) == MAX_RECOVERED


async def _lock_enabled(connection: Connection, principal: Principal, endpoint_id: str) -> None:
    """Nothing is sent to an endpoint that is disabled: it is enabled first."""
    row = await lock_own_endpoint(connection, principal, endpoint_id)
    if row is None:
        raise not_found()
    if not row["enabled"]:
        raise CutroomError(
            Code.FAILED_PRECONDITION, message="The endpoint is disabled.", details={"reason": "endpoint_disabled"}
        )


async def _insert(connection: Connection, delivery: Delivery, *, type_: str, event_at: datetime, now: datetime) -> None:
    row = {
        "library_id": delivery.library_id,
        "endpoint_id": delivery.endpoint_id,
        "event_id": delivery.event_id,
        "event_type": type_,
        "event_at": event_at,
        "state": DeliveryState.PENDING.value,
        "updated_at": now,
    }
    await insert(connection, "webhook_deliveries", row)
    await enqueue(connection, delivery.start)
