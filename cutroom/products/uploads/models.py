"""Tables of upload sessions and their parts."""

from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, ForeignKeyConstraint, Index, LargeBinary, Text, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from cutroom.platform.tables import Id, Instant, Table


class UploadSessionRow(Table):
    """State of a resumable upload: complete S3 parts, followed by partial parts."""

    __tablename__ = "upload_sessions"
    __table_args__ = (
        CheckConstraint("state IN ('open', 'assembling', 'complete', 'aborted')", name="state"),
        CheckConstraint("(state = 'complete') = (completed_at IS NOT NULL)", name="completed"),
        CheckConstraint("state <> 'assembling' OR assembly_until IS NOT NULL", name="assembly"),
        CheckConstraint("received_bytes <= total_bytes", name="received"),
        CheckConstraint("crc32c BETWEEN 0 AND 4294967295", name="crc32c"),
        Index(
            "upload_sessions_open_key",
            "library_id",
            "video_id",
            unique=True,
            postgresql_where=text("state IN ('open', 'assembling')"),
        ),
        Index("upload_sessions_expires_at_idx", "expires_at"),
        Index(
            "upload_sessions_undeleted_idx",
            "id",
            postgresql_where=text("state = 'aborted' AND multipart_id IS NOT NULL"),
        ),
        Index("upload_sessions_assembly_until_idx", "assembly_until", postgresql_where=text("state = 'assembling'")),
    )

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    id: Mapped[Id] = mapped_column(primary_key=True)
    video_id: Mapped[Id]
    account_id: Mapped[str | None] = mapped_column(Text)  # who was given the URL
    token_hash: Mapped[bytes] = mapped_column(LargeBinary)
    state: Mapped[str] = mapped_column(Text)
    assembly_owner: Mapped[str | None] = mapped_column(Text)  # the request that completes the object
    assembly_until: Mapped[Instant | None]  # when its lease ends, and another request may take over
    storage_path: Mapped[str] = mapped_column(Text)
    content_type: Mapped[str] = mapped_column(Text)
    multipart_id: Mapped[str | None] = mapped_column(Text)  # set while the object store may hold parts
    part_bytes: Mapped[int]
    part_count: Mapped[int]
    received_bytes: Mapped[int] = mapped_column(BigInteger)
    total_bytes: Mapped[int | None] = mapped_column(BigInteger)
    crc32c: Mapped[int] = mapped_column(BigInteger)  # of all received bytes
    md5: Mapped[str | None] = mapped_column(Text)
    partial_parts: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)  # path and size_bytes, in order
    created_at: Mapped[Instant]
    expires_at: Mapped[Instant]
    completed_at: Mapped[Instant | None]


class UploadPart(Table):
    """A complete part in the object store."""

    __tablename__ = "upload_parts"
    __table_args__ = (
        ForeignKeyConstraint(
            ["library_id", "session_id"],
            ["upload_sessions.library_id", "upload_sessions.id"],
            name="upload_parts_session_fkey",
            ondelete="CASCADE",
        ),
    )

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    session_id: Mapped[Id] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    etag: Mapped[str] = mapped_column(Text)
