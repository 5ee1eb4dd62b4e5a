"""Voice clones, who consented to them, readings of text, and which voices the workers' engines have."""

from alembic import op

revision = "0008"
down_revision = "0007"

TABLES = """
CREATE TABLE voices (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    job_id text COLLATE "C" NOT NULL,
    name text NOT NULL,
    description text,
    labels jsonb NOT NULL,
    remove_noise boolean NOT NULL,
    samples smallint NOT NULL,
    sealed_url bytea,
    reference_path text,
    reference_sha256 text,
    preview_path text,
    pitch_hz double precision,
    language text,
    engine text,
    is_approximate boolean,
    profile jsonb,
    created_at timestamptz NOT NULL,
    deleted_at timestamptz,
    cleared_at timestamptz,
    CONSTRAINT voices_pkey PRIMARY KEY (library_id, id)
);

CREATE INDEX voices_newest_idx ON voices (library_id, created_at DESC, id DESC);

CREATE TABLE voice_consents (
    library_id text COLLATE "C" NOT NULL,
    voice_id text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    principal_id text COLLATE "C" NOT NULL,
    samples_sha256 text[] NOT NULL,
    given_at timestamptz NOT NULL,
    CONSTRAINT voice_consents_pkey PRIMARY KEY (library_id, voice_id)
);

CREATE TABLE syntheses (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    fingerprint text NOT NULL,
    voice_id text COLLATE "C" NOT NULL,
    text text NOT NULL,
    language text,
    speed double precision NOT NULL,
    format text NOT NULL,
    sizes jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT syntheses_pkey PRIMARY KEY (library_id, id),
    CONSTRAINT syntheses_library_id_fingerprint_key UNIQUE (library_id, fingerprint)
);

CREATE INDEX syntheses_created_at_idx ON syntheses (created_at);

CREATE TABLE service_voices (
    id text COLLATE "C" NOT NULL,
    speaker text NOT NULL,
    name text NOT NULL,
    title text NOT NULL,
    language text NOT NULL,
    gender text NOT NULL,
    age text NOT NULL,
    seen_at timestamptz NOT NULL,
    CONSTRAINT service_voices_pkey PRIMARY KEY (id)
)
"""
LIBRARY_TABLES = {
    "voices": "SELECT, INSERT, UPDATE, DELETE",
    "voice_consents": "SELECT, INSERT",  # what was said stays said
    "syntheses": "SELECT, INSERT, UPDATE, DELETE",
}

DOORS = """
-- Clones of every library that were deleted, or have failed, before a moment, and whose samples are still there.
CREATE FUNCTION voices_to_clear(before timestamptz, at_most integer)
RETURNS TABLE (library_id text, id text) LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT v.library_id, v.id FROM voices v JOIN jobs j ON j.library_id = v.library_id AND j.id = v.job_id
     WHERE v.cleared_at IS NULL AND (v.deleted_at < before OR (j.status = 'failed' AND j.finished_at < before))
       AND j.status IN ('ready', 'failed')
     ORDER BY v.library_id, v.id LIMIT at_most
$$;

-- Readings of every library that were made before a moment and are at their end.
CREATE FUNCTION readings_to_forget(before timestamptz, at_most integer)
RETURNS TABLE (library_id text, id text) LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT s.library_id, s.id FROM syntheses s
      JOIN jobs j ON j.library_id = s.library_id AND j.id = 'speech_' || s.id
     WHERE s.created_at < before AND j.status IN ('ready', 'failed')
     ORDER BY s.created_at LIMIT at_most
$$
"""
FUNCTIONS = ("voices_to_clear(timestamptz, integer)", "readings_to_forget(timestamptz, integer)")


def upgrade() -> None:
    for statement in (TABLES.strip() + ";\n\n" + DOORS.strip()).split("\n\n"):
        op.execute(statement)
    condition = "library_id = current_setting('cutroom.library_id', true)"
    for table, rights in LIBRARY_TABLES.items():
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY own_library ON {table} USING ({condition}) WITH CHECK ({condition})")
        op.execute(f"GRANT {rights} ON {table} TO cutroom_app")
    # What engines can do is the same for everybody: no library, no wall.
    op.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON service_voices TO cutroom_app")
    for function in FUNCTIONS:
        op.execute(f"REVOKE ALL ON FUNCTION {function} FROM PUBLIC")
        op.execute(f"GRANT EXECUTE ON FUNCTION {function} TO cutroom_app")


def downgrade() -> None:
    for function in FUNCTIONS:
        op.execute(f"DROP FUNCTION {function}")
    for table in (*LIBRARY_TABLES, "service_voices"):
        op.execute(f"DROP TABLE {table}")
