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
    disabled_at: Mapped[Instant | None]  # set by the user or after a 410 response; the endpoint stays listed
    disabled_reason: Mapped[str | None] = mapped_column(Text)
    revision: Mapped[Revision]


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
