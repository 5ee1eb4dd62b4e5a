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
    is_active boolean NOT NULL DEFAULT true,
    created_at timestamptz NOT NULL,
    upload_expires_at timestamptz,
    CONSTRAINT sources_pkey PRIMARY KEY (library_id, video_id)
);

CREATE UNIQUE INDEX sources_fingerprint_key ON sources (library_id, fingerprint) WHERE is_active;

CREATE INDEX sources_upload_expires_at_idx ON sources (upload_expires_at) WHERE upload_expires_at IS NOT NULL;

-- Sources as other packages may read them.
CREATE VIEW published_sources WITH (security_invoker = true) AS
    SELECT library_id, video_id, storage_path, file_name, content_type, size_bytes, sha256 FROM sources;
