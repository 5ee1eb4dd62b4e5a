CREATE TABLE dubs (
    library_id text COLLATE "C" NOT NULL,
    video_id text COLLATE "C" NOT NULL,
    language text NOT NULL,
    product text NOT NULL,
    completion text NOT NULL
        CONSTRAINT dubs_completion_check CHECK (completion IN ('pending', 'preview_ready', 'complete')),
    segments jsonb NOT NULL,
    speakers jsonb NOT NULL,
    edits jsonb NOT NULL,
    sync jsonb NOT NULL,
    audio_path text,
    preview_path text,
    updated_at timestamptz NOT NULL,
    CONSTRAINT dubs_pkey PRIMARY KEY (library_id, video_id, language, product)
);

-- Dubs as other packages may read them.
CREATE VIEW published_dubs WITH (security_invoker = true) AS
    SELECT library_id, video_id, language, product, completion, audio_path, updated_at FROM dubs;
