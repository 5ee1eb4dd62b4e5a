"""Database model of transcripts; words are in object storage."""

from typing import Any

from sqlalchemy import Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from cutroom.platform.tables import Id, Instant, Table


class TranscriptRow(Table):
    """The transcript of a video; its status is stored on its job."""

    __tablename__ = "transcripts"

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    video_id: Mapped[Id] = mapped_column(primary_key=True)
    language: Mapped[str] = mapped_column(Text)
    segments: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    speakers: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    alignment_path: Mapped[str] = mapped_column(Text)  # JSON file with the timing of every word
    engine: Mapped[str] = mapped_column(Text)
    created_at: Mapped[Instant]
