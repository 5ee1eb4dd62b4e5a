"""Tables of advertised capabilities; they are shared by all libraries."""

from sqlalchemy import CheckConstraint, Double, Text, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from cutroom.platform.tables import Id, Instant, Table


class TranslationRouteRow(Table):
    """A translation route that a worker's engine offers."""

    __tablename__ = "translation_routes"
    __table_args__ = (CheckConstraint("quality IN ('publishable', 'review', 'draft')", name="quality"),)

    engine: Mapped[str] = mapped_column(Text, primary_key=True)
    source: Mapped[str] = mapped_column(Text, primary_key=True)
    target: Mapped[str] = mapped_column(Text, primary_key=True)
    quality: Mapped[str] = mapped_column(Text)
    share: Mapped[float | None] = mapped_column(Double)  # of lines right in meaning, if measured
    is_rule_based: Mapped[bool] = mapped_column(server_default=text("false"))
    via: Mapped[list[str]] = mapped_column(ARRAY(Text))
    seen_at: Mapped[Instant]


class StockVoiceRow(Table):
    """A voice that comes with a worker's speech engine."""

    __tablename__ = "stock_voices"

    id: Mapped[Id] = mapped_column(primary_key=True)
    engine: Mapped[str] = mapped_column(Text)
    name: Mapped[str] = mapped_column(Text)
    title: Mapped[str] = mapped_column(Text)
    language: Mapped[str] = mapped_column(Text)
    gender: Mapped[str] = mapped_column(Text)
    age: Mapped[str] = mapped_column(Text)
    seen_at: Mapped[Instant]
