CREATE TABLE transcripts (
    library_id text COLLATE "C" NOT NULL,
    video_id text COLLATE "C" NOT NULL,
    language text NOT NULL,
    segments jsonb NOT NULL,
    speakers jsonb NOT NULL,
    alignment_path text NOT NULL,
    engine text NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT transcripts_pkey PRIMARY KEY (library_id, video_id)
);

-- Transcripts as other packages may read them.
CREATE VIEW published_transcripts WITH (security_invoker = true) AS
    SELECT library_id, video_id, language, segments, speakers, alignment_path, engine, created_at FROM transcripts;
