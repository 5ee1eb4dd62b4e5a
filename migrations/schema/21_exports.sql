CREATE TABLE exports (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    status text NOT NULL CONSTRAINT exports_status_check
        CHECK (status IN ('queued', 'processing', 'ready', 'failed')),
    progress real NOT NULL DEFAULT 0 CONSTRAINT exports_progress_check CHECK (progress BETWEEN 0 AND 100),
    multipart_id text, -- set while the object store may hold parts
    part_bytes bigint,
    file_count integer,
    content_bytes bigint,
    archive_bytes bigint,
    sha256 text,
    summary jsonb,
    error_code text,
    error_message text,
    error_details jsonb,
    created_at timestamptz NOT NULL,
    finished_at timestamptz,
    expires_at timestamptz NOT NULL,
    deleted_at timestamptz,
    CONSTRAINT exports_pkey PRIMARY KEY (library_id, id),
    CONSTRAINT exports_error_check CHECK ((status = 'failed') = (error_code IS NOT NULL)),
    CONSTRAINT exports_finished_check CHECK ((status IN ('ready', 'failed')) = (finished_at IS NOT NULL)),
    CONSTRAINT exports_ready_check CHECK (status <> 'ready' OR (sha256 IS NOT NULL AND archive_bytes IS NOT NULL))
);

CREATE UNIQUE INDEX exports_unfinished_key ON exports (library_id)
    WHERE status IN ('queued', 'processing') AND deleted_at IS NULL;

CREATE INDEX exports_expires_at_idx ON exports (expires_at);

-- The files of an unfinished archive, in their order; deleted when it is complete.
CREATE TABLE export_files (
    library_id text COLLATE "C" NOT NULL,
    export_id text COLLATE "C" NOT NULL,
    number integer NOT NULL,
    name text NOT NULL,
    kind text NOT NULL,
    storage_path text NOT NULL,
    start_byte bigint NOT NULL,
    size_bytes bigint,
    etag text,
    crc32 bigint CONSTRAINT export_files_crc32_check CHECK (crc32 BETWEEN 0 AND 4294967295),
    sha256 text,
    is_missing boolean NOT NULL DEFAULT false,
    CONSTRAINT export_files_pkey PRIMARY KEY (library_id, export_id, number),
    CONSTRAINT export_files_export_fkey FOREIGN KEY (library_id, export_id)
        REFERENCES exports (library_id, id) ON DELETE CASCADE,
    CONSTRAINT export_files_checksums_check CHECK ((sha256 IS NULL) = (crc32 IS NULL))
);

CREATE INDEX export_files_unread_idx ON export_files (library_id, export_id, number)
    WHERE sha256 IS NULL AND NOT is_missing;

CREATE TABLE export_parts (
    library_id text COLLATE "C" NOT NULL,
    export_id text COLLATE "C" NOT NULL,
    number integer NOT NULL,
    etag text NOT NULL,
    CONSTRAINT export_parts_pkey PRIMARY KEY (library_id, export_id, number),
    CONSTRAINT export_parts_export_fkey FOREIGN KEY (library_id, export_id)
        REFERENCES exports (library_id, id) ON DELETE CASCADE
);

-- Exports of every library that expired before a time.
CREATE FUNCTION expired_exports(at timestamptz, at_most integer) RETURNS TABLE (library_id text, id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT e.library_id, e.id FROM exports e WHERE e.expires_at <= at ORDER BY e.expires_at LIMIT at_most
$$;
