"""Hosting: the ids of videos at their host."""

from alembic import op

revision = "0014"
down_revision = "0013"

TABLE = """
CREATE TABLE hostings (
    library_id text COLLATE "C" NOT NULL,
    video_id text COLLATE "C" NOT NULL,
    attempt integer NOT NULL,
    upload_id text,
    sealed_url bytea,
    asset_id text,
    playback_id text,
    updated_at timestamptz NOT NULL,
    CONSTRAINT hostings_pkey PRIMARY KEY (library_id, video_id)
)
"""


def upgrade() -> None:
    op.execute(TABLE)
    condition = "library_id = current_setting('cutroom.library_id', true)"
    op.execute("ALTER TABLE hostings ENABLE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY own_library ON hostings USING ({condition}) WITH CHECK ({condition})")
    op.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON hostings TO cutroom_app")


def downgrade() -> None:
    op.execute("DROP TABLE hostings")
