"""Tables of webhook endpoints and delivery attempts. Signing secrets are encrypted."""

from sqlalchemy import CheckConstraint, Index, LargeBinary, SmallInteger, Text, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from cutroom.platform.tables import Id, Instant, Revision, Table


class WebhookEndpointRow(Table):
    """An endpoint; deletion is soft."""

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
    sealed_previous_secret: Mapped[bytes | None] = mapped_column(LargeBinary)  # signs too, until its time
    previous_secret_until: Mapped[Instant | None]
    created_at: Mapped[Instant]
    deleted_at: Mapped[Instant | None]
    disabled_at: Mapped[Instant | None]  # set by the user, a 410 response or days of failures; it stays listed
    disabled_reason: Mapped[str | None] = mapped_column(Text)
    failing_since: Mapped[Instant | None]  # the first failed attempt since the last success
    revision: Mapped[Revision]


class WebhookDeliveryRow(Table):
    """The delivery of one event to one endpoint; test events have no row in `events`."""

    __tablename__ = "webhook_deliveries"
    __table_args__ = (
        CheckConstraint("state IN ('pending', 'delivered', 'failed')", name="state"),
        Index(
            "webhook_deliveries_failed_idx",
            "library_id",
            "endpoint_id",
            "event_id",
            postgresql_where=text("state = 'failed'"),
        ),
        Index("webhook_deliveries_event_idx", "library_id", "event_id"),
        Index("webhook_deliveries_event_at_idx", "event_at"),
    )

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    endpoint_id: Mapped[Id] = mapped_column(primary_key=True)
    event_id: Mapped[Id] = mapped_column(primary_key=True)
    event_type: Mapped[str] = mapped_column(Text)
    event_at: Mapped[Instant]
    state: Mapped[str] = mapped_column(Text)
    # A redelivery numbers its attempts after those before it.
    attempt_offset: Mapped[int] = mapped_column(SmallInteger, server_default=text("0"))
    next_attempt_at: Mapped[Instant | None]
    updated_at: Mapped[Instant]


class DeliveryAttempt(Table):
    """One attempt to deliver an event to an endpoint; immutable."""

    __tablename__ = "delivery_attempts"
    __table_args__ = (
        CheckConstraint("outcome IN ('delivered', 'refused', 'gone', 'unreachable')", name="outcome"),
        CheckConstraint("(outcome = 'unreachable') = (status IS NULL)", name="status"),
        Index("delivery_attempts_at_idx", "at"),
    )

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    event_id: Mapped[Id] = mapped_column(primary_key=True)
    endpoint_id: Mapped[Id] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    at: Mapped[Instant]
    status: Mapped[int | None] = mapped_column(SmallInteger)
    outcome: Mapped[str] = mapped_column(Text)
    milliseconds: Mapped[int]
    retry_after_seconds: Mapped[int | None]  # the endpoint's Retry-After, capped
    url: Mapped[str | None] = mapped_column(Text)  # at the time; not recorded by 0.1.0
    response_body: Mapped[str | None] = mapped_column(Text)  # its first bytes
