"""Hosted videos at rest; how far an activation has come stands in its job."""

from sqlalchemy import Integer, LargeBinary, Text
from sqlalchemy.orm import Mapped, mapped_column

from cutroom.platform.tables import Id, Instant, Table


class HostingRow(Table):
    """A video at its host, by the ids that the host gave it; written as each becomes known."""

    __tablename__ = "hostings"

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    video_id: Mapped[Id] = mapped_column(primary_key=True)
    attempt: Mapped[int] = mapped_column(Integer)
    upload_id: Mapped[str | None] = mapped_column(Text)
    sealed_url: Mapped[bytes | None] = mapped_column(LargeBinary)  # whoever has it may upload
    asset_id: Mapped[str | None] = mapped_column(Text)
    playback_id: Mapped[str | None] = mapped_column(Text)
    updated_at: Mapped[Instant]
