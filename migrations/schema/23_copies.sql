-- The customer's bucket that outputs of a library are copied to.
CREATE TABLE destinations (
    library_id text COLLATE "C" CONSTRAINT destinations_pkey PRIMARY KEY,
    endpoint text NOT NULL,
    region text NOT NULL,
    bucket text NOT NULL,
    prefix text NOT NULL,
    access_key_id text NOT NULL,
    sealed_secret bytea NOT NULL,
    enabled boolean NOT NULL,
    created_at timestamptz NOT NULL,
    revision integer NOT NULL DEFAULT 1
);

CREATE TRIGGER destinations_revision BEFORE UPDATE ON destinations FOR EACH ROW
WHEN ((OLD.endpoint, OLD.region, OLD.bucket, OLD.prefix, OLD.access_key_id, OLD.sealed_secret, OLD.enabled)
    IS DISTINCT FROM (NEW.endpoint, NEW.region, NEW.bucket, NEW.prefix, NEW.access_key_id, NEW.sealed_secret, NEW.enabled))
EXECUTE FUNCTION next_revision();

CREATE TABLE output_copies (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    job_id text COLLATE "C" NOT NULL,
    video_id text COLLATE "C" NOT NULL,
    status text NOT NULL CONSTRAINT output_copies_status_check CHECK (status IN ('pending', 'copied', 'failed')),
    run integer NOT NULL DEFAULT 1, -- incremented when the job's files are copied again
    error_message text,
    objects integer NOT NULL DEFAULT 0,
    bytes bigint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL,
    copied_at timestamptz,
    CONSTRAINT output_copies_pkey PRIMARY KEY (library_id, id),
    CONSTRAINT output_copies_job_key UNIQUE (library_id, job_id),
    CONSTRAINT output_copies_error_check CHECK ((status = 'failed') = (error_message IS NOT NULL)),
    CONSTRAINT output_copies_copied_check CHECK (status <> 'copied' OR copied_at IS NOT NULL)
);
