CREATE TABLE thumbnail_requests (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    video_id text COLLATE "C" NOT NULL,
    job_id text NOT NULL,
    detected jsonb,
    decision jsonb,
    created_at timestamptz NOT NULL,
    CONSTRAINT thumbnail_requests_pkey PRIMARY KEY (library_id, id),
    CONSTRAINT thumbnail_requests_job_key UNIQUE (library_id, job_id)
);

CREATE INDEX thumbnail_requests_video_idx ON thumbnail_requests (library_id, video_id, created_at);

CREATE TABLE thumbnails (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    request_id text COLLATE "C" NOT NULL,
    video_id text COLLATE "C" NOT NULL,
    number integer NOT NULL,
    language text,
    headline text,
    layout text NOT NULL,
    score double precision NOT NULL,
    engine text NOT NULL,
    path text NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT thumbnails_pkey PRIMARY KEY (library_id, id)
);

CREATE INDEX thumbnails_request_idx ON thumbnails (library_id, request_id, number);

-- Rendered images as other packages may read them.
CREATE VIEW published_thumbnails WITH (security_invoker = true) AS
    SELECT library_id, video_id, id, request_id, number, language, engine, path, created_at FROM thumbnails;
