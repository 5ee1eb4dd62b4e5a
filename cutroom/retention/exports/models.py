"""Tables of exports, their files and the parts of their archives."""

from typing import Any

from sqlalchemy import REAL, BigInteger, CheckConstraint, ForeignKeyConstraint, Index, Text, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from cutroom.platform.tables import Id, Instant, Table

UNFINISHED = "status IN ('queued', 'processing') AND deleted_at IS NULL"


class ExportRow(Table):
    """An export of a library and the state of its archive."""

    __tablename__ = "exports"
    __table_args__ = (
        CheckConstraint("status IN ('queued', 'processing', 'ready', 'failed')", name="status"),
        CheckConstraint("progress BETWEEN 0 AND 100", name="progress"),
        CheckConstraint("(status = 'failed') = (error_code IS NOT NULL)", name="error"),
        CheckConstraint("(status IN ('ready', 'failed')) = (finished_at IS NOT NULL)", name="finished"),
        CheckConstraint("status <> 'ready' OR (sha256 IS NOT NULL AND archive_bytes IS NOT NULL)", name="ready"),
        Index("exports_unfinished_key", "library_id", unique=True, postgresql_where=text(UNFINISHED)),
        Index("exports_expires_at_idx", "expires_at"),
    )

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    id: Mapped[Id] = mapped_column(primary_key=True)
    status: Mapped[str] = mapped_column(Text)
    progress: Mapped[float] = mapped_column(REAL, server_default=text("0"))
    multipart_id: Mapped[str | None] = mapped_column(Text)  # set while the object store may hold parts
    part_bytes: Mapped[int | None] = mapped_column(BigInteger)
    file_count: Mapped[int | None]
    content_bytes: Mapped[int | None] = mapped_column(BigInteger)
    archive_bytes: Mapped[int | None] = mapped_column(BigInteger)
    sha256: Mapped[str | None] = mapped_column(Text)
    summary: Mapped[dict[str, Any] | None] = mapped_column(JSONB)
    error_code: Mapped[str | None] = mapped_column(Text)
    error_message: Mapped[str | None] = mapped_column(Text)
    error_details: Mapped[dict[str, Any] | None] = mapped_column(JSONB)
    created_at: Mapped[Instant]
    finished_at: Mapped[Instant | None]
    expires_at: Mapped[Instant]
    deleted_at: Mapped[Instant | None]


class ExportFileRow(Table):
    """A file of an unfinished archive; the manifest is number 0."""

    __tablename__ = "export_files"
    __table_args__ = (
        ForeignKeyConstraint(
            ["library_id", "export_id"],
            ["exports.library_id", "exports.id"],
            name="export_files_export_fkey",
            ondelete="CASCADE",
        ),
        CheckConstraint("crc32 BETWEEN 0 AND 4294967295", name="crc32"),
        CheckConstraint("(sha256 IS NULL) = (crc32 IS NULL)", name="checksums"),
        Index(
            "export_files_unread_idx",
            "library_id",
            "export_id",
            "number",
            postgresql_where=text("sha256 IS NULL AND NOT is_missing"),
        ),
    )

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    export_id: Mapped[Id] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    name: Mapped[str] = mapped_column(Text)
    kind: Mapped[str] = mapped_column(Text)
    storage_path: Mapped[str] = mapped_column(Text)
    start_byte: Mapped[int] = mapped_column(BigInteger)  # in the object; several small files share one
    size_bytes: Mapped[int | None] = mapped_column(BigInteger)
    etag: Mapped[str | None] = mapped_column(Text)
    crc32: Mapped[int | None] = mapped_column(BigInteger)
    sha256: Mapped[str | None] = mapped_column(Text)
    is_missing: Mapped[bool] = mapped_column(server_default=text("false"))


class ExportPart(Table):
    """A stored part of an unfinished archive."""

    __tablename__ = "export_parts"
    __table_args__ = (
        ForeignKeyConstraint(
            ["library_id", "export_id"],
            ["exports.library_id", "exports.id"],
            name="export_parts_export_fkey",
            ondelete="CASCADE",
        ),
    )

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    export_id: Mapped[Id] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    etag: Mapped[str] = mapped_column(Text)
