"""Tables of playback state and packaged tracks."""

from typing import Any

from sqlalchemy import CheckConstraint, Integer, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from cutroom.platform.tables import Id, Instant, Table


class PlaybackRow(Table):
    """State of a video's playback, and the workflow that holds its lease, if any."""

    __tablename__ = "playbacks"
    __table_args__ = (CheckConstraint("state IN ('processing', 'ready', 'failed')", name="state"),)

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    video_id: Mapped[Id] = mapped_column(primary_key=True)
    state: Mapped[str] = mapped_column(Text)
    revision: Mapped[int] = mapped_column(Integer)  # request revision, checked before the lease is released
    lease_holder: Mapped[str | None] = mapped_column(Text)
    error: Mapped[str | None] = mapped_column(Text)
    updated_at: Mapped[Instant]
    # Which deleted words the stream leaves out.
    requested_edit: Mapped[dict[str, Any] | None] = mapped_column(JSONB)
    planned_edit: Mapped[dict[str, Any] | None] = mapped_column(JSONB)
    packaged_edit: Mapped[dict[str, Any] | None] = mapped_column(JSONB)


class PlaybackTrackRow(Table):
    """A packaged rendition, audio or subtitle track, and what it was made from."""

    __tablename__ = "playback_tracks"
    __table_args__ = (CheckConstraint("kind IN ('video', 'audio', 'text')", name="kind"),)

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    video_id: Mapped[Id] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(Text, primary_key=True)
    name: Mapped[str] = mapped_column(Text, primary_key=True)  # rendition name, language, or `original`
    language: Mapped[str | None] = mapped_column(Text)
    source: Mapped[str] = mapped_column(Text)
    packaged: Mapped[dict[str, Any]] = mapped_column(JSONB)
    created_at: Mapped[Instant]
