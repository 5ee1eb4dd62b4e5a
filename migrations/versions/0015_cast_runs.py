"""Comparisons of existing transcripts with the cast, and speakers that people have said are not a member.

Only new tables: 0.1.0 runs with either version.
"""

from alembic import op

revision = "0015"
down_revision = "0014"

_OF_LIBRARY = "library_id = current_setting('cutroom.library_id', true)"
TABLES = ("cast_exclusions", "cast_runs")

_RUNS = """
CREATE TABLE cast_runs (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    folder_id text COLLATE "C", -- whose videos are compared; those of the whole library if it is null
    status text NOT NULL CONSTRAINT cast_runs_status_check CHECK (status IN ('running', 'finished')),
    last_video_id text COLLATE "C", -- videos are compared in the order of their ids
    videos_compared integer NOT NULL DEFAULT 0,
    videos_failed integer NOT NULL DEFAULT 0,
    speakers_recognized integer NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    finished_at timestamptz,
    CONSTRAINT cast_runs_pkey PRIMARY KEY (library_id, id),
    CONSTRAINT cast_runs_library_id_folder_id_fkey FOREIGN KEY (library_id, folder_id)
        REFERENCES folders (library_id, id) ON DELETE CASCADE
)
"""
_EXCLUSIONS = """
CREATE TABLE cast_exclusions (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    member_id text COLLATE "C" NOT NULL,
    video_id text COLLATE "C" NOT NULL,
    speaker text NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT cast_exclusions_pkey PRIMARY KEY (library_id, id),
    CONSTRAINT cast_exclusions_speaker_key UNIQUE (library_id, video_id, speaker, member_id),
    CONSTRAINT cast_exclusions_library_id_member_id_fkey FOREIGN KEY (library_id, member_id)
        REFERENCES cast_members (library_id, id) ON DELETE CASCADE,
    CONSTRAINT cast_exclusions_library_id_video_id_fkey FOREIGN KEY (library_id, video_id)
        REFERENCES transcripts (library_id, video_id) ON DELETE CASCADE
)
"""
_ERASURE_TABLES = """
CREATE OR REPLACE FUNCTION erasure_tables() RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT ARRAY[{names}]
$$
"""


def upgrade() -> None:
    for statement in (_RUNS, _EXCLUSIONS):
        op.execute(statement)
    for table in TABLES:
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY own_library ON {table} USING ({_OF_LIBRARY}) WITH CHECK ({_OF_LIBRARY})")
    listed: list[str] = op.get_bind().exec_driver_sql("SELECT erasure_tables()").scalar_one()
    names = [*TABLES, *(each for each in listed if each not in TABLES)]  # before members, transcripts and folders
    op.execute(_ERASURE_TABLES.format(names=", ".join(f"'{each}'" for each in names)))


def downgrade() -> None:
    """Nothing to revert: 0.1.0 does not use the new tables."""
