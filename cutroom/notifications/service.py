"""Queues notifications of a library's members for events, and keeps the preferences of each."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from cutroom.accounts.principals import Principal
from cutroom.accounts.recipients import Recipient, list_recipients
from cutroom.notifications.rules import (
    FREQUENCIES,
    MAX_PER_HOUR,
    RATE_PERIOD,
    Channel,
    Frequency,
    NotificationKind,
    default_frequency,
    due_at,
    kind_of_event,
)
from cutroom.platform.db import Connection
from cutroom.platform.ids import new_id
from cutroom.platform.outbox import WorkflowStart, enqueue_all
from cutroom.platform.task_queues import TaskQueue

SEND_WORKFLOW = "send-notification"

Preferences = dict[tuple[NotificationKind, Channel], Frequency]


@dataclass(frozen=True, slots=True)
class NotificationRef:
    """Identifies a notification; ids and a time only, because workflow histories contain it."""

    library_id: str
    notification_id: str
    due_at: str

    @property
    def workflow_id(self) -> str:
        return f"notify_{self.notification_id}"

    def delay(self, now: datetime) -> timedelta:
        """How long until it is due."""
        return max(timedelta(), datetime.fromisoformat(self.due_at) - now)


async def notify_of_event(
    connection: Connection, library_id: str, event_id: str, *, type_: str, data: Mapping[str, Any], now: datetime
) -> None:
    """Queue the notifications of a new event, in the caller's transaction."""
    kind = kind_of_event(type_, data)
    if kind is not None:
        await notify(connection, library_id, kind, source=event_id, subject=subject_of(data), now=now)


def subject_of(data: Mapping[str, Any]) -> dict[str, Any]:
    """What a message about a job needs; the title of its video is read when it is sent."""
    error = data.get("error") or {}
    named = {name: data.get(name) for name in ("id", "type", "videoId", "language", "balance")}
    found = {name: value for name, value in named.items() if value is not None}
    return {**found, "error": error["message"]} if error.get("message") else found


async def notify(
    connection: Connection,
    library_id: str,
    kind: NotificationKind,
    *,
    source: str,
    subject: Mapping[str, Any],
    now: datetime,
    only_user: str | None = None,
) -> None:
    """Queue notifications for every member who wants them, or for one: once per source, person and channel."""
    recipients = await list_recipients(connection, library_id)
    chosen = await _choices(connection, library_id, kind)
    browsers = await _users_with_browsers(connection, library_id)
    rows = []
    for each in recipients:
        if only_user is not None and each.user_id != only_user:
            continue
        for channel in Channel:
            if channel is Channel.BROWSER and each.user_id not in browsers:
                continue
            frequency = chosen.get((each.user_id, channel), default_frequency(kind, channel, is_admin=each.is_admin))
            frequency = await _within_rate(connection, library_id, each, channel=channel, wanted=frequency, now=now)
            if frequency is not Frequency.NEVER:
                rows.append((each.user_id, channel, frequency))
    await _insert(connection, library_id, kind, rows, source=source, subject=subject, now=now)


async def _choices(
    connection: Connection, library_id: str, kind: NotificationKind
) -> dict[tuple[str, Channel], Frequency]:
    rows = await connection.fetch(
        "SELECT user_id, channel, frequency FROM notification_preferences WHERE library_id = $1 AND kind = $2",
        library_id,
        kind.value,
    )
    return {(row["user_id"], Channel(row["channel"])): Frequency(row["frequency"]) for row in rows}


async def _users_with_browsers(connection: Connection, library_id: str) -> set[str]:
    rows = await connection.fetch("SELECT DISTINCT user_id FROM push_subscriptions WHERE library_id = $1", library_id)
    return {row["user_id"] for row in rows}


async def _within_rate(
    connection: Connection,
    library_id: str,
    recipient: Recipient,
    *,
    channel: Channel,
    wanted: Frequency,
    now: datetime,
) -> Frequency:
    """What is too much to send at once waits for a digest by mail, and is left out in the browser."""
    if wanted is not Frequency.IMMEDIATELY:
        return wanted
    count: int = await connection.fetchval(
        """SELECT count(*) FROM notifications
           WHERE library_id = $1 AND user_id = $2 AND created_at > $3 AND channel = $4 AND frequency = $5""",
        library_id,
        recipient.user_id,
        now - RATE_PERIOD,
        channel.value,
        wanted.value,
    )
    if count < MAX_PER_HOUR:
        return wanted
    return Frequency.HOURLY if channel is Channel.MAIL else Frequency.NEVER


async def _insert(
    connection: Connection,
    library_id: str,
    kind: NotificationKind,
    recipients: Sequence[tuple[str, Channel, Frequency]],
    *,
    source: str,
    subject: Mapping[str, Any],
    now: datetime,
) -> None:
    starts = []
    for user_id, channel, frequency in recipients:
        due = due_at(frequency, now)
        ref = NotificationRef(library_id, new_id(), due.isoformat())
        done = await connection.execute(
            """INSERT INTO notifications
                   (library_id, id, user_id, channel, source, kind, subject, frequency, created_at, due_at)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING""",
            library_id,
            ref.notification_id,
            user_id,
            channel.value,
            source,
            kind.value,
            dict(subject),
            frequency.value,
            now,
            due,
        )
        if done == "INSERT 0 1":
            starts.append(
                WorkflowStart(library_id, SEND_WORKFLOW, ref.workflow_id, asdict(ref), queue=TaskQueue.EGRESS)
            )
    await enqueue_all(connection, starts)


async def get_preferences(connection: Connection, principal: Principal) -> Preferences:
    """How often the person wants each kind by each channel, in this library."""
    rows = await connection.fetch(
        "SELECT kind, channel, frequency FROM notification_preferences WHERE library_id = $1 AND user_id = $2",
        principal.library_id,
        principal.user_id,
    )
    chosen = {(row["kind"], row["channel"]): Frequency(row["frequency"]) for row in rows}
    return {
        (kind, channel): chosen.get(
            (kind.value, channel.value), default_frequency(kind, channel, is_admin=principal.is_admin)
        )
        for kind in NotificationKind
        for channel in Channel
    }


async def set_preferences(
    connection: Connection, library_id: str, user_id: str, preferences: Preferences, *, now: datetime
) -> bool:
    """Returns whether any of them differs from what was chosen before."""
    changed = False
    for (kind, channel), frequency in preferences.items():
        assert frequency in FREQUENCIES[channel]
        done = await connection.execute(
            """INSERT INTO notification_preferences (library_id, user_id, kind, channel, frequency, updated_at)
               VALUES ($1, $2, $3, $4, $5, $6)
               ON CONFLICT (library_id, user_id, kind, channel) DO UPDATE SET frequency = $5, updated_at = $6
               WHERE notification_preferences.frequency <> $5""",
            library_id,
            user_id,
            kind.value,
            channel.value,
            frequency.value,
            now,
        )
        changed |= done == "INSERT 0 1"
    return changed
