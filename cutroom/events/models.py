"""Tables of the event log. Events are partitioned by week."""

from typing import Any

from sqlalchemy import BigInteger, Index, Text, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from cutroom.platform.tables import Id, Instant, Table


class Event(Table):
    """An event, with the payload that is sent to webhook endpoints and readers of the log."""

    __tablename__ = "events"
    __table_args__ = (
        Index("events_created_at_idx", "created_at"),
        Index("events_position_idx", "library_id", "position", postgresql_where=text("position > 0")),
        {"postgresql_partition_by": "RANGE (id)"},
    )

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    id: Mapped[Id] = mapped_column(primary_key=True)
    type: Mapped[str] = mapped_column(Text)
    payload: Mapped[dict[str, Any]] = mapped_column(JSONB)  # the Job or Video as returned by the API
    created_at: Mapped[Instant]
    # Assigned by a trigger at the end of the transaction; 0 in events from before the log.
    position: Mapped[int | None] = mapped_column(BigInteger)


class EventLog(Table):
    """The positions of a library's events: the last one assigned, and the last one that retention has deleted."""

    __tablename__ = "event_logs"

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    last_position: Mapped[int] = mapped_column(BigInteger)
    deleted_position: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
