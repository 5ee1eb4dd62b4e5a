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
