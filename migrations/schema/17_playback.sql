CREATE TABLE playbacks (
    library_id text COLLATE "C" NOT NULL,
    video_id text COLLATE "C" NOT NULL,
    state text NOT NULL,
    revision integer NOT NULL,
    lease_holder text,
    error text,
    updated_at timestamptz NOT NULL,
    CONSTRAINT playbacks_pkey PRIMARY KEY (library_id, video_id),
    CONSTRAINT playbacks_state_check CHECK (state IN ('processing', 'ready', 'failed'))
);

CREATE TABLE playback_tracks (
    library_id text COLLATE "C" NOT NULL,
    video_id text COLLATE "C" NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    language text,
    source text NOT NULL,
    packaged jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT playback_tracks_pkey PRIMARY KEY (library_id, video_id, kind, name),
    CONSTRAINT playback_tracks_kind_check CHECK (kind IN ('video', 'audio', 'text'))
);
