"""Jobs, the outbox, and where videos came from."""

from alembic import op

revision = "0002"
down_revision = "0001"

TABLES = """
CREATE TABLE jobs (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    type text NOT NULL,
    status text NOT NULL CONSTRAINT jobs_status_check
        CHECK (status IN ('queued', 'processing', 'ready', 'failed')),
    video_id text COLLATE "C",
    language text,
    product text,
    automation_type text,
    principal_id text COLLATE "C",
    attempt smallint NOT NULL,
    plan jsonb NOT NULL,
    depends_on text[] NOT NULL,
    stage text,
    progress smallint NOT NULL CONSTRAINT jobs_progress_check CHECK (progress BETWEEN 0 AND 100),
    result jsonb,
    error_code text,
    error_message text,
    error_details jsonb,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    finished_at timestamptz,
    CONSTRAINT jobs_pkey PRIMARY KEY (library_id, id),
    CONSTRAINT jobs_error_check CHECK ((status = 'failed') = (error_code IS NOT NULL)),
    CONSTRAINT jobs_finished_check CHECK ((status IN ('ready', 'failed')) = (finished_at IS NOT NULL))
);

CREATE INDEX jobs_video_idx ON jobs (library_id, video_id, created_at DESC, id DESC);

CREATE INDEX jobs_unfinished_idx ON jobs (library_id, status) WHERE status IN ('queued', 'processing');

CREATE INDEX jobs_principal_idx ON jobs (library_id, principal_id) WHERE status IN ('queued', 'processing');

CREATE INDEX jobs_untouched_idx ON jobs (updated_at) WHERE status IN ('queued', 'processing');

CREATE TABLE outbox (
    id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT outbox_pkey PRIMARY KEY,
    library_id text COLLATE "C" NOT NULL,
    workflow text NOT NULL,
    workflow_id text NOT NULL,
    queue text NOT NULL,
    argument jsonb NOT NULL,
    is_job boolean NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE sources (
    library_id text COLLATE "C" NOT NULL,
    video_id text COLLATE "C" NOT NULL,
    type text NOT NULL CONSTRAINT sources_type_check
        CHECK (type IN ('youtube', 'dropbox', 'google_drive', 'https', 'upload')),
    fingerprint text,
    sealed_url bytea,
    file_name text,
    content_type text,
    storage_path text NOT NULL,
    size_bytes bigint,
    sha256 bytea,
    is_live boolean NOT NULL DEFAULT true,
    created_at timestamptz NOT NULL,
    CONSTRAINT sources_pkey PRIMARY KEY (library_id, video_id)
);

CREATE UNIQUE INDEX sources_fingerprint_key ON sources (library_id, fingerprint) WHERE is_live;
"""

# The relay and the sweeper look across libraries; these doors show them no more than they need.
FUNCTIONS = """
-- The oldest workflow starts, each library's running jobs kept under the cap; locked until the caller commits.
CREATE FUNCTION take_outbox(at_most integer, running_cap integer)
RETURNS TABLE (id bigint, library_id text, workflow text, workflow_id text, queue text, argument jsonb,
               is_job boolean)
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH ranked AS (
        SELECT o.id, o.library_id, o.is_job,
               row_number() OVER (PARTITION BY o.library_id, o.is_job ORDER BY o.id) AS place
          FROM (SELECT * FROM outbox ORDER BY outbox.id LIMIT 20000) o
    ), running AS (
        SELECT j.library_id, count(*) AS jobs FROM jobs j
         WHERE j.status = 'processing' AND j.library_id IN (SELECT r.library_id FROM ranked r WHERE r.is_job)
         GROUP BY j.library_id
    ), allowed AS (
        SELECT r.id FROM ranked r LEFT JOIN running ON running.library_id = r.library_id
         WHERE NOT r.is_job OR r.place <= running_cap - coalesce(running.jobs, 0)
         ORDER BY r.place, r.id LIMIT at_most
    )
    SELECT o.id, o.library_id, o.workflow, o.workflow_id, o.queue, o.argument, o.is_job
      FROM outbox o JOIN allowed USING (id) FOR UPDATE OF o SKIP LOCKED
$$;

-- Temporal has them now: from here on their jobs count as running, or the cap would lag behind.
CREATE FUNCTION drop_outbox(ids bigint[]) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH gone AS (DELETE FROM outbox WHERE id = ANY (ids) RETURNING library_id, argument, is_job)
    UPDATE jobs j SET status = 'processing', updated_at = now() FROM gone
     WHERE gone.is_job AND j.library_id = gone.library_id AND j.id = gone.argument ->> 'job_id'
       AND j.attempt = (gone.argument ->> 'attempt')::smallint AND j.status = 'queued'
$$;

-- Those that wait for something are left alone for longer, or they would hide the others.
CREATE FUNCTION untouched_jobs(since timestamptz, waiting_since timestamptz, at_most integer)
RETURNS TABLE (library_id text, id text, type text, status text, attempt smallint, depends_on text[],
               updated_at timestamptz, in_outbox boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT j.library_id, j.id, j.type, j.status, j.attempt, j.depends_on, j.updated_at,
           EXISTS (SELECT FROM outbox o WHERE o.is_job AND o.library_id = j.library_id
                      AND o.argument ->> 'job_id' = j.id)
      FROM jobs j
     WHERE j.status IN ('queued', 'processing') AND j.updated_at < since
       AND (cardinality(j.depends_on) = 0 OR j.updated_at < waiting_since)
     ORDER BY j.updated_at LIMIT at_most
$$;
"""

DOORS = (
    "take_outbox(integer, integer)",
    "drop_outbox(bigint[])",
    "untouched_jobs(timestamptz, timestamptz, integer)",
)
LIBRARY_TABLES = {
    "jobs": "SELECT, INSERT, UPDATE",
    "outbox": "INSERT",
    "sources": "SELECT, INSERT, UPDATE",
}


def upgrade() -> None:
    for statement in (TABLES + FUNCTIONS).strip().split("\n\n"):
        op.execute(statement)
    condition = "library_id = current_setting('cutroom.library_id', true)"
    for table, rights in LIBRARY_TABLES.items():
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY own_library ON {table} USING ({condition}) WITH CHECK ({condition})")
        op.execute(f"GRANT {rights} ON {table} TO cutroom_app")
    for door in DOORS:
        op.execute(f"REVOKE ALL ON FUNCTION {door} FROM PUBLIC")
        op.execute(f"GRANT EXECUTE ON FUNCTION {door} TO cutroom_app")


def downgrade() -> None:
    for door in DOORS:
        op.execute(f"DROP FUNCTION {door}")
    for table in LIBRARY_TABLES:
        op.execute(f"DROP TABLE {table}")
