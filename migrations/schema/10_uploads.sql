CREATE TABLE upload_sessions (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    video_id text COLLATE "C" NOT NULL,
    account_id text,
    token_hash bytea NOT NULL,
    state text NOT NULL
        CONSTRAINT upload_sessions_state_check CHECK (state IN ('open', 'assembling', 'complete', 'aborted')),
    assembly_owner text,
    assembly_until timestamptz,
    storage_path text NOT NULL,
    content_type text NOT NULL,
    multipart_id text,
    part_bytes integer NOT NULL,
    part_count integer NOT NULL,
    received_bytes bigint NOT NULL,
    total_bytes bigint,
    crc32c bigint NOT NULL CONSTRAINT upload_sessions_crc32c_check CHECK (crc32c BETWEEN 0 AND 4294967295),
    md5 text,
    partial_parts jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    completed_at timestamptz,
    CONSTRAINT upload_sessions_pkey PRIMARY KEY (library_id, id),
    CONSTRAINT upload_sessions_completed_check CHECK ((state = 'complete') = (completed_at IS NOT NULL)),
    CONSTRAINT upload_sessions_assembly_check CHECK (state <> 'assembling' OR assembly_until IS NOT NULL),
    CONSTRAINT upload_sessions_received_check CHECK (received_bytes <= total_bytes)
);

CREATE UNIQUE INDEX upload_sessions_open_key ON upload_sessions (library_id, video_id)
    WHERE state IN ('open', 'assembling');

CREATE INDEX upload_sessions_expires_at_idx ON upload_sessions (expires_at);

CREATE INDEX upload_sessions_undeleted_idx ON upload_sessions (id)
    WHERE state = 'aborted' AND multipart_id IS NOT NULL;

CREATE INDEX upload_sessions_assembly_until_idx ON upload_sessions (assembly_until) WHERE state = 'assembling';

CREATE TABLE upload_parts (
    library_id text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    number integer NOT NULL,
    etag text NOT NULL,
    CONSTRAINT upload_parts_pkey PRIMARY KEY (library_id, session_id, number),
    CONSTRAINT upload_parts_session_fkey FOREIGN KEY (library_id, session_id)
        REFERENCES upload_sessions (library_id, id) ON DELETE CASCADE
);

CREATE FUNCTION stale_uploads(at timestamptz, at_most integer)
RETURNS TABLE (library_id text, id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    (SELECT s.library_id, s.id FROM upload_sessions s WHERE s.expires_at < at ORDER BY s.expires_at LIMIT at_most)
    UNION
    (SELECT s.library_id, s.id FROM upload_sessions s
      WHERE s.state = 'aborted' AND s.multipart_id IS NOT NULL AND (s.assembly_until <= at) IS NOT FALSE
      ORDER BY s.id LIMIT at_most)
    LIMIT at_most
$$;

CREATE FUNCTION unfinished_assemblies(at timestamptz, at_most integer)
RETURNS TABLE (library_id text, id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT s.library_id, s.id FROM upload_sessions s
     WHERE s.state = 'assembling' AND s.assembly_until <= at ORDER BY s.assembly_until LIMIT at_most
$$;

CREATE FUNCTION expired_uploads(at timestamptz, at_most integer) RETURNS TABLE (library_id text, video_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT s.library_id, s.video_id FROM sources s
     WHERE s.upload_expires_at <= at ORDER BY s.upload_expires_at LIMIT at_most
$$;

CREATE FUNCTION pending_uploads(at_most integer) RETURNS TABLE (library_id text, video_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT j.library_id, j.video_id FROM jobs j
     WHERE j.status = 'queued' AND j.type = 'import' AND j.depends_on @> ARRAY['upload_' || j.video_id]
     ORDER BY j.updated_at DESC LIMIT at_most
$$;
