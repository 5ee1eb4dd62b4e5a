"""What of a video can be played, at rest."""

from typing import Any

from sqlalchemy import CheckConstraint, Integer, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from cutroom.platform.tables import Id, Instant, Table


class Playback(Table):
    """How far a video's playback has come, and which workflow is at work on it, if any."""

    __tablename__ = "playbacks"
    __table_args__ = (CheckConstraint("state IN ('processing', 'ready', 'failed')", name="state"),)

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    video_id: Mapped[Id] = mapped_column(primary_key=True)
    state: Mapped[str] = mapped_column(Text)
    asked: Mapped[int] = mapped_column(Integer)  # how often something new was told; the runner looks before it goes
    runner: Mapped[str | None] = mapped_column(Text)
    error: Mapped[str | None] = mapped_column(Text)
    updated_at: Mapped[Instant]


class PlaybackTrack(Table):
    """One rung, sound or text that is packaged, and what it was made from."""

    __tablename__ = "playback_tracks"
    __table_args__ = (CheckConstraint("kind IN ('picture', 'sound', 'text')", name="kind"),)

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    video_id: Mapped[Id] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(Text, primary_key=True)
    name: Mapped[str] = mapped_column(Text, primary_key=True)  # a rung's size, a language, or `original`
    language: Mapped[str | None] = mapped_column(Text)
    source: Mapped[str] = mapped_column(Text)
    packaged: Mapped[dict[str, Any]] = mapped_column(JSONB)
    created_at: Mapped[Instant]
