"""Database models of voices and syntheses."""

from typing import Any

from sqlalchemy import Double, Index, LargeBinary, SmallInteger, Text, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from cutroom.platform.tables import Id, Instant, Revision, Table


class VoiceRow(Table):
    """A voice clone; its progress is stored on its job."""

    __tablename__ = "voices"
    __table_args__ = (Index("voices_newest_idx", "library_id", text("created_at DESC"), text("id DESC")),)

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    id: Mapped[Id] = mapped_column(primary_key=True)
    job_id: Mapped[Id]
    name: Mapped[str] = mapped_column(Text)
    description: Mapped[str | None] = mapped_column(Text)
    labels: Mapped[dict[str, str]] = mapped_column(JSONB)
    remove_noise: Mapped[bool]
    sample_count: Mapped[int] = mapped_column(SmallInteger)  # uploaded files
    sealed_url: Mapped[bytes | None] = mapped_column(LargeBinary)
    reference_path: Mapped[str | None] = mapped_column(Text)
    reference_sha256: Mapped[str | None] = mapped_column(Text)
    preview_path: Mapped[str | None] = mapped_column(Text)
    pitch_hz: Mapped[float | None] = mapped_column(Double)
    language: Mapped[str | None] = mapped_column(Text)  # language of the preview
    engine: Mapped[str | None] = mapped_column(Text)
    is_approximate: Mapped[bool | None]
    embedding: Mapped[list[float] | None] = mapped_column(JSONB)  # mean speaker embedding
    created_at: Mapped[Instant]
    deleted_at: Mapped[Instant | None]
    samples_deleted_at: Mapped[Instant | None]
    revision: Mapped[Revision]


class VoiceConsentRow(Table):
    """Consent to clone a voice; kept after the voice is deleted."""

    __tablename__ = "voice_consents"

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    voice_id: Mapped[Id] = mapped_column(primary_key=True)
    user_id: Mapped[Id]
    principal_id: Mapped[Id]  # API key or token
    samples_sha256: Mapped[list[str]] = mapped_column(ARRAY(Text))
    given_at: Mapped[Instant]


class SynthesisRow(Table):
    """A synthesized text; identical requests within its lifetime reuse it."""

    __tablename__ = "syntheses"
    __table_args__ = (UniqueConstraint("library_id", "fingerprint"), Index("syntheses_created_at_idx", "created_at"))

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    id: Mapped[Id] = mapped_column(primary_key=True)
    fingerprint: Mapped[str] = mapped_column(Text)
    voice_id: Mapped[Id]
    text: Mapped[str] = mapped_column(Text)
    language: Mapped[str | None] = mapped_column(Text)
    speed: Mapped[float] = mapped_column(Double)
    format: Mapped[str] = mapped_column(Text)
    passage_sizes: Mapped[dict[str, Any]] = mapped_column(JSONB)  # size in bytes of each finished passage, by number
    created_at: Mapped[Instant]
