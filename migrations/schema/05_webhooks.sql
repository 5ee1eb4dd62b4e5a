CREATE TABLE webhook_endpoints (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    url text NOT NULL,
    events text[] NOT NULL,
    sealed_secret bytea NOT NULL,
    sealed_previous_secret bytea, -- signs too, until its time
    previous_secret_until timestamptz,
    created_at timestamptz NOT NULL,
    deleted_at timestamptz,
    disabled_at timestamptz,
    disabled_reason text,
    revision integer NOT NULL DEFAULT 1,
    CONSTRAINT webhook_endpoints_pkey PRIMARY KEY (library_id, id)
);

CREATE UNIQUE INDEX webhook_endpoints_url_key ON webhook_endpoints (library_id, url) WHERE deleted_at IS NULL;

CREATE INDEX webhook_endpoints_id_idx ON webhook_endpoints (id);

CREATE TRIGGER webhook_endpoints_revision BEFORE UPDATE ON webhook_endpoints FOR EACH ROW
WHEN ((OLD.url, OLD.events, OLD.disabled_at) IS DISTINCT FROM (NEW.url, NEW.events, NEW.disabled_at))
EXECUTE FUNCTION next_revision();

CREATE TABLE events (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    type text NOT NULL,
    payload jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT events_pkey PRIMARY KEY (library_id, id)
);

CREATE INDEX events_created_at_idx ON events (created_at);

CREATE TABLE delivery_attempts (
    library_id text COLLATE "C" NOT NULL,
    event_id text COLLATE "C" NOT NULL,
    endpoint_id text COLLATE "C" NOT NULL,
    number smallint NOT NULL,
    at timestamptz NOT NULL,
    status smallint,
    outcome text NOT NULL CONSTRAINT delivery_attempts_outcome_check
        CHECK (outcome IN ('delivered', 'refused', 'gone', 'unreachable')),
    milliseconds integer NOT NULL,
    retry_after_seconds integer,
    CONSTRAINT delivery_attempts_pkey PRIMARY KEY (library_id, event_id, endpoint_id, number),
    CONSTRAINT delivery_attempts_status_check CHECK ((outcome = 'unreachable') = (status IS NULL))
);

-- The contract answers 403, not 404, when another principal's endpoint is deleted; this reveals only existence.
CREATE FUNCTION webhook_endpoint_exists(endpoint_id text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT EXISTS (SELECT FROM webhook_endpoints WHERE id = endpoint_id AND deleted_at IS NULL)
$$;

-- Deletes the oldest events and their delivery attempts in batches, so that no lock is held for long.
CREATE FUNCTION purge_events(before timestamptz, at_most integer) RETURNS integer
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH old AS (
        SELECT library_id, id FROM events WHERE created_at < before
        ORDER BY created_at LIMIT at_most FOR UPDATE SKIP LOCKED
    ), attempts AS (
        DELETE FROM delivery_attempts a USING old WHERE a.library_id = old.library_id AND a.event_id = old.id
    ), gone AS (
        DELETE FROM events e USING old WHERE e.library_id = old.library_id AND e.id = old.id
        RETURNING 1
    )
    SELECT count(*)::integer FROM gone
$$;
