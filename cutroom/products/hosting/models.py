"""The hostings table; the progress of an activation is in its job."""

from sqlalchemy import Integer, LargeBinary, Text
from sqlalchemy.orm import Mapped, mapped_column

from cutroom.platform.tables import Id, Instant, Table


class HostingRow(Table):
    """Provider ids of a hosted video, saved as they become known."""

    __tablename__ = "hostings"

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    video_id: Mapped[Id] = mapped_column(primary_key=True)
    attempt: Mapped[int] = mapped_column(Integer)
    upload_id: Mapped[str | None] = mapped_column(Text)
    sealed_url: Mapped[bytes | None] = mapped_column(LargeBinary)  # encrypted: the URL grants upload access
    asset_id: Mapped[str | None] = mapped_column(Text)
    playback_id: Mapped[str | None] = mapped_column(Text)
    updated_at: Mapped[Instant]
