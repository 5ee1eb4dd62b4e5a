"""Tables of review links and comments."""

from sqlalchemy import CheckConstraint, Double, Index, LargeBinary, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from cutroom.platform.tables import Id, Instant, Revision, Table


class ReviewLinkRow(Table):
    """A link that opens the review of one video without an account. Revoked links are deleted."""

    __tablename__ = "review_links"
    __table_args__ = (
        CheckConstraint("role IN ('view', 'comment', 'edit')", name="role"),
        UniqueConstraint("hash"),
        Index("review_links_video_id_idx", "library_id", "video_id", "id"),
    )

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    id: Mapped[Id] = mapped_column(primary_key=True)
    video_id: Mapped[Id]
    hash: Mapped[bytes] = mapped_column(LargeBinary)  # of the secret in its URL
    role: Mapped[str] = mapped_column(Text)
    label: Mapped[str | None] = mapped_column(Text)
    created_by: Mapped[Id]  # the link stops working when they leave the library
    created_at: Mapped[Instant]
    expires_at: Mapped[Instant]


class ReviewCommentRow(Table):
    """A comment at a time of a video."""

    __tablename__ = "review_comments"
    __table_args__ = (
        CheckConstraint("author_kind IN ('person', 'key', 'guest')", name="author_kind"),
        Index("review_comments_video_id_idx", "library_id", "video_id", "id"),
    )

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    id: Mapped[Id] = mapped_column(primary_key=True)
    video_id: Mapped[Id]
    time_seconds: Mapped[float] = mapped_column(Double)
    segment_id: Mapped[str | None] = mapped_column(Text)
    language: Mapped[str | None] = mapped_column(Text)  # of a dub or captions; none for the original
    text: Mapped[str] = mapped_column(Text)
    author_kind: Mapped[str] = mapped_column(Text)
    user_id: Mapped[Id | None]  # none for a guest
    guest_id: Mapped[Id | None]  # of one browser that opened the link
    guest_name: Mapped[str | None] = mapped_column(Text)
    link_id: Mapped[Id | None]
    resolved_at: Mapped[Instant | None]
    created_at: Mapped[Instant]
    revision: Mapped[Revision]
