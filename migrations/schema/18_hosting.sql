CREATE TABLE hostings (
    library_id text COLLATE "C" NOT NULL,
    video_id text COLLATE "C" NOT NULL,
    attempt integer NOT NULL,
    upload_id text,
    sealed_url bytea,
    asset_id text,
    playback_id text,
    updated_at timestamptz NOT NULL,
    CONSTRAINT hostings_pkey PRIMARY KEY (library_id, video_id)
);
