"""Shorts: what a request has made."""

from alembic import op

revision = "0011"
down_revision = "0010"

TABLE = """
CREATE TABLE shorts_outputs (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    request_id text COLLATE "C" NOT NULL,
    video_id text COLLATE "C" NOT NULL,
    number integer NOT NULL,
    kind text NOT NULL,
    title text NOT NULL,
    description text NOT NULL,
    reason text NOT NULL,
    duration_seconds double precision NOT NULL,
    moments jsonb NOT NULL,
    video_path text NOT NULL,
    thumbnail_path text NOT NULL,
    plan_path text NOT NULL,
    created_at timestamptz NOT NULL,
    deleted_at timestamptz,
    CONSTRAINT shorts_outputs_pkey PRIMARY KEY (library_id, id)
)
"""


def upgrade() -> None:
    op.execute(TABLE)
    op.execute("CREATE INDEX shorts_outputs_request_idx ON shorts_outputs (library_id, request_id, number)")
    condition = "library_id = current_setting('cutroom.library_id', true)"
    op.execute("ALTER TABLE shorts_outputs ENABLE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY own_library ON shorts_outputs USING ({condition}) WITH CHECK ({condition})")
    op.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON shorts_outputs TO cutroom_app")


def downgrade() -> None:
    op.execute("DROP TABLE shorts_outputs")
