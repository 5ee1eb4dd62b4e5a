"""Dubs: one language of one video, in one kind of voices."""

from alembic import op

revision = "0009"
down_revision = "0008"

TABLE = """
CREATE TABLE dubs (
    library_id text COLLATE "C" NOT NULL,
    video_id text COLLATE "C" NOT NULL,
    language text NOT NULL,
    product text NOT NULL,
    completion text NOT NULL
        CONSTRAINT dubs_completion_check CHECK (completion IN ('pending', 'preview_ready', 'complete')),
    segments jsonb NOT NULL,
    speakers jsonb NOT NULL,
    edits jsonb NOT NULL,
    sync jsonb NOT NULL,
    audio_path text,
    preview_path text,
    updated_at timestamptz NOT NULL,
    CONSTRAINT dubs_pkey PRIMARY KEY (library_id, video_id, language, product)
)
"""


def upgrade() -> None:
    op.execute(TABLE)
    condition = "library_id = current_setting('cutroom.library_id', true)"
    op.execute("ALTER TABLE dubs ENABLE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY own_library ON dubs USING ({condition}) WITH CHECK ({condition})")
    op.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON dubs TO cutroom_app")


def downgrade() -> None:
    op.execute("DROP TABLE dubs")
