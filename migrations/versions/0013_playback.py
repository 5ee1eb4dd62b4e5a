"""Playback: what of a video can be played, and who is at work on it; where a video is played from stands on it."""

from alembic import op

revision = "0013"
down_revision = "0012"

PLAYBACKS = """
CREATE TABLE playbacks (
    library_id text COLLATE "C" NOT NULL,
    video_id text COLLATE "C" NOT NULL,
    state text NOT NULL,
    asked integer NOT NULL,
    runner text,
    error text,
    updated_at timestamptz NOT NULL,
    CONSTRAINT playbacks_pkey PRIMARY KEY (library_id, video_id),
    CONSTRAINT playbacks_state_check CHECK (state IN ('processing', 'ready', 'failed'))
)
"""
TRACKS = """
CREATE TABLE playback_tracks (
    library_id text COLLATE "C" NOT NULL,
    video_id text COLLATE "C" NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    language text,
    source text NOT NULL,
    packaged jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT playback_tracks_pkey PRIMARY KEY (library_id, video_id, kind, name),
    CONSTRAINT playback_tracks_kind_check CHECK (kind IN ('picture', 'sound', 'text'))
)
"""


def upgrade() -> None:
    condition = "library_id = current_setting('cutroom.library_id', true)"
    for table, statement in (("playbacks", PLAYBACKS), ("playback_tracks", TRACKS)):
        op.execute(statement)
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY own_library ON {table} USING ({condition}) WITH CHECK ({condition})")
        op.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO cutroom_app")
    op.execute("ALTER TABLE videos ADD COLUMN playback_languages text[]")
    op.execute("ALTER TABLE videos ADD COLUMN hosted_url text")


def downgrade() -> None:
    op.execute("ALTER TABLE videos DROP COLUMN hosted_url")
    op.execute("ALTER TABLE videos DROP COLUMN playback_languages")
    op.execute("DROP TABLE playback_tracks")
    op.execute("DROP TABLE playbacks")
