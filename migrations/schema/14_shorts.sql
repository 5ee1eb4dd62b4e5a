CREATE TABLE shorts_outputs (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    request_id text COLLATE "C" NOT NULL,
    video_id text COLLATE "C" NOT NULL,
    number integer NOT NULL,
    kind text NOT NULL,
    title text NOT NULL,
    description text NOT NULL,
    reason text NOT NULL,
    duration_seconds double precision NOT NULL,
    moments jsonb NOT NULL,
    video_path text NOT NULL,
    thumbnail_path text NOT NULL,
    plan_path text NOT NULL,
    created_at timestamptz NOT NULL,
    deleted_at timestamptz,
    CONSTRAINT shorts_outputs_pkey PRIMARY KEY (library_id, id)
);

CREATE INDEX shorts_outputs_request_idx ON shorts_outputs (library_id, request_id, number);

-- Outputs of shorts, promos and clips as other packages may read them.
CREATE VIEW published_shorts WITH (security_invoker = true) AS
    SELECT library_id, video_id, id, request_id, number, title, video_path, thumbnail_path, deleted_at
      FROM shorts_outputs;
