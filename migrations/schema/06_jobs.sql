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
    progress real NOT NULL CONSTRAINT jobs_progress_check CHECK (progress BETWEEN 0 AND 100),
    result jsonb,
    error_code text,
    error_message text,
    error_details jsonb,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    queued_at timestamptz NOT NULL DEFAULT now(),
    started_at timestamptz,
    finished_at timestamptz,
    media_seconds real,
    reached_seconds real[],
    expected_seconds real[],
    charge jsonb,
    trace_context jsonb,
    output_deleted_at timestamptz,
    CONSTRAINT jobs_pkey PRIMARY KEY (library_id, id),
    CONSTRAINT jobs_error_check CHECK ((status = 'failed') = (error_code IS NOT NULL)),
    CONSTRAINT jobs_finished_check CHECK ((status IN ('ready', 'failed')) = (finished_at IS NOT NULL)),
    CONSTRAINT jobs_output_deleted_check CHECK (output_deleted_at IS NULL OR status IN ('ready', 'failed'))
);

CREATE INDEX jobs_video_idx ON jobs (library_id, video_id, created_at DESC, id DESC);

CREATE INDEX jobs_unfinished_idx ON jobs (library_id, status) WHERE status IN ('queued', 'processing');

CREATE INDEX jobs_principal_idx ON jobs (library_id, principal_id) WHERE status IN ('queued', 'processing');

CREATE INDEX jobs_stale_idx ON jobs (updated_at) WHERE status IN ('queued', 'processing');

CREATE INDEX jobs_measured_idx ON jobs (type, finished_at DESC) WHERE status = 'ready' AND reached_seconds IS NOT NULL;

-- Oldest workflow starts, with each library's running jobs kept under the cap; rows stay locked until commit.
CREATE FUNCTION claim_outbox_rows(at_most integer, running_cap integer)
RETURNS TABLE (id bigint, library_id text, workflow text, workflow_id text, queue text, argument jsonb,
               is_job boolean, trace_context jsonb)
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH ranked AS (
        SELECT o.id, o.library_id, o.is_job,
               row_number() OVER (PARTITION BY o.library_id, o.is_job ORDER BY o.id) AS place
          FROM (SELECT * FROM outbox
                 WHERE outbox.set_aside_at IS NULL AND (outbox.retry_at IS NULL OR outbox.retry_at <= now())
                 ORDER BY outbox.id LIMIT 20000) o
    ), running AS (
        SELECT j.library_id, count(*) AS jobs FROM jobs j
         WHERE j.status = 'processing' AND j.library_id IN (SELECT r.library_id FROM ranked r WHERE r.is_job)
         GROUP BY j.library_id
    ), allowed AS (
        SELECT r.id FROM ranked r LEFT JOIN running ON running.library_id = r.library_id
         WHERE NOT r.is_job OR r.place <= running_cap - coalesce(running.jobs, 0)
         ORDER BY r.place, r.id LIMIT at_most
    )
    SELECT o.id, o.library_id, o.workflow, o.workflow_id, o.queue, o.argument, o.is_job, o.trace_context
      FROM outbox o JOIN allowed USING (id) FOR UPDATE OF o SKIP LOCKED
$$;

-- Workflow starts that wait to be relayed, the age of the oldest that no cap holds back, and those set aside.
CREATE FUNCTION outbox_backlog(running_cap integer)
RETURNS TABLE (waiting bigint, oldest_seconds double precision, set_aside bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH running AS (
        SELECT j.library_id, count(*) AS jobs FROM jobs j
         WHERE j.status = 'processing' AND j.library_id IN (SELECT o.library_id FROM outbox o WHERE o.is_job)
         GROUP BY j.library_id
    )
    SELECT count(*) FILTER (WHERE o.set_aside_at IS NULL),
           coalesce(extract(epoch FROM now() - min(o.created_at)
               FILTER (WHERE o.set_aside_at IS NULL
                         AND (NOT o.is_job OR coalesce(running.jobs, 0) < running_cap))), 0)::double precision,
           count(*) FILTER (WHERE o.set_aside_at IS NOT NULL)
      FROM outbox o LEFT JOIN running ON running.library_id = o.library_id
$$;

-- Marks the jobs as processing in the same statement, so that the concurrency cap counts them immediately, and
-- remembers the workflow. Forgets old ones a few at a time: Temporal has deleted their histories long before.
CREATE FUNCTION delete_outbox_rows(ids bigint[]) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH gone AS (DELETE FROM outbox WHERE id = ANY (ids) RETURNING library_id, workflow_id, argument, is_job),
    remembered AS (
        INSERT INTO started_workflows (library_id, workflow_id) SELECT library_id, workflow_id FROM gone
            ON CONFLICT DO NOTHING
    ), forgotten AS (
        DELETE FROM started_workflows w USING (
            SELECT library_id, workflow_id FROM started_workflows WHERE started_at < now() - interval '180 days'
            ORDER BY started_at LIMIT 100 FOR UPDATE SKIP LOCKED
        ) old WHERE w.library_id = old.library_id AND w.workflow_id = old.workflow_id
    )
    UPDATE jobs j SET status = 'processing', updated_at = now() FROM gone
     WHERE gone.is_job AND j.library_id = gone.library_id AND j.id = gone.argument ->> 'job_id'
       AND j.attempt = (gone.argument ->> 'attempt')::smallint AND j.status = 'queued'
$$;

-- Records the seconds after which each tenth of the progress was reached; null stays null, for runs that are not measured.
CREATE FUNCTION with_marks(reached real[], progress real, seconds double precision) RETURNS real[]
LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT reached || array_fill(seconds::real, ARRAY[greatest(0, floor(progress / 10)::integer - cardinality(reached))])
$$;

-- Durations of finished jobs like a given one, the latest first, across libraries.
CREATE FUNCTION measured_runs(like_type text, like_product text, like_automation_type text, at_most integer)
RETURNS TABLE (media_seconds real, reached_seconds real[])
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT recent.media_seconds, recent.reached_seconds
      FROM (SELECT * FROM jobs j
             WHERE j.type = like_type AND j.status = 'ready' AND j.reached_seconds IS NOT NULL
             ORDER BY j.finished_at DESC LIMIT 10 * at_most) recent
     WHERE recent.product IS NOT DISTINCT FROM like_product
       AND recent.automation_type IS NOT DISTINCT FROM like_automation_type
     ORDER BY recent.finished_at DESC LIMIT at_most
$$;

-- Counts refusals of workflow starts: each is tried again later and later, and after `max_refusals` set aside.
CREATE FUNCTION defer_outbox_rows(ids bigint[], max_refusals integer) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    UPDATE outbox SET refusals = refusals + 1, retry_at = now() + interval '1 second' * 2 ^ refusals,
           set_aside_at = CASE WHEN refusals + 1 >= max_refusals THEN now() END
     WHERE id = ANY (ids)
$$;

-- Jobs with unmet dependencies use a longer threshold, so that they do not crowd out the others.
CREATE FUNCTION stale_jobs(since timestamptz, waiting_since timestamptz, at_most integer)
RETURNS TABLE (library_id text, id text, type text, status text, attempt smallint, depends_on text[],
               updated_at timestamptz, in_outbox boolean, is_set_aside boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT j.library_id, j.id, j.type, j.status, j.attempt, j.depends_on, j.updated_at,
           start.is_set_aside IS NOT NULL, coalesce(start.is_set_aside, false)
      FROM jobs j
      LEFT JOIN LATERAL (
          SELECT bool_and(o.set_aside_at IS NOT NULL) AS is_set_aside FROM outbox o
           WHERE o.is_job AND o.library_id = j.library_id AND o.argument ->> 'job_id' = j.id
      ) start ON true
     WHERE j.status IN ('queued', 'processing') AND j.updated_at < since
       AND (cardinality(j.depends_on) = 0 OR j.updated_at < waiting_since)
     ORDER BY j.updated_at LIMIT at_most
$$;
