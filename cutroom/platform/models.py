"""Tables of the outbox and of keys. Processes that only query them do not load SQLAlchemy."""

from typing import Any

from sqlalchemy import BigInteger, Identity, Index, Integer, LargeBinary, SmallInteger, Text, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from cutroom.platform.tables import Id, Instant, Table


class OutboxRow(Table):
    """A pending workflow start; deleted once Temporal has accepted it, and set aside if it does not."""

    __tablename__ = "outbox"

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    library_id: Mapped[Id]
    workflow: Mapped[str] = mapped_column(Text)
    workflow_id: Mapped[str] = mapped_column(Text)
    queue: Mapped[str] = mapped_column(Text)
    argument: Mapped[dict[str, Any]] = mapped_column(JSONB)
    is_job: Mapped[bool]  # counts against the library's running jobs
    trace_context: Mapped[dict[str, Any] | None] = mapped_column(JSONB)  # W3C headers of the trace to continue
    created_at: Mapped[Instant] = mapped_column(server_default=text("now()"))
    refusals: Mapped[int] = mapped_column(SmallInteger, server_default=text("0"))  # by Temporal
    retry_at: Mapped[Instant | None]
    set_aside_at: Mapped[Instant | None]  # after too many refusals


class StartedWorkflow(Table):
    """A workflow that the relay has started, so that the erasure of its library finds its history."""

    __tablename__ = "started_workflows"
    __table_args__ = (Index("started_workflows_started_at_idx", "started_at"),)

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    workflow_id: Mapped[Id] = mapped_column(primary_key=True)
    started_at: Mapped[Instant] = mapped_column(server_default=text("now()"))


class DataKeyRow(Table):
    """The data key of a library, or of the system."""

    __tablename__ = "data_keys"

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    wrapped: Mapped[bytes] = mapped_column(LargeBinary)
    created_at: Mapped[Instant]


class KeyRingRow(Table):
    """A key of the ring. Without rows, the root secret is the only key."""

    __tablename__ = "key_ring"

    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    wrapped: Mapped[bytes | None] = mapped_column(LargeBinary)  # None: the root secret
    created_at: Mapped[Instant]
    active_from: Mapped[Instant | None]
    verifies_until: Mapped[Instant | None]
