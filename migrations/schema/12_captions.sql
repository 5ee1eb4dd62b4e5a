CREATE TABLE captions (
    library_id text COLLATE "C" NOT NULL,
    video_id text COLLATE "C" NOT NULL,
    language text NOT NULL,
    segments jsonb NOT NULL,
    quality text NOT NULL CONSTRAINT captions_quality_check CHECK (quality IN ('publishable', 'review', 'draft')),
    created_at timestamptz NOT NULL,
    CONSTRAINT captions_pkey PRIMARY KEY (library_id, video_id, language)
);

-- Captions as other packages may read them.
CREATE VIEW published_captions WITH (security_invoker = true) AS
    SELECT library_id, video_id, language, segments, quality, created_at FROM captions;
