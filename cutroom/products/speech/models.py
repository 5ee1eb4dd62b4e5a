"""Voices and readings at rest."""

from typing import Any

from sqlalchemy import Double, Index, LargeBinary, SmallInteger, Text, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from cutroom.platform.tables import Id, Instant, Table


class VoiceRow(Table):
    """A clone; how far its making has come stands in its job."""

    __tablename__ = "voices"
    __table_args__ = (Index("voices_newest_idx", "library_id", text("created_at DESC"), text("id DESC")),)

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    id: Mapped[Id] = mapped_column(primary_key=True)
    job_id: Mapped[Id]
    name: Mapped[str] = mapped_column(Text)
    description: Mapped[str | None] = mapped_column(Text)
    labels: Mapped[dict[str, str]] = mapped_column(JSONB)
    remove_noise: Mapped[bool]
    samples: Mapped[int] = mapped_column(SmallInteger)  # files that came with the request
    sealed_url: Mapped[bytes | None] = mapped_column(LargeBinary)
    reference_path: Mapped[str | None] = mapped_column(Text)
    reference_sha256: Mapped[str | None] = mapped_column(Text)
    preview_path: Mapped[str | None] = mapped_column(Text)
    pitch_hz: Mapped[float | None] = mapped_column(Double)
    language: Mapped[str | None] = mapped_column(Text)  # in which its preview speaks
    engine: Mapped[str | None] = mapped_column(Text)
    is_approximate: Mapped[bool | None]
    profile: Mapped[list[float] | None] = mapped_column(JSONB)  # how the voice sounds
    created_at: Mapped[Instant]
    deleted_at: Mapped[Instant | None]
    cleared_at: Mapped[Instant | None]  # when its samples were removed from the store


class VoiceConsent(Table):
    """Who said that a voice may be cloned; it stays when the voice is gone."""

    __tablename__ = "voice_consents"

    library_id: Mapped[Id] = mapped_column(primary_key=True)
    voice_id: Mapped[Id] = mapped_column(primary_key=True)
    user_id: Mapped[Id]
    principal_id: Mapped[Id]  # the key or token that was used
    samples_sha256: Mapped[list[str]] = mapped_column(ARRAY(Text))
    given_at: Mapped[Instant]


class Synthesis(Table):
    """A text that was read aloud; asked for again while it is kept, it is given again."""

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
    sizes: Mapped[dict[str, Any]] = mapped_column(JSONB)  # bytes of each passage that is there, by its number
    created_at: Mapped[Instant]


class ServiceVoiceRow(Table):
    """A voice that some worker's engine has; the API knows no engine itself."""

    __tablename__ = "service_voices"

    id: Mapped[Id] = mapped_column(primary_key=True)
    speaker: Mapped[str] = mapped_column(Text)
    name: Mapped[str] = mapped_column(Text)
    title: Mapped[str] = mapped_column(Text)
    language: Mapped[str] = mapped_column(Text)
    gender: Mapped[str] = mapped_column(Text)
    age: Mapped[str] = mapped_column(Text)
    seen_at: Mapped[Instant]
