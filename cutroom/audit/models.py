"""Tables of the audit log."""

from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, Index, LargeBinary, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from cutroom.platform.tables import Id, Instant, Table


class AuditEntryRow(Table):
    """One action. A trigger refuses to change or delete it."""

    __tablename__ = "audit_entries"
    __table_args__ = (
        CheckConstraint("actor_kind IN ('key', 'token', 'person', 'guest', 'system')", name="actor_kind"),
        CheckConstraint("sequence > 0", name="sequence"),
        Index("audit_entries_action_idx", "library_id", "action", "sequence"),
    )

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    sequence: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    at: Mapped[Instant]
    action: Mapped[str] = mapped_column(Text)  # the operation's id, or a name such as member.remove
    actor_kind: Mapped[str] = mapped_column(Text)
    actor_id: Mapped[Id]  # of the key, token, session or review link; of the command for the system
    user_id: Mapped[Id | None]
    targets: Mapped[dict[str, Any]] = mapped_column(JSONB)
    client_address: Mapped[str | None] = mapped_column(Text)
    request_id: Mapped[Id | None]
    details: Mapped[dict[str, Any]] = mapped_column(JSONB)  # before and after of settings
    hash: Mapped[bytes] = mapped_column(LargeBinary)


class AuditHeadRow(Table):
    """The last entry of a library. Locked while an entry is appended, so that sequences have no gaps."""

    __tablename__ = "audit_heads"

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    sequence: Mapped[int] = mapped_column(BigInteger)
    hash: Mapped[bytes] = mapped_column(LargeBinary)
