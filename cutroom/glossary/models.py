"""Table of glossary terms."""

from typing import Any

from sqlalchemy import Boolean, ForeignKeyConstraint, Text, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from cutroom.platform.tables import Id, Instant, Revision, Table


class GlossaryTermRow(Table):
    """A term of one language, for the whole library or for a folder."""

    __tablename__ = "glossary_terms"
    __table_args__ = (
        UniqueConstraint(
            "library_id",
            "folder_id",
            "language",
            "term_key",
            name="glossary_terms_term_key",
            postgresql_nulls_not_distinct=True,
        ),
        ForeignKeyConstraint(["library_id", "folder_id"], ["folders.library_id", "folders.id"], ondelete="CASCADE"),
    )

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    id: Mapped[Id] = mapped_column(primary_key=True)
    folder_id: Mapped[Id | None]  # where it applies; everywhere if it is null
    term: Mapped[str] = mapped_column(Text)
    term_key: Mapped[str] = mapped_column(Text)  # folded, unless the case counts
    language: Mapped[str] = mapped_column(Text)
    keep: Mapped[bool] = mapped_column(Boolean)
    case_sensitive: Mapped[bool] = mapped_column(Boolean)
    translations: Mapped[dict[str, Any]] = mapped_column(JSONB, server_default=text("'{}'"))
    pronunciations: Mapped[dict[str, Any]] = mapped_column(JSONB, server_default=text("'{}'"))
    note: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[Instant]
    revision: Mapped[Revision]
