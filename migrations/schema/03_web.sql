CREATE TABLE idempotency_records (
    library_id text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    key text NOT NULL,
    path text NOT NULL,
    body_hash bytea NOT NULL,
    status smallint NOT NULL,
    sealed_body bytea NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT idempotency_records_pkey PRIMARY KEY (library_id, user_id, key)
);

CREATE INDEX idempotency_records_created_at_idx ON idempotency_records (created_at);

CREATE FUNCTION purge_idempotency_records(before timestamptz, at_most integer) RETURNS integer
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH old AS (
        SELECT library_id, user_id, key FROM idempotency_records WHERE created_at < before
        ORDER BY created_at LIMIT at_most FOR UPDATE SKIP LOCKED
    ), gone AS (
        DELETE FROM idempotency_records r USING old
         WHERE r.library_id = old.library_id AND r.user_id = old.user_id AND r.key = old.key
        RETURNING 1
    )
    SELECT count(*)::integer FROM gone
$$;
