"""Tables of thumbnail requests and their images; the status of a request is that of its job."""

from typing import Any

from sqlalchemy import Double, Index, Integer, Text, UniqueConstraint
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from cutroom.platform.tables import Id, Instant, Table


class ThumbnailRequestRow(Table):
    """A request, what was detected for it, and the review decision."""

    __tablename__ = "thumbnail_requests"
    __table_args__ = (
        UniqueConstraint("library_id", "job_id", name="thumbnail_requests_job_key"),
        Index("thumbnail_requests_video_idx", "library_id", "video_id", "created_at"),
    )

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    id: Mapped[Id] = mapped_column(primary_key=True)
    video_id: Mapped[Id]
    job_id: Mapped[str] = mapped_column(Text)
    detected: Mapped[list[dict[str, Any]] | None] = mapped_column(JSONB)  # pending approval in review mode
    decision: Mapped[dict[str, Any] | None] = mapped_column(JSONB)
    created_at: Mapped[Instant]


class ThumbnailRow(Table):
    """A rendered image."""

    __tablename__ = "thumbnails"
    __table_args__ = (Index("thumbnails_request_idx", "library_id", "request_id", "number"),)

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    id: Mapped[Id] = mapped_column(primary_key=True)
    request_id: Mapped[Id]
    video_id: Mapped[Id]
    number: Mapped[int] = mapped_column(Integer)  # rank; translations come last
    language: Mapped[str | None] = mapped_column(Text)  # of a translation
    headline: Mapped[str | None] = mapped_column(Text)
    layout: Mapped[str] = mapped_column(Text)
    score: Mapped[float] = mapped_column(Double)
    engine: Mapped[str] = mapped_column(Text)
    path: Mapped[str] = mapped_column(Text)
    created_at: Mapped[Instant]
