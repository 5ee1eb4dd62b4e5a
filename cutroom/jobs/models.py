"""Job table."""

from typing import Any

from sqlalchemy import REAL, CheckConstraint, Index, SmallInteger, Text, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from cutroom.platform.tables import Id, Instant, Table

UNFINISHED = "status IN ('queued', 'processing')"
MEASURED = "status = 'ready' AND reached_seconds IS NOT NULL"


class JobRow(Table):
    """A job and the state of its latest attempt."""

    __tablename__ = "jobs"
    __table_args__ = (
        CheckConstraint("status IN ('queued', 'processing', 'ready', 'failed')", name="status"),
        CheckConstraint("progress BETWEEN 0 AND 100", name="progress"),
        CheckConstraint("(status = 'failed') = (error_code IS NOT NULL)", name="error"),
        CheckConstraint("(status IN ('ready', 'failed')) = (finished_at IS NOT NULL)", name="finished"),
        CheckConstraint("output_deleted_at IS NULL OR status IN ('ready', 'failed')", name="output_deleted"),
        Index("jobs_video_idx", "library_id", "video_id", text("created_at DESC"), text("id DESC")),
        Index("jobs_unfinished_idx", "library_id", "status", postgresql_where=text(UNFINISHED)),
        Index("jobs_principal_idx", "library_id", "principal_id", postgresql_where=text(UNFINISHED)),
        Index("jobs_stale_idx", "updated_at", postgresql_where=text(UNFINISHED)),
        Index("jobs_measured_idx", "type", text("finished_at DESC"), postgresql_where=text(MEASURED)),
    )

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    id: Mapped[Id] = mapped_column(primary_key=True)
    type: Mapped[str] = mapped_column(Text)
    status: Mapped[str] = mapped_column(Text)
    video_id: Mapped[Id | None]
    language: Mapped[str | None] = mapped_column(Text)
    product: Mapped[str | None] = mapped_column(Text)
    automation_type: Mapped[str | None] = mapped_column(Text)
    principal_id: Mapped[Id | None]  # the API key that created it; its unfinished jobs are limited
    attempt: Mapped[int] = mapped_column(SmallInteger)
    plan: Mapped[dict[str, Any]] = mapped_column(JSONB)  # the workflow's input
    depends_on: Mapped[list[str]] = mapped_column(ARRAY(Text))  # ids of jobs that must be ready first
    charge: Mapped[dict[str, Any] | None] = mapped_column(JSONB)  # null for free jobs
    trace_context: Mapped[dict[str, Any] | None] = mapped_column(JSONB)  # W3C headers of the request's trace
    stage: Mapped[str | None] = mapped_column(Text)
    progress: Mapped[float] = mapped_column(REAL)  # in percent; the API shows whole numbers
    result: Mapped[dict[str, Any] | None] = mapped_column(JSONB)
    error_code: Mapped[str | None] = mapped_column(Text)
    error_message: Mapped[str | None] = mapped_column(Text)
    error_details: Mapped[dict[str, Any] | None] = mapped_column(JSONB)
    created_at: Mapped[Instant]
    updated_at: Mapped[Instant]
    # When this attempt became ready to run: created, or released by its last dependency.
    queued_at: Mapped[Instant] = mapped_column(server_default=text("now()"))
    started_at: Mapped[Instant | None]
    finished_at: Mapped[Instant | None]
    media_seconds: Mapped[float | None] = mapped_column(REAL)  # length of the video
    # Seconds after which each tenth of the progress was reached; null if the run is not measured.
    reached_seconds: Mapped[list[float] | None] = mapped_column(ARRAY(REAL))
    expected_seconds: Mapped[list[float] | None] = mapped_column(ARRAY(REAL))  # the same, as expected at the start
    requested_at: Mapped[Instant | None]  # when this attempt was requested; null if 0.1.0 created it
    steps: Mapped[list[dict[str, Any]] | None] = mapped_column(JSONB)  # of this attempt, one for each stage
    earlier_attempts: Mapped[list[dict[str, Any]] | None] = mapped_column(JSONB)  # the latest ten, for the timeline
    output_deleted_at: Mapped[Instant | None]  # the job can be requested again, and is charged again
