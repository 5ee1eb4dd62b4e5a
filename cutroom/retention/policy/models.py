"""Tables of the retention policy: its settings, what is stored, and what it has deleted."""

from datetime import date

from sqlalchemy import BigInteger, CheckConstraint, Date, Text
from sqlalchemy.orm import Mapped, mapped_column

from cutroom.platform.tables import Id, Instant, Revision, Table


class RetentionPolicyRow(Table):
    """Days to keep each kind; absent for libraries with the defaults."""

    __tablename__ = "retention_policies"
    __table_args__ = (
        CheckConstraint("originals_days BETWEEN 1 AND 3650", name="originals_days"),
        CheckConstraint("intermediates_days BETWEEN 1 AND 3650", name="intermediates_days"),
        CheckConstraint("outputs_days BETWEEN 1 AND 3650", name="outputs_days"),
    )

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    originals_days: Mapped[int | None]
    intermediates_days: Mapped[int | None]
    outputs_days: Mapped[int | None]
    revision: Mapped[Revision]


class StorageUsageRow(Table):
    """Objects of a video, by kind and day of their last change, as of the last scan."""

    __tablename__ = "storage_usage"
    __table_args__ = (
        CheckConstraint(
            "kind IN ('original', 'intermediate', 'output', 'document', 'download', 'unknown')", name="kind"
        ),
    )

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    video_id: Mapped[Id] = mapped_column(primary_key=True)  # empty for objects of the library itself
    kind: Mapped[str] = mapped_column(Text, primary_key=True)
    changed_on: Mapped[date] = mapped_column(Date, primary_key=True)
    objects: Mapped[int]
    bytes: Mapped[int] = mapped_column(BigInteger)


class StorageScanRow(Table):
    """The totals of a library after its last scan."""

    __tablename__ = "storage_scans"

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    originals_bytes: Mapped[int] = mapped_column(BigInteger)
    intermediates_bytes: Mapped[int] = mapped_column(BigInteger)
    outputs_bytes: Mapped[int] = mapped_column(BigInteger)
    unknown_objects: Mapped[int]
    measured_at: Mapped[Instant]


class RetentionDeletion(Table):
    """What one run has deleted of a video."""

    __tablename__ = "retention_deletions"

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    run_at: Mapped[Instant] = mapped_column(primary_key=True)
    video_id: Mapped[Id] = mapped_column(primary_key=True)  # empty for abandoned uploads
    kind: Mapped[str] = mapped_column(Text, primary_key=True)
    objects: Mapped[int]
    bytes: Mapped[int] = mapped_column(BigInteger)
