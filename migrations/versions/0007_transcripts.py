"""Transcripts and captions, and which translations the workers can make."""

from alembic import op

revision = "0007"
down_revision = "0006"

TABLES = """
CREATE TABLE transcripts (
    library_id text COLLATE "C" NOT NULL,
    video_id text COLLATE "C" NOT NULL,
    language text NOT NULL,
    segments jsonb NOT NULL,
    speakers jsonb NOT NULL,
    alignment_path text NOT NULL,
    engine text NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT transcripts_pkey PRIMARY KEY (library_id, video_id)
);

CREATE TABLE captions (
    library_id text COLLATE "C" NOT NULL,
    video_id text COLLATE "C" NOT NULL,
    language text NOT NULL,
    segments jsonb NOT NULL,
    quality text NOT NULL CONSTRAINT captions_quality_check CHECK (quality IN ('good', 'draft')),
    created_at timestamptz NOT NULL,
    CONSTRAINT captions_pkey PRIMARY KEY (library_id, video_id, language)
);

CREATE TABLE translation_routes (
    translator text NOT NULL,
    source text NOT NULL,
    target text NOT NULL,
    quality text NOT NULL,
    via text[] NOT NULL,
    seen_at timestamptz NOT NULL,
    CONSTRAINT translation_routes_pkey PRIMARY KEY (translator, source, target)
)
"""
LIBRARY_TABLES = ("transcripts", "captions")


def upgrade() -> None:
    for statement in TABLES.strip().split("\n\n"):
        op.execute(statement)
    condition = "library_id = current_setting('cutroom.library_id', true)"
    for table in LIBRARY_TABLES:
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY own_library ON {table} USING ({condition}) WITH CHECK ({condition})")
        op.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO cutroom_app")
    # What engines can do is the same for everybody: no library, no wall.
    op.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON translation_routes TO cutroom_app")


def downgrade() -> None:
    for table in (*LIBRARY_TABLES, "translation_routes"):
        op.execute(f"DROP TABLE {table}")
