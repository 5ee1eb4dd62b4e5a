"""Database model of dubs; progress is stored on the job."""

from typing import Any

from sqlalchemy import CheckConstraint, Text, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from cutroom.platform.tables import Id, Instant, Table


class DubRow(Table):
    """A dub of one video in one language and product tier."""

    __tablename__ = "dubs"
    __table_args__ = (CheckConstraint("completion IN ('pending', 'preview_ready', 'complete')", name="completion"),)

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    video_id: Mapped[Id] = mapped_column(primary_key=True)
    language: Mapped[str] = mapped_column(Text, primary_key=True)
    product: Mapped[str] = mapped_column(Text, primary_key=True)
    completion: Mapped[str] = mapped_column(Text)
    segments: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    speakers: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    edits: Mapped[dict[str, dict[str, Any]]] = mapped_column(JSONB)  # what people have set, by line
    sync: Mapped[dict[str, Any]] = mapped_column(JSONB)
    broken_terms: Mapped[list[dict[str, Any]]] = mapped_column(JSONB, server_default=text("'[]'"))
    audio_path: Mapped[str | None] = mapped_column(Text)
    preview_path: Mapped[str | None] = mapped_column(Text)
    updated_at: Mapped[Instant]
    revision: Mapped[int] = mapped_column(server_default=text("1"))  # of the edits
    lines: Mapped[dict[str, Any] | None] = mapped_column(JSONB)  # what the published audio was made from
    generation: Mapped[str] = mapped_column(Text, server_default=text("''"))  # the regeneration that published it
    redub_job_id: Mapped[Id | None]  # the last regeneration
