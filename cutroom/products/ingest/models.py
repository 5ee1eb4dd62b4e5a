"""Table of video sources."""

from sqlalchemy import BigInteger, CheckConstraint, Index, LargeBinary, Text, text
from sqlalchemy.orm import Mapped, mapped_column

from cutroom.platform.tables import Id, Instant, Table


class SourceRow(Table):
    """A video's source; its URL is encrypted, because signed links contain secrets."""

    __tablename__ = "sources"
    __table_args__ = (
        CheckConstraint("type IN ('youtube', 'dropbox', 'google_drive', 'https', 'upload')", name="type"),
        # A library imports a source only once, unless the earlier import failed.
        Index("sources_fingerprint_key", "library_id", "fingerprint", unique=True, postgresql_where=text("is_active")),
        Index(
            "sources_upload_expires_at_idx",
            "upload_expires_at",
            postgresql_where=text("upload_expires_at IS NOT NULL"),
        ),
    )

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    video_id: Mapped[Id] = mapped_column(primary_key=True)
    type: Mapped[str] = mapped_column(Text)
    fingerprint: Mapped[str | None] = mapped_column(Text)
    sealed_url: Mapped[bytes | None] = mapped_column(LargeBinary)
    file_name: Mapped[str | None] = mapped_column(Text)
    content_type: Mapped[str | None] = mapped_column(Text)
    storage_path: Mapped[str] = mapped_column(Text)
    size_bytes: Mapped[int | None] = mapped_column(BigInteger)
    sha256: Mapped[bytes | None] = mapped_column(LargeBinary)
    is_active: Mapped[bool] = mapped_column(server_default=text("true"))
    created_at: Mapped[Instant]
    upload_expires_at: Mapped[Instant | None]  # when the import stops waiting for its file; set while it waits
