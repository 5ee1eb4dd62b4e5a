CREATE TABLE voices (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    job_id text COLLATE "C" NOT NULL,
    name text NOT NULL,
    description text,
    labels jsonb NOT NULL,
    remove_noise boolean NOT NULL,
    sample_count smallint NOT NULL,
    sealed_url bytea,
    reference_path text,
    reference_sha256 text,
    preview_path text,
    pitch_hz double precision,
    language text,
    engine text,
    is_approximate boolean,
    embedding jsonb,
    created_at timestamptz NOT NULL,
    deleted_at timestamptz,
    samples_deleted_at timestamptz,
    revision integer NOT NULL DEFAULT 1,
    CONSTRAINT voices_pkey PRIMARY KEY (library_id, id)
);

CREATE INDEX voices_newest_idx ON voices (library_id, created_at DESC, id DESC);

CREATE TRIGGER voices_revision BEFORE UPDATE ON voices FOR EACH ROW
WHEN ((OLD.name, OLD.description, OLD.labels) IS DISTINCT FROM (NEW.name, NEW.description, NEW.labels))
EXECUTE FUNCTION next_revision();

CREATE TABLE voice_consents (
    library_id text COLLATE "C" NOT NULL,
    voice_id text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    principal_id text COLLATE "C" NOT NULL,
    samples_sha256 text[] NOT NULL,
    given_at timestamptz NOT NULL,
    CONSTRAINT voice_consents_pkey PRIMARY KEY (library_id, voice_id)
);

CREATE TABLE syntheses (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    fingerprint text NOT NULL,
    voice_id text COLLATE "C" NOT NULL,
    text text NOT NULL,
    language text,
    speed double precision NOT NULL,
    format text NOT NULL,
    passage_sizes jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT syntheses_pkey PRIMARY KEY (library_id, id),
    CONSTRAINT syntheses_library_id_fingerprint_key UNIQUE (library_id, fingerprint)
);

CREATE INDEX syntheses_created_at_idx ON syntheses (created_at);

-- Deleted or failed voice clones of every library whose samples are still stored.
CREATE FUNCTION voices_to_purge(before timestamptz, at_most integer)
RETURNS TABLE (library_id text, id text) LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT v.library_id, v.id FROM voices v JOIN jobs j ON j.library_id = v.library_id AND j.id = v.job_id
     WHERE v.samples_deleted_at IS NULL AND (v.deleted_at < before OR (j.status = 'failed' AND j.finished_at < before))
       AND j.status IN ('ready', 'failed')
     ORDER BY v.library_id, v.id LIMIT at_most
$$;

-- Finished syntheses of every library created before a time.
CREATE FUNCTION syntheses_to_purge(before timestamptz, at_most integer)
RETURNS TABLE (library_id text, id text) LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT s.library_id, s.id FROM syntheses s
      JOIN jobs j ON j.library_id = s.library_id AND j.id = 'speech_' || s.id
     WHERE s.created_at < before AND j.status IN ('ready', 'failed')
     ORDER BY s.created_at LIMIT at_most
$$;
