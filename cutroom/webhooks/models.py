"""Webhook endpoints at rest; the signing secret is sealed."""

from sqlalchemy import Index, LargeBinary, Text, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from cutroom.platform.tables import Id, Instant, Table


class WebhookEndpoint(Table):
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
