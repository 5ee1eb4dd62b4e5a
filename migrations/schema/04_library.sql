CREATE TABLE videos (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    status text NOT NULL CONSTRAINT videos_status_check
        CHECK (status IN ('queued', 'processing', 'ready', 'failed')),
    title text,
    description text,
    duration_seconds double precision,
    provider text,
    media_type text CONSTRAINT videos_media_type_check CHECK (media_type IN ('video', 'audio')),
    default_language_code text,
    folder_ids text[] NOT NULL DEFAULT '{}',
    import_status text CONSTRAINT videos_import_status_check
        CHECK (import_status IN ('queued', 'processing', 'ready', 'failed')),
    import_language text,
    transcript_status text CONSTRAINT videos_transcript_status_check
        CHECK (transcript_status IN ('queued', 'processing', 'ready', 'failed')),
    transcript_language text,
    created_at timestamptz NOT NULL,
    poster_path text,
    playback_languages text[],
    hosted_url text,
    labels text[] NOT NULL DEFAULT '{}',
    revision integer NOT NULL DEFAULT 1,
    deleted_at timestamptz, -- in the trash since then
    purged_at timestamptz, -- its rows and objects are being removed, and it can no longer be restored
    original_deleted_at timestamptz, -- by the retention policy
    CONSTRAINT videos_pkey PRIMARY KEY (library_id, id),
    CONSTRAINT videos_purged_check CHECK (purged_at IS NULL OR deleted_at IS NOT NULL)
);

CREATE INDEX videos_deleted_at_idx ON videos (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE folders (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    parent_id text COLLATE "C",
    name text NOT NULL CONSTRAINT folders_name_check CHECK (char_length(name) BETWEEN 1 AND 120),
    depth smallint NOT NULL CONSTRAINT folders_depth_check CHECK (depth BETWEEN 1 AND 3),
    created_at timestamptz NOT NULL,
    revision integer NOT NULL DEFAULT 1,
    CONSTRAINT folders_pkey PRIMARY KEY (library_id, id),
    CONSTRAINT folders_parent_fkey FOREIGN KEY (library_id, parent_id) REFERENCES folders (library_id, id),
    CONSTRAINT folders_root_check CHECK ((parent_id IS NULL) = (depth = 1))
);

CREATE TABLE characters (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    name text NOT NULL,
    created_at timestamptz NOT NULL,
    revision integer NOT NULL DEFAULT 1,
    CONSTRAINT characters_pkey PRIMARY KEY (library_id, id)
);

CREATE TABLE character_images (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    character_id text COLLATE "C" NOT NULL,
    storage_path text NOT NULL,
    CONSTRAINT character_images_pkey PRIMARY KEY (library_id, id),
    CONSTRAINT character_images_character_fkey FOREIGN KEY (library_id, character_id)
        REFERENCES characters (library_id, id) ON DELETE CASCADE
);

CREATE INDEX character_images_character_idx ON character_images (library_id, character_id, id);

CREATE TABLE brand_voices (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    name text NOT NULL,
    guidelines text NOT NULL,
    colors text[],
    created_at timestamptz NOT NULL,
    revision integer NOT NULL DEFAULT 1,
    CONSTRAINT brand_voices_pkey PRIMARY KEY (library_id, id)
);

CREATE TABLE library_usage (
    library_id text COLLATE "C" CONSTRAINT library_usage_pkey PRIMARY KEY,
    source_bytes bigint NOT NULL DEFAULT 0,
    imported_milliseconds bigint NOT NULL DEFAULT 0,
    processed_milliseconds bigint NOT NULL DEFAULT 0,
    month date,
    month_milliseconds bigint NOT NULL DEFAULT 0,
    day date,
    day_failed_jobs bigint NOT NULL DEFAULT 0
);

CREATE TRIGGER videos_revision BEFORE UPDATE ON videos FOR EACH ROW
WHEN ((OLD.title, OLD.description, OLD.default_language_code, OLD.folder_ids, OLD.labels)
    IS DISTINCT FROM (NEW.title, NEW.description, NEW.default_language_code, NEW.folder_ids, NEW.labels))
EXECUTE FUNCTION next_revision();

CREATE TRIGGER folders_revision BEFORE UPDATE ON folders FOR EACH ROW
WHEN ((OLD.name, OLD.parent_id) IS DISTINCT FROM (NEW.name, NEW.parent_id))
EXECUTE FUNCTION next_revision();

CREATE TRIGGER characters_revision BEFORE UPDATE ON characters FOR EACH ROW
WHEN (OLD.name IS DISTINCT FROM NEW.name)
EXECUTE FUNCTION next_revision();

CREATE TRIGGER brand_voices_revision BEFORE UPDATE ON brand_voices FOR EACH ROW
WHEN ((OLD.name, OLD.guidelines, OLD.colors) IS DISTINCT FROM (NEW.name, NEW.guidelines, NEW.colors))
EXECUTE FUNCTION next_revision();

-- Videos of every library that went to the trash before a time, the longest there first.
CREATE FUNCTION trashed_videos(before timestamptz, at_most integer) RETURNS TABLE (library_id text, id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT v.library_id, v.id FROM videos v
     WHERE v.deleted_at < before AND v.purged_at IS NULL ORDER BY v.deleted_at LIMIT at_most
$$;
