"""Thumbnails: what was asked for, what was found in the film for it, and what was drawn."""

from alembic import op

revision = "0012"
down_revision = "0011"

REQUESTS = """
CREATE TABLE thumbnail_requests (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    video_id text COLLATE "C" NOT NULL,
    job_id text NOT NULL,
    detected jsonb,
    decision jsonb,
    created_at timestamptz NOT NULL,
    CONSTRAINT thumbnail_requests_pkey PRIMARY KEY (library_id, id),
    CONSTRAINT thumbnail_requests_job_key UNIQUE (library_id, job_id)
)
"""
THUMBNAILS = """
CREATE TABLE thumbnails (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    request_id text COLLATE "C" NOT NULL,
    video_id text COLLATE "C" NOT NULL,
    number integer NOT NULL,
    language text,
    headline text,
    layout text NOT NULL,
    score double precision NOT NULL,
    engine text NOT NULL,
    path text NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT thumbnails_pkey PRIMARY KEY (library_id, id)
)
"""
TABLES = ("thumbnail_requests", "thumbnails")


def upgrade() -> None:
    op.execute(REQUESTS)
    op.execute(THUMBNAILS)
    op.execute("CREATE INDEX thumbnail_requests_video_idx ON thumbnail_requests (library_id, video_id, created_at)")
    op.execute("CREATE INDEX thumbnails_request_idx ON thumbnails (library_id, request_id, number)")
    condition = "library_id = current_setting('cutroom.library_id', true)"
    for table in TABLES:
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY own_library ON {table} USING ({condition}) WITH CHECK ({condition})")
        op.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO cutroom_app")


def downgrade() -> None:
    for table in TABLES:
        op.execute(f"DROP TABLE {table}")
