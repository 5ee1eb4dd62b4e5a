"""The table of a cell's database that says which libraries are moving; the directory's own are in `schema`."""

from sqlalchemy import CheckConstraint, Text, text
from sqlalchemy.orm import Mapped, mapped_column

from cutroom.platform.tables import Id, Instant, Table


class LibraryMove(Table):
    """A library that is frozen, has left this cell, or is arriving; others have no row."""

    __tablename__ = "library_moves"
    __table_args__ = (
        CheckConstraint("state IN ('frozen', 'left', 'arriving')", name="state"),
        CheckConstraint("(state = 'frozen') = (until IS NOT NULL)", name="until"),
    )

    id: Mapped[Id] = mapped_column(primary_key=True)
    state: Mapped[str] = mapped_column(Text)
    until: Mapped[Instant | None]  # a frozen library thaws by itself
    created_at: Mapped[Instant] = mapped_column(server_default=text("now()"))
