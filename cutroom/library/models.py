"""Tables of videos, folders, characters and brand voices, and the totals of a library.

Every primary key starts with the library id: one index serves both lookups and newest-first lists, and the tables can
be partitioned by library without changing a query.
"""

from datetime import date

from sqlalchemy import BigInteger, CheckConstraint, Double, ForeignKeyConstraint, Index, SmallInteger, Text, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from cutroom.platform.tables import Id, Instant, Revision, Table

STATES = "'queued', 'processing', 'ready', 'failed'"


class VideoRow(Table):
    """A video or audio file with its import and transcript status."""

    __tablename__ = "videos"
    __table_args__ = (
        CheckConstraint(f"status IN ({STATES})", name="status"),
        CheckConstraint(f"import_status IN ({STATES})", name="import_status"),
        CheckConstraint(f"transcript_status IN ({STATES})", name="transcript_status"),
        CheckConstraint("media_type IN ('video', 'audio')", name="media_type"),
        CheckConstraint("purged_at IS NULL OR deleted_at IS NOT NULL", name="purged"),
        Index("videos_deleted_at_idx", "deleted_at", postgresql_where=text("deleted_at IS NOT NULL")),
    )

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    id: Mapped[Id] = mapped_column(primary_key=True)
    status: Mapped[str] = mapped_column(Text)
    title: Mapped[str | None] = mapped_column(Text)
    description: Mapped[str | None] = mapped_column(Text)
    duration_seconds: Mapped[float | None] = mapped_column(Double)
    provider: Mapped[str | None] = mapped_column(Text)
    media_type: Mapped[str | None] = mapped_column(Text)
    default_language_code: Mapped[str | None] = mapped_column(Text)
    folder_ids: Mapped[list[str]] = mapped_column(ARRAY(Text), server_default=text("'{}'"))
    import_status: Mapped[str | None] = mapped_column(Text)
    import_language: Mapped[str | None] = mapped_column(Text)
    transcript_status: Mapped[str | None] = mapped_column(Text)
    transcript_language: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[Instant]
    poster_path: Mapped[str | None] = mapped_column(Text)
    playback_languages: Mapped[list[str] | None] = mapped_column(
        ARRAY(Text)
    )  # languages with playable audio, once packaged
    hosted_url: Mapped[str | None] = mapped_column(Text)  # playback URL of an external host
    labels: Mapped[list[str]] = mapped_column(ARRAY(Text), server_default=text("'{}'"))
    revision: Mapped[Revision]
    deleted_at: Mapped[Instant | None]  # in the trash since then
    purged_at: Mapped[Instant | None]  # its rows and objects are being removed, and it can no longer be restored
    original_deleted_at: Mapped[Instant | None]  # by the retention policy


class FolderRow(Table):
    """A folder; depth 1 is the root level."""

    __tablename__ = "folders"
    __table_args__ = (
        ForeignKeyConstraint(
            ["library_id", "parent_id"], ["folders.library_id", "folders.id"], name="folders_parent_fkey"
        ),
        CheckConstraint("depth BETWEEN 1 AND 3", name="depth"),
        CheckConstraint("char_length(name) BETWEEN 1 AND 120", name="name"),
        CheckConstraint("(parent_id IS NULL) = (depth = 1)", name="root"),
    )

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    id: Mapped[Id] = mapped_column(primary_key=True)
    parent_id: Mapped[Id | None]
    name: Mapped[str] = mapped_column(Text)
    depth: Mapped[int] = mapped_column(SmallInteger)
    created_at: Mapped[Instant]
    revision: Mapped[Revision]


class CharacterRow(Table):
    """A character for thumbnails."""

    __tablename__ = "characters"

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    id: Mapped[Id] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(Text)
    created_at: Mapped[Instant]
    revision: Mapped[Revision]


class CharacterImage(Table):
    """A reference image of a character, in the object store."""

    __tablename__ = "character_images"
    __table_args__ = (
        ForeignKeyConstraint(
            ["library_id", "character_id"],
            ["characters.library_id", "characters.id"],
            name="character_images_character_fkey",
            ondelete="CASCADE",
        ),
        Index("character_images_character_idx", "library_id", "character_id", "id"),
    )

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    id: Mapped[Id] = mapped_column(primary_key=True)
    character_id: Mapped[Id]
    storage_path: Mapped[str] = mapped_column(Text)


class BrandVoiceRow(Table):
    """Branding guidelines for descriptions and thumbnails."""

    __tablename__ = "brand_voices"

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    id: Mapped[Id] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(Text)
    guidelines: Mapped[str] = mapped_column(Text)
    colors: Mapped[list[str] | None] = mapped_column(ARRAY(Text))
    created_at: Mapped[Instant]
    revision: Mapped[Revision]


class LibraryUsageRow(Table):
    """Totals of a library, maintained with the rows that they count."""

    __tablename__ = "library_usage"

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    source_bytes: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    imported_milliseconds: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    processed_milliseconds: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    month: Mapped[date | None]  # the first day of the month that the next column counts
    month_milliseconds: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))  # imported in it
    day: Mapped[date | None]  # that the next column counts
    day_failed_jobs: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))  # canceled ones included
