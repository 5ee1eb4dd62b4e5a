"""Tables of preferences, notifications and push subscriptions of a library's members."""

from typing import Any

from sqlalchemy import CheckConstraint, ForeignKeyConstraint, Index, LargeBinary, Text, UniqueConstraint
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from cutroom.platform.tables import Id, Instant, Table


def _of_member() -> ForeignKeyConstraint:
    """What is a member's is deleted with the membership."""
    return ForeignKeyConstraint(
        ["library_id", "user_id"], ["members.library_id", "members.user_id"], ondelete="CASCADE"
    )


class NotificationPreference(Table):
    """How often a member wants a kind of notification; without a row, the default of the kind."""

    __tablename__ = "notification_preferences"
    __table_args__ = (
        CheckConstraint("channel IN ('mail', 'browser')", name="channel"),
        CheckConstraint("frequency IN ('immediately', 'hourly', 'daily', 'never')", name="frequency"),
        _of_member(),
    )

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    user_id: Mapped[Id] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(Text, primary_key=True)
    channel: Mapped[str] = mapped_column(Text, primary_key=True)
    frequency: Mapped[str] = mapped_column(Text)
    updated_at: Mapped[Instant]


class Notification(Table):
    """A notification of one member by one channel; there is one for each event or other source."""

    __tablename__ = "notifications"
    __table_args__ = (
        CheckConstraint("channel IN ('mail', 'browser')", name="channel"),
        CheckConstraint("outcome IN ('sent', 'refused', 'withdrawn')", name="outcome"),
        UniqueConstraint("library_id", "user_id", "channel", "source", name="notifications_source_key"),
        _of_member(),
        Index("notifications_created_at_idx", "created_at"),
        Index("notifications_user_idx", "library_id", "user_id", "created_at"),
    )

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    id: Mapped[Id] = mapped_column(primary_key=True)
    user_id: Mapped[Id]
    channel: Mapped[str] = mapped_column(Text)
    source: Mapped[str] = mapped_column(Text)  # an event's id, or a name of what else it is about
    kind: Mapped[str] = mapped_column(Text)
    subject: Mapped[dict[str, Any]] = mapped_column(JSONB)  # ids and short texts that its message is made of
    frequency: Mapped[str] = mapped_column(Text)
    created_at: Mapped[Instant]
    due_at: Mapped[Instant]
    batch_id: Mapped[Id | None]  # the notification whose workflow sends it, alone or as a digest
    outcome: Mapped[str | None] = mapped_column(Text)
    ended_at: Mapped[Instant | None]


class PushSubscription(Table):
    """A browser of a member that shows notifications."""

    __tablename__ = "push_subscriptions"
    __table_args__ = (
        UniqueConstraint("library_id", "user_id", "hash", name="push_subscriptions_hash_key"),
        _of_member(),
    )

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    id: Mapped[Id] = mapped_column(primary_key=True)
    user_id: Mapped[Id]
    hash: Mapped[bytes] = mapped_column(LargeBinary)  # of the push service's URL, which is a capability
    sealed: Mapped[bytes] = mapped_column(LargeBinary)  # the URL, and the keys of the browser
    device: Mapped[str] = mapped_column(Text)
    created_at: Mapped[Instant]
