"""Database model of captions."""

from typing import Any

from sqlalchemy import CheckConstraint, Text, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from cutroom.platform.tables import Id, Instant, Table


class CaptionsRow(Table):
    """Translated segments of a transcript, each with what it was made from."""

    __tablename__ = "captions"
    __table_args__ = (CheckConstraint("quality IN ('publishable', 'review', 'draft')", name="quality"),)

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    video_id: Mapped[Id] = mapped_column(primary_key=True)
    language: Mapped[str] = mapped_column(Text, primary_key=True)
    segments: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    quality: Mapped[str] = mapped_column(Text)
    created_at: Mapped[Instant]
    revision: Mapped[int] = mapped_column(server_default=text("1"))
    published_revision: Mapped[int] = mapped_column(server_default=text("1"))  # what the subtitle files contain
    published_at: Mapped[Instant | None]  # none if the files were never stored again
    previous: Mapped[list[dict[str, Any]]] = mapped_column(JSONB, server_default=text("'[]'"))  # before the last change
    regenerated: Mapped[dict[str, Any] | None] = mapped_column(JSONB)  # the job that changed the track last
