"""Revisions of transcripts, each stored as its difference to the one before.

Only a new table and columns with defaults: 0.1.0 runs with either version. It reads the transcript as it was last
published.
"""

from alembic import op

revision = "0007"
down_revision = "0006"

_OF_LIBRARY = "library_id = current_setting('cutroom.library_id', true)"
TABLE = "transcript_revisions"

_COLUMNS = """
ALTER TABLE transcripts
    ADD COLUMN revision integer NOT NULL DEFAULT 1,
    ADD COLUMN recognized_revision integer NOT NULL DEFAULT 1, -- the last one that an engine made
    ADD COLUMN published_revision integer NOT NULL DEFAULT 1 -- what segments, alignment_path and subtitles contain
"""
_REVISIONS = """
CREATE TABLE transcript_revisions (
    library_id text COLLATE "C" NOT NULL,
    video_id text COLLATE "C" NOT NULL,
    revision integer NOT NULL,
    id text COLLATE "C" NOT NULL,
    kind text NOT NULL CONSTRAINT transcript_revisions_kind_check
        CHECK (kind IN ('recognition', 'edit', 'undo', 'redo', 'restore')),
    actor_kind text NOT NULL,
    user_id text COLLATE "C", -- none for an engine
    created_at timestamptz NOT NULL,
    summary jsonb NOT NULL, -- the number of operations of each kind
    splices jsonb NOT NULL, -- segments that differ from the revision before, in both directions
    labels jsonb NOT NULL, -- labels of speakers that differ from it
    size_bytes integer NOT NULL,
    undo_to integer,
    redo_to integer,
    restored_from integer,
    CONSTRAINT transcript_revisions_pkey PRIMARY KEY (library_id, video_id, revision),
    CONSTRAINT transcript_revisions_library_id_video_id_fkey FOREIGN KEY (library_id, video_id)
        REFERENCES transcripts (library_id, video_id) ON DELETE CASCADE
)
"""
_ANNOUNCED = """
CREATE TRIGGER transcript_revisions_announced AFTER INSERT ON transcript_revisions
FOR EACH ROW WHEN (current_setting('cutroom.library_id', true) <> '') EXECUTE FUNCTION announce_video_output()
"""
_ERASURE_TABLES = """
CREATE OR REPLACE FUNCTION erasure_tables() RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT ARRAY[{names}]
$$
"""


def upgrade() -> None:
    for statement in (_COLUMNS, _REVISIONS, _ANNOUNCED):
        op.execute(statement)
    op.execute(f"ALTER TABLE {TABLE} ENABLE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY own_library ON {TABLE} USING ({_OF_LIBRARY}) WITH CHECK ({_OF_LIBRARY})")
    listed: list[str] = op.get_bind().exec_driver_sql("SELECT erasure_tables()").scalar_one()
    names = [TABLE, *(each for each in listed if each != TABLE)]  # before the transcripts
    op.execute(_ERASURE_TABLES.format(names=", ".join(f"'{each}'" for each in names)))


def downgrade() -> None:
    """Nothing to revert: 0.1.0 does not use the new table and columns."""
