CREATE TABLE outbox (
    id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT outbox_pkey PRIMARY KEY,
    library_id text COLLATE "C" NOT NULL,
    workflow text NOT NULL,
    workflow_id text NOT NULL,
    queue text NOT NULL,
    argument jsonb NOT NULL,
    is_job boolean NOT NULL,
    trace_context jsonb,
    created_at timestamptz NOT NULL DEFAULT now(),
    refusals smallint NOT NULL DEFAULT 0, -- by Temporal, while it accepted other workflows
    retry_at timestamptz,
    set_aside_at timestamptz -- after too many refusals; an operator decides what follows
);

-- The workflows of a library, so that its erasure finds their histories.
CREATE TABLE started_workflows (
    library_id text COLLATE "C" NOT NULL,
    workflow_id text COLLATE "C" NOT NULL,
    started_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT started_workflows_pkey PRIMARY KEY (library_id, workflow_id)
);

CREATE INDEX started_workflows_started_at_idx ON started_workflows (started_at);

-- Keys that sign and encrypt, wrapped by the root secret. Without rows, the root secret is the only key.
CREATE TABLE key_ring (
    id integer NOT NULL CONSTRAINT key_ring_pkey PRIMARY KEY,
    wrapped bytea, -- null: the root secret
    created_at timestamptz NOT NULL,
    active_from timestamptz,
    verifies_until timestamptz
);

-- The data key of a library, wrapped by the key ring, or of the system. Temporal's payloads are encrypted with it.
CREATE TABLE data_keys (
    library_id text COLLATE "C" NOT NULL CONSTRAINT data_keys_pkey PRIMARY KEY,
    wrapped bytea NOT NULL,
    created_at timestamptz NOT NULL
);

-- Counts the changes of a row's editable columns; the triggers of each table say which these are.
CREATE FUNCTION next_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.revision := OLD.revision + 1;
    RETURN NEW;
END $$;
