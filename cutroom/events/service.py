"""Publishes events in the transaction that causes them, and reads the log of a library."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from cutroom.events.rules import EVENT_TYPES
from cutroom.platform.db import Connection, insert
from cutroom.platform.ids import new_id
from cutroom.platform.messages.announcements import Announcement, announce
from cutroom.platform.outbox import WorkflowStart, enqueue
from cutroom.platform.task_queues import TaskQueue

DELIVERY_WORKFLOW = "deliver-webhook"
_READ = """SELECT position, id, type, created_at, payload::text AS payload FROM events
    WHERE library_id = $1 AND position > $2 AND position > 0 AND type = ANY ($4) ORDER BY position LIMIT $3"""
UNLISTED = 0  # the position of an event that concerns one webhook endpoint only


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """An event of the log; its payload is JSON."""

    position: int
    id: str
    type: str
    created_at: datetime
    payload: str

    @property
    def data(self) -> dict[str, Any]:
        """The payload, decoded at each use."""
        decoded: dict[str, Any] = json.loads(self.payload)
        return decoded

    @property
    def timestamp(self) -> str:
        return self.created_at.astimezone(UTC).isoformat().replace("+00:00", "Z")


@dataclass(frozen=True, slots=True)
class LogBounds:
    """The last position that was assigned, and the last one that retention has deleted."""

    last: int = 0
    deleted: int = 0


@dataclass(frozen=True, slots=True)
class Delivery:
    """Identifies the delivery of one event to one webhook endpoint; ids only: workflow histories contain it."""

    library_id: str
    event_id: str
    endpoint_id: str

    @property
    def workflow_id(self) -> str:
        return f"deliver_{self.event_id}_{self.endpoint_id}"


def topic_of(library_id: str) -> str:
    """The topic of a library's announcements."""
    return f"events:{library_id}"


async def publish_event(
    connection: Connection,
    library_id: str,
    *,
    type: str,  # noqa: A002 (the field name in the payload)
    data: Mapping[str, Any],
    now: datetime,
) -> str:
    """Insert an event and start its webhook deliveries in the caller's transaction; return the event's id.

    `data` is the Job or Video as returned by the API, without signed URLs. The event has its position in the log once
    the transaction has committed.
    """
    event_id = await _insert(connection, library_id, type_=type, data=data, now=now)
    announce(Announcement(topic_of(library_id)))
    endpoints = await connection.fetch(
        "SELECT id FROM published_webhook_endpoints WHERE library_id = $1 AND $2 = ANY (events)", library_id, type
    )
    for endpoint in endpoints:
        await start_delivery(connection, Delivery(library_id, event_id, endpoint["id"]))
    return event_id


def announce_progress(library_id: str, job_id: str, payload: Mapping[str, Any]) -> None:
    """Send the progress of a job, once the transaction commits, to those who follow the library now."""
    message = f"{job_id} {json.dumps(payload, separators=(',', ':'))}"
    announce(Announcement(topic_of(library_id), message))


async def send_to_endpoint(
    connection: Connection, library_id: str, endpoint_id: str, *, type_: str, data: Mapping[str, Any], now: datetime
) -> str:
    """Insert an event for one webhook endpoint, outside of the log, and start its delivery; return the event's id."""
    event_id = await _insert(connection, library_id, type_=type_, data=data, now=now, position=UNLISTED)
    await start_delivery(connection, Delivery(library_id, event_id, endpoint_id))
    return event_id


async def _insert(
    connection: Connection,
    library_id: str,
    *,
    type_: str,
    data: Mapping[str, Any],
    now: datetime,
    position: int | None = None,
) -> str:
    event_id = new_id(now.timestamp())
    row = {"library_id": library_id, "id": event_id, "type": type_, "payload": dict(data), "created_at": now}
    await insert(connection, "events", row if position is None else {**row, "position": position})
    return event_id


async def start_delivery(connection: Connection, delivery: Delivery) -> None:
    """Start the workflow that delivers an event to a webhook endpoint."""
    await enqueue(
        connection,
        WorkflowStart(
            library_id=delivery.library_id,
            workflow=DELIVERY_WORKFLOW,
            workflow_id=delivery.workflow_id,
            argument=asdict(delivery),
            queue=TaskQueue.EGRESS,
        ),
    )


async def read_bounds(connection: Connection, library_id: str) -> LogBounds:
    row = await connection.fetchrow(
        "SELECT last_position AS last, deleted_position AS deleted FROM event_logs WHERE library_id = $1", library_id
    )
    return LogBounds(**row) if row is not None else LogBounds()


async def read_events(
    connection: Connection,
    library_id: str,
    *,
    after: int,
    limit: int,
    types: Sequence[str] = EVENT_TYPES,
) -> list[LoggedEvent]:
    """Events of these types after a position, oldest first."""
    rows = await connection.fetch(_READ, library_id, after, limit, list(types))
    return [LoggedEvent(**row) for row in rows]


async def read_heads(connection: Connection, library_ids: Sequence[str]) -> dict[str, int]:
    """The last position of each of these libraries; those that are being erased or moved are left out."""
    rows = await connection.fetch("SELECT library_id, last_position FROM event_heads($1)", list(library_ids))
    return {row["library_id"]: row["last_position"] for row in rows}


async def read_tails(
    connection: Connection, positions: Mapping[str, int], *, limit: int
) -> dict[str, list[LoggedEvent]]:
    """The events after a position of each library; at most this many of each."""
    rows = await connection.fetch(
        "SELECT * FROM event_tails($1, $2, $3)", list(positions), list(positions.values()), limit
    )
    tails: dict[str, list[LoggedEvent]] = {library_id: [] for library_id in positions}
    for row in rows:
        library_id, *columns = row
        tails[library_id].append(LoggedEvent(*columns))
    return tails


async def delete_video_events(connection: Connection, library_id: str, video_id: str) -> list[str]:
    """Delete the events of a video and of its jobs; return their ids."""
    rows = await connection.fetch(
        """DELETE FROM events WHERE library_id = $1 AND $2 IN (payload ->> 'videoId', payload ->> 'id')
           RETURNING id""",
        library_id,
        video_id,
    )
    return [row["id"] for row in rows]
