CREATE TABLE retention_policies (
    library_id text COLLATE "C" CONSTRAINT retention_policies_pkey PRIMARY KEY,
    originals_days integer CONSTRAINT retention_policies_originals_days_check CHECK (originals_days BETWEEN 1 AND 3650),
    intermediates_days integer CONSTRAINT retention_policies_intermediates_days_check
        CHECK (intermediates_days BETWEEN 1 AND 3650),
    outputs_days integer CONSTRAINT retention_policies_outputs_days_check CHECK (outputs_days BETWEEN 1 AND 3650),
    revision integer NOT NULL DEFAULT 1
);

CREATE TRIGGER retention_policies_revision BEFORE UPDATE ON retention_policies FOR EACH ROW
WHEN ((OLD.originals_days, OLD.intermediates_days, OLD.outputs_days)
    IS DISTINCT FROM (NEW.originals_days, NEW.intermediates_days, NEW.outputs_days))
EXECUTE FUNCTION next_revision();

CREATE TABLE storage_usage (
    library_id text COLLATE "C" NOT NULL,
    video_id text COLLATE "C" NOT NULL, -- empty for objects of the library itself
    kind text NOT NULL CONSTRAINT storage_usage_kind_check
        CHECK (kind IN ('original', 'intermediate', 'output', 'document', 'download', 'unknown')),
    changed_on date NOT NULL,
    objects integer NOT NULL,
    bytes bigint NOT NULL,
    CONSTRAINT storage_usage_pkey PRIMARY KEY (library_id, video_id, kind, changed_on)
);

CREATE TABLE storage_scans (
    library_id text COLLATE "C" CONSTRAINT storage_scans_pkey PRIMARY KEY,
    originals_bytes bigint NOT NULL,
    intermediates_bytes bigint NOT NULL,
    outputs_bytes bigint NOT NULL,
    unknown_objects integer NOT NULL,
    measured_at timestamptz NOT NULL
);

CREATE TABLE retention_deletions (
    library_id text COLLATE "C" NOT NULL,
    run_at timestamptz NOT NULL,
    video_id text COLLATE "C" NOT NULL, -- empty for abandoned uploads
    kind text NOT NULL,
    objects integer NOT NULL,
    bytes bigint NOT NULL,
    CONSTRAINT retention_deletions_pkey PRIMARY KEY (library_id, run_at, video_id, kind)
);

CREATE VIEW published_storage_usage WITH (security_invoker = true) AS
    SELECT library_id, originals_bytes, intermediates_bytes, outputs_bytes, measured_at FROM storage_scans;

CREATE FUNCTION libraries_after(last_id text, at_most integer) RETURNS TABLE (library_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT l.id FROM libraries l WHERE l.id > last_id ORDER BY l.id LIMIT at_most
$$;
