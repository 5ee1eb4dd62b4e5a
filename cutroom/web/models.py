"""Idempotency record table."""

from sqlalchemy import Index, LargeBinary, SmallInteger, Text
from sqlalchemy.orm import Mapped, mapped_column

from cutroom.platform.tables import Id, Instant, Table


class IdempotencyRecordRow(Table):
    """The first response for an Idempotency-Key, kept for 24 hours. Encrypted, because it may contain a secret."""

    __tablename__ = "idempotency_records"
    __table_args__ = (Index("idempotency_records_created_at_idx", "created_at"),)

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    user_id: Mapped[Id] = mapped_column(primary_key=True)  # whose API key sent the request
    key: Mapped[str] = mapped_column(Text, primary_key=True)
    path: Mapped[str] = mapped_column(Text)
    body_hash: Mapped[bytes] = mapped_column(LargeBinary)
    status: Mapped[int] = mapped_column(SmallInteger)
    sealed_body: Mapped[bytes] = mapped_column(LargeBinary)
    created_at: Mapped[Instant]
