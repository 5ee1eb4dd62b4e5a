"""Tables of the library's own bucket and of the copies in it. The secret access key is encrypted."""

from sqlalchemy import BigInteger, CheckConstraint, LargeBinary, Text, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from cutroom.platform.tables import Id, Instant, Revision, Table


class DestinationRow(Table):
    """The bucket that outputs of a library are copied to."""

    __tablename__ = "destinations"

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    endpoint: Mapped[str] = mapped_column(Text)
    region: Mapped[str] = mapped_column(Text)
    bucket: Mapped[str] = mapped_column(Text)
    prefix: Mapped[str] = mapped_column(Text)
    access_key_id: Mapped[str] = mapped_column(Text)
    sealed_secret: Mapped[bytes] = mapped_column(LargeBinary)
    enabled: Mapped[bool]
    created_at: Mapped[Instant]
    revision: Mapped[Revision]


class OutputCopyRow(Table):
    """The copy of one job's files."""

    __tablename__ = "output_copies"
    __table_args__ = (
        UniqueConstraint("library_id", "job_id", name="output_copies_job_key"),
        CheckConstraint("status IN ('pending', 'copied', 'failed')", name="status"),
        CheckConstraint("(status = 'failed') = (error_message IS NOT NULL)", name="error"),
        CheckConstraint("status <> 'copied' OR copied_at IS NOT NULL", name="copied"),
    )

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    id: Mapped[Id] = mapped_column(primary_key=True)
    job_id: Mapped[Id]
    video_id: Mapped[Id]
    status: Mapped[str] = mapped_column(Text)
    run: Mapped[int] = mapped_column(server_default=text("1"))  # incremented when the job's files are copied again
    error_message: Mapped[str | None] = mapped_column(Text)
    objects: Mapped[int] = mapped_column(server_default=text("0"))
    bytes: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    created_at: Mapped[Instant]
    copied_at: Mapped[Instant | None]
