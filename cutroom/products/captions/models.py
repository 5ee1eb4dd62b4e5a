"""Database model of captions."""

from typing import Any

from sqlalchemy import CheckConstraint, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from cutroom.platform.tables import Id, Instant, Table


class CaptionsRow(Table):
    """Translated segments of a transcript, with the timing of the original."""

    __tablename__ = "captions"
    __table_args__ = (CheckConstraint("quality IN ('publishable', 'review', 'draft')", name="quality"),)

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    video_id: Mapped[Id] = mapped_column(primary_key=True)
    language: Mapped[str] = mapped_column(Text, primary_key=True)
    segments: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    quality: Mapped[str] = mapped_column(Text)
    created_at: Mapped[Instant]
