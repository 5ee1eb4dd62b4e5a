"""Database models of transcripts and their revisions; words are in object storage."""

from typing import Any

from sqlalchemy import CheckConstraint, ForeignKeyConstraint, Text, text
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
    revision: Mapped[int] = mapped_column(server_default=text("1"))
    recognized_revision: Mapped[int] = mapped_column(server_default=text("1"))  # the last one that an engine made
    # What segments, words and subtitles contain; later revisions are applied when the transcript is read.
    published_revision: Mapped[int] = mapped_column(server_default=text("1"))
    optimized: Mapped[dict[str, Any] | None] = mapped_column(JSONB)  # the script for voices


class TranscriptRevisionRow(Table):
    """A change of a transcript, as its difference to the revision before."""

    __tablename__ = "transcript_revisions"
    __table_args__ = (
        CheckConstraint("kind IN ('recognition', 'edit', 'undo', 'redo', 'restore')", name="kind"),
        ForeignKeyConstraint(
            ["library_id", "video_id"], ["transcripts.library_id", "transcripts.video_id"], ondelete="CASCADE"
        ),
    )

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    video_id: Mapped[Id] = mapped_column(primary_key=True)
    revision: Mapped[int] = mapped_column(primary_key=True)
    id: Mapped[Id]
    kind: Mapped[str] = mapped_column(Text)
    actor_kind: Mapped[str] = mapped_column(Text)
    user_id: Mapped[Id | None]  # none for an engine
    created_at: Mapped[Instant]
    summary: Mapped[dict[str, int]] = mapped_column(JSONB)  # the number of operations of each kind
    splices: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    labels: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    size_bytes: Mapped[int]
    undo_to: Mapped[int | None]
    redo_to: Mapped[int | None]
    restored_from: Mapped[int | None]
