"""The shorts_outputs table; a request itself is its job."""

from typing import Any

from sqlalchemy import Double, Index, Integer, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from cutroom.platform.tables import Id, Instant, Table


class ShortsOutputRow(Table):
    """One finished short, promo or clip."""

    __tablename__ = "shorts_outputs"
    __table_args__ = (Index("shorts_outputs_request_idx", "library_id", "request_id", "number"),)

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    id: Mapped[Id] = mapped_column(primary_key=True)
    request_id: Mapped[Id]
    video_id: Mapped[Id]
    number: Mapped[int] = mapped_column(Integer)  # rank, the best first
    kind: Mapped[str] = mapped_column(Text)
    title: Mapped[str] = mapped_column(Text)
    description: Mapped[str] = mapped_column(Text)
    reason: Mapped[str] = mapped_column(Text)  # why it was chosen
    duration_seconds: Mapped[float] = mapped_column(Double)
    moments: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)  # ranges of the source video
    video_path: Mapped[str] = mapped_column(Text)
    thumbnail_path: Mapped[str] = mapped_column(Text)
    plan_path: Mapped[str] = mapped_column(Text)  # crops and captions as JSON
    transcript_revision: Mapped[int | None]  # that it was chosen from
    created_at: Mapped[Instant]
    deleted_at: Mapped[Instant | None]
