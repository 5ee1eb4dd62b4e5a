"""Webhook endpoints, events and delivery attempts at rest; the signing secret is sealed."""

from typing import Any

from sqlalchemy import CheckConstraint, Index, LargeBinary, SmallInteger, Text, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from cutroom.platform.tables import Id, Instant, Table


class WebhookEndpointRow(Table):
    """A destination of events; a deleted one keeps its row and gets nothing more."""

    __tablename__ = "webhook_endpoints"
    __table_args__ = (
        Index(
            "webhook_endpoints_url_key",
            "library_id",
            "url",
            unique=True,
            postgresql_where=text("deleted_at IS NULL"),
        ),
        Index("webhook_endpoints_id_idx", "id"),
    )

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    id: Mapped[Id] = mapped_column(primary_key=True)
    user_id: Mapped[Id]
    url: Mapped[str] = mapped_column(Text)
    events: Mapped[list[str]] = mapped_column(ARRAY(Text))
    sealed_secret: Mapped[bytes] = mapped_column(LargeBinary)
    created_at: Mapped[Instant]
    deleted_at: Mapped[Instant | None]
    disabled_at: Mapped[Instant | None]  # by its own receiver's wish; it stays listed, and gets nothing more
    disabled_reason: Mapped[str | None] = mapped_column(Text)


class Event(Table):
    """Something that happened, as every endpoint is told of it, however often it is tried."""

    __tablename__ = "events"
    __table_args__ = (Index("events_created_at_idx", "created_at"),)

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    id: Mapped[Id] = mapped_column(primary_key=True)
    type: Mapped[str] = mapped_column(Text)
    payload: Mapped[dict[str, Any]] = mapped_column(JSONB)  # the Job or the Video, as the API returned it
    created_at: Mapped[Instant]


class DeliveryAttempt(Table):
    """One try to tell one endpoint of one event; written once and never changed."""

    __tablename__ = "delivery_attempts"
    __table_args__ = (
        CheckConstraint("outcome IN ('delivered', 'refused', 'gone', 'unreachable')", name="outcome"),
        CheckConstraint("(outcome = 'unreachable') = (status IS NULL)", name="status"),
    )

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    event_id: Mapped[Id] = mapped_column(primary_key=True)
    endpoint_id: Mapped[Id] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    at: Mapped[Instant]
    status: Mapped[int | None] = mapped_column(SmallInteger)
    outcome: Mapped[str] = mapped_column(Text)
    milliseconds: Mapped[int]
    asked_pause_seconds: Mapped[int | None]  # the receiver's Retry-After, within our bound
