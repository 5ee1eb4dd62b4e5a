"""The cast of a library: people who speak in its videos, and their voice prints.

Only new tables and a view: 0.1.0 runs with either version.
"""

from alembic import op

revision = "0012"
down_revision = "0011"

_OF_LIBRARY = "library_id = current_setting('cutroom.library_id', true)"
TABLES = ("cast_appearances", "cast_members", "cast_scopes")

_MEMBERS = """
CREATE TABLE cast_members (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    folder_id text COLLATE "C", -- where the member is recognized; everywhere if it is null
    name text NOT NULL,
    voices jsonb NOT NULL DEFAULT '{}', -- voice id by language
    created_at timestamptz NOT NULL,
    revision integer NOT NULL DEFAULT 1,
    CONSTRAINT cast_members_pkey PRIMARY KEY (library_id, id),
    CONSTRAINT cast_members_library_id_folder_id_fkey FOREIGN KEY (library_id, folder_id)
        REFERENCES folders (library_id, id) ON DELETE CASCADE
)
"""
_REVISION = """
CREATE TRIGGER cast_members_revision BEFORE UPDATE ON cast_members FOR EACH ROW
WHEN ((OLD.folder_id, OLD.name, OLD.voices) IS DISTINCT FROM (NEW.folder_id, NEW.name, NEW.voices))
EXECUTE FUNCTION next_revision()
"""
_APPEARANCES = """
CREATE TABLE cast_appearances (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    member_id text COLLATE "C" NOT NULL,
    video_id text COLLATE "C" NOT NULL,
    speaker text NOT NULL,
    source text NOT NULL CONSTRAINT cast_appearances_source_check CHECK (source IN ('confirmed', 'recognized')),
    similarity double precision, -- of a recognized speaker
    embedding_status text NOT NULL CONSTRAINT cast_appearances_embedding_status_check
        CHECK (embedding_status IN ('none', 'pending', 'ready', 'failed')),
    failure text, -- why there is no voice print
    engine text, -- whose embeddings can be compared with this one
    sealed_embedding bytea,
    created_at timestamptz NOT NULL,
    CONSTRAINT cast_appearances_pkey PRIMARY KEY (library_id, id),
    CONSTRAINT cast_appearances_speaker_key UNIQUE (library_id, video_id, speaker),
    CONSTRAINT cast_appearances_library_id_member_id_fkey FOREIGN KEY (library_id, member_id)
        REFERENCES cast_members (library_id, id) ON DELETE CASCADE,
    CONSTRAINT cast_appearances_library_id_video_id_fkey FOREIGN KEY (library_id, video_id)
        REFERENCES transcripts (library_id, video_id) ON DELETE CASCADE
)
"""
_APPEARANCES_INDEX = "CREATE INDEX cast_appearances_member_idx ON cast_appearances (library_id, member_id, id DESC)"
_SCOPES = """
CREATE TABLE cast_scopes (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    folder_id text COLLATE "C", -- in which speakers are recognized; in the whole library if it is null
    created_at timestamptz NOT NULL,
    CONSTRAINT cast_scopes_pkey PRIMARY KEY (library_id, id),
    CONSTRAINT cast_scopes_folder_key UNIQUE NULLS NOT DISTINCT (library_id, folder_id),
    CONSTRAINT cast_scopes_library_id_folder_id_fkey FOREIGN KEY (library_id, folder_id)
        REFERENCES folders (library_id, id) ON DELETE CASCADE
)
"""
_VOICES = """
CREATE VIEW published_voices WITH (security_invoker = true) AS
    SELECT library_id, id FROM voices WHERE deleted_at IS NULL
"""
_ERASURE_TABLES = """
CREATE OR REPLACE FUNCTION erasure_tables() RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT ARRAY[{names}]
$$
"""


def upgrade() -> None:
    for statement in (_MEMBERS, _REVISION, _APPEARANCES, _APPEARANCES_INDEX, _SCOPES, _VOICES):
        op.execute(statement)
    for table in TABLES:
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY own_library ON {table} USING ({_OF_LIBRARY}) WITH CHECK ({_OF_LIBRARY})")
    listed: list[str] = op.get_bind().exec_driver_sql("SELECT erasure_tables()").scalar_one()
    names = [*TABLES, *(each for each in listed if each not in TABLES)]  # before transcripts and folders
    op.execute(_ERASURE_TABLES.format(names=", ".join(f"'{each}'" for each in names)))


def downgrade() -> None:
    """Nothing to revert: 0.1.0 does not use the new tables and view."""
