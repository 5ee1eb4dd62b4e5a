"""Captions at rest, and which translations can be made."""

from typing import Any

from sqlalchemy import CheckConstraint, Text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from cutroom.platform.tables import Id, Instant, Table


class Captions(Table):
    """The segments of a transcript in another language, with the times of the original."""

    __tablename__ = "captions"
    __table_args__ = (CheckConstraint("quality IN ('good', 'draft')", name="quality"),)

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    video_id: Mapped[Id] = mapped_column(primary_key=True)
    language: Mapped[str] = mapped_column(Text, primary_key=True)
    segments: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    quality: Mapped[str] = mapped_column(Text)
    created_at: Mapped[Instant]


class TranslationRoute(Table):
    """A way between two languages that some worker has told of; the API knows no engine itself."""

    __tablename__ = "translation_routes"

    translator: Mapped[str] = mapped_column(Text, primary_key=True)
    source: Mapped[str] = mapped_column(Text, primary_key=True)
    target: Mapped[str] = mapped_column(Text, primary_key=True)
    quality: Mapped[str] = mapped_column(Text)
    via: Mapped[list[str]] = mapped_column(ARRAY(Text))
    seen_at: Mapped[Instant]
