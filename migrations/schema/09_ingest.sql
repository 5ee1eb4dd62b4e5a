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
