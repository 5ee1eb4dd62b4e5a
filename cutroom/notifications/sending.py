"""Collects what is due into one mail or browser notification, and records how sending ended."""

from dataclasses import dataclass
from datetime import datetime

from cutroom.accounts.recipients import MailAddress, find_mail_address
from cutroom.notifications.messages import Message, message_of
from cutroom.notifications.rules import MAX_AGE, Channel, Frequency, NotificationKind, NotificationOutcome
from cutroom.notifications.service import NotificationRef
from cutroom.platform.db import Connection


@dataclass(frozen=True, slots=True)
class Batch:
    """Notifications that are sent together: one, or a digest."""

    user_id: str
    channel: Channel
    address: MailAddress
    messages: tuple[Message, ...]


async def collect(connection: Connection, ref: NotificationRef, *, now: datetime) -> Batch | None:
    """What the workflow of this notification has to send: it, and what else of its digest is due.

    None if it was sent before, is sent by the workflow of another, or is not wanted any more. After a crash the same
    notifications are collected again.
    """
    row = await connection.fetchrow(
        "SELECT user_id, channel, frequency FROM notifications WHERE library_id = $1 AND id = $2",
        ref.library_id,
        ref.notification_id,
    )
    if row is None:
        return None
    user_id, channel = row["user_id"], Channel(row["channel"])
    # Workflows of one digest wake at the same time: the first collects all, the others find nothing.
    lock = f"notifications {ref.library_id} {user_id}"
    await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", lock)
    is_digest = Frequency(row["frequency"]) is not Frequency.IMMEDIATELY
    await connection.execute(
        """UPDATE notifications SET batch_id = $2
           WHERE library_id = $1 AND batch_id IS NULL AND outcome IS NULL AND user_id = $3 AND channel = $4
             AND (id = $2 OR ($5 AND frequency = $6 AND due_at <= $7))
             AND EXISTS (SELECT FROM notifications own
                          WHERE own.library_id = $1 AND own.id = $2 AND own.batch_id IS NULL)""",
        ref.library_id,
        ref.notification_id,
        user_id,
        channel.value,
        is_digest,
        row["frequency"],
        now,
    )
    address = await find_mail_address(connection, ref.library_id, user_id)
    await _withdraw_unwanted(connection, ref, is_member=address is not None, now=now)
    rows = await connection.fetch(
        """SELECT kind, subject FROM notifications
           WHERE library_id = $1 AND batch_id = $2 AND outcome IS NULL ORDER BY created_at, id""",
        ref.library_id,
        ref.notification_id,
    )
    if not rows or address is None:
        return None
    messages = []
    for each in rows:
        video_id = each["subject"].get("videoId")
        title = await _title_of(connection, ref.library_id, video_id) if video_id else None
        messages.append(message_of(NotificationKind(each["kind"]), each["subject"], title=title))
    return Batch(user_id, channel, address, tuple(messages))


async def _title_of(connection: Connection, library_id: str, video_id: str) -> str | None:
    found: str | None = await connection.fetchval(
        "SELECT title FROM published_titles WHERE library_id = $1 AND video_id = $2", library_id, video_id
    )
    return found


async def _withdraw_unwanted(connection: Connection, ref: NotificationRef, *, is_member: bool, now: datetime) -> None:
    """Drop what the person has switched off since, what is too late, and everything of a former member."""
    await connection.execute(
        """UPDATE notifications n SET outcome = 'withdrawn', ended_at = $3
           WHERE n.library_id = $1 AND n.batch_id = $2 AND n.outcome IS NULL
             AND (NOT $4 OR n.due_at < $5 OR EXISTS (
                 SELECT FROM notification_preferences p
                  WHERE p.library_id = n.library_id AND p.user_id = n.user_id AND p.kind = n.kind
                    AND p.channel = n.channel AND p.frequency = 'never'))""",
        ref.library_id,
        ref.notification_id,
        now,
        is_member,
        now - MAX_AGE,
    )


async def record_outcome(
    connection: Connection, ref: NotificationRef, outcome: NotificationOutcome, *, now: datetime
) -> None:
    await connection.execute(
        """UPDATE notifications SET outcome = $3, ended_at = $4
           WHERE library_id = $1 AND batch_id = $2 AND outcome IS NULL""",
        ref.library_id,
        ref.notification_id,
        outcome.value,
        now,
    )
