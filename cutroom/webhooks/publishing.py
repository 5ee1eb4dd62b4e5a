"""Publishes events: to the log of their library, to webhook endpoints, and to members who want to be notified."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from cutroom.events import service as events
from cutroom.notifications.service import notify_of_event
from cutroom.platform.db import Connection
from cutroom.webhooks.deliveries import delete_deliveries, start_deliveries


async def publish_event(
    connection: Connection,
    library_id: str,
    *,
    type: str,  # noqa: A002 (the field name in the payload)
    data: Mapping[str, Any],
    now: datetime,
) -> str:
    """Record an event, and start its deliveries and notifications, in the caller's transaction; return its id.

    `data` is the Job or Video as returned by the API, without signed URLs. The event has its position in the log once
    the transaction has committed.
    """
    event_id = await events.record_event(connection, library_id, type_=type, data=data, now=now)
    await start_deliveries(connection, library_id, event_id, type=type, now=now)
    await notify_of_event(connection, library_id, event_id, type_=type, data=data, now=now)
    return event_id


async def delete_video_events(connection: Connection, library_id: str, video_id: str) -> None:
    """Delete the events of a video and of its jobs, with their deliveries."""
    deleted = await events.delete_video_events(connection, library_id, video_id)
    await delete_deliveries(connection, library_id, deleted)
