"""Tables of the cast, its appearances, where speakers are recognized, and comparisons of existing transcripts."""

from typing import Any

from sqlalchemy import CheckConstraint, Double, ForeignKeyConstraint, Index, LargeBinary, Text, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from cutroom.platform.tables import Id, Instant, Revision, Table


class CastMemberRow(Table):
    """A person who speaks in several videos of a library, or of a folder."""

    __tablename__ = "cast_members"
    __table_args__ = (
        ForeignKeyConstraint(["library_id", "folder_id"], ["folders.library_id", "folders.id"], ondelete="CASCADE"),
    )

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    id: Mapped[Id] = mapped_column(primary_key=True)
    folder_id: Mapped[Id | None]  # where the member is recognized; everywhere if it is null
    name: Mapped[str] = mapped_column(Text)
    voices: Mapped[dict[str, Any]] = mapped_column(JSONB, server_default=text("'{}'"))  # voice id by language
    created_at: Mapped[Instant]
    revision: Mapped[Revision]


class CastAppearanceRow(Table):
    """A speaker of a video who is a member of the cast; confirmed by people, or recognized."""

    __tablename__ = "cast_appearances"
    __table_args__ = (
        CheckConstraint("source IN ('confirmed', 'recognized')", name="source"),
        CheckConstraint("embedding_status IN ('none', 'pending', 'ready', 'failed')", name="embedding_status"),
        UniqueConstraint("library_id", "video_id", "speaker", name="cast_appearances_speaker_key"),
        Index("cast_appearances_member_idx", "library_id", "member_id", text("id DESC")),
        ForeignKeyConstraint(
            ["library_id", "member_id"], ["cast_members.library_id", "cast_members.id"], ondelete="CASCADE"
        ),
        ForeignKeyConstraint(
            ["library_id", "video_id"], ["transcripts.library_id", "transcripts.video_id"], ondelete="CASCADE"
        ),
    )

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    id: Mapped[Id] = mapped_column(primary_key=True)
    member_id: Mapped[Id]
    video_id: Mapped[Id]
    speaker: Mapped[str] = mapped_column(Text)
    source: Mapped[str] = mapped_column(Text)
    similarity: Mapped[float | None] = mapped_column(Double)  # of a recognized speaker
    embedding_status: Mapped[str] = mapped_column(Text)  # the state of the stored embedding
    failure: Mapped[str | None] = mapped_column(Text)  # why there is none
    engine: Mapped[str | None] = mapped_column(Text)  # whose embeddings can be compared with this one
    sealed_embedding: Mapped[bytes | None] = mapped_column(LargeBinary)
    created_at: Mapped[Instant]


class CastScopeRow(Table):
    """Where speakers are recognized: in the whole library, or in a folder and those inside it."""

    __tablename__ = "cast_scopes"
    __table_args__ = (
        UniqueConstraint("library_id", "folder_id", name="cast_scopes_folder_key", postgresql_nulls_not_distinct=True),
        ForeignKeyConstraint(["library_id", "folder_id"], ["folders.library_id", "folders.id"], ondelete="CASCADE"),
    )

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    id: Mapped[Id] = mapped_column(primary_key=True)
    folder_id: Mapped[Id | None]  # the whole library if it is null
    created_at: Mapped[Instant]


class CastRunRow(Table):
    """A comparison of existing transcripts with the cast; the latest one of a library is kept."""

    __tablename__ = "cast_runs"
    __table_args__ = (
        CheckConstraint("status IN ('running', 'finished')", name="status"),
        ForeignKeyConstraint(["library_id", "folder_id"], ["folders.library_id", "folders.id"], ondelete="CASCADE"),
    )

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    id: Mapped[Id] = mapped_column(primary_key=True)
    folder_id: Mapped[Id | None]  # whose videos are compared; those of the whole library if it is null
    status: Mapped[str] = mapped_column(Text)
    last_video_id: Mapped[Id | None]  # videos are compared in the order of their ids
    videos_compared: Mapped[int] = mapped_column(server_default=text("0"))
    videos_failed: Mapped[int] = mapped_column(server_default=text("0"))
    speakers_recognized: Mapped[int] = mapped_column(server_default=text("0"))
    created_at: Mapped[Instant]
    updated_at: Mapped[Instant]
    finished_at: Mapped[Instant | None]


class CastExclusionRow(Table):
    """A speaker of a video whom people have said is not a member of the cast."""

    __tablename__ = "cast_exclusions"
    __table_args__ = (
        UniqueConstraint("library_id", "video_id", "speaker", "member_id", name="cast_exclusions_speaker_key"),
        ForeignKeyConstraint(
            ["library_id", "member_id"], ["cast_members.library_id", "cast_members.id"], ondelete="CASCADE"
        ),
        ForeignKeyConstraint(
            ["library_id", "video_id"], ["transcripts.library_id", "transcripts.video_id"], ondelete="CASCADE"
        ),
    )

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    id: Mapped[Id] = mapped_column(primary_key=True)
    member_id: Mapped[Id]
    video_id: Mapped[Id]
    speaker: Mapped[str] = mapped_column(Text)
    created_at: Mapped[Instant]
