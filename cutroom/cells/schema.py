"""The directory's own small database; its statements create what does not exist."""

# An installation has one directory. What it does not list lives where a cell says that it does.
STATEMENTS = (
    """CREATE TABLE IF NOT EXISTS cells (
        name text COLLATE "C" NOT NULL CONSTRAINT cells_pkey PRIMARY KEY,
        api_url text NOT NULL,
        accepts_new boolean NOT NULL DEFAULT false, -- libraries of new accounts
        added_at timestamptz NOT NULL DEFAULT now()
    )""",
    "CREATE SEQUENCE IF NOT EXISTS directory_versions",
    """CREATE TABLE IF NOT EXISTS library_cells (
        library_id text COLLATE "C" NOT NULL CONSTRAINT library_cells_pkey PRIMARY KEY,
        cell text COLLATE "C" NOT NULL CONSTRAINT library_cells_cell_fkey REFERENCES cells (name),
        generation bigint NOT NULL DEFAULT 0, -- how often it has moved
        version bigint NOT NULL DEFAULT nextval('directory_versions') -- of the directory; routers read what is newer
    )""",
    "CREATE INDEX IF NOT EXISTS library_cells_version_idx ON library_cells (version)",
    """CREATE TABLE IF NOT EXISTS moves (
        id text COLLATE "C" NOT NULL CONSTRAINT moves_pkey PRIMARY KEY,
        library_id text COLLATE "C" NOT NULL,
        source text COLLATE "C" NOT NULL CONSTRAINT moves_source_fkey REFERENCES cells (name),
        target text COLLATE "C" NOT NULL CONSTRAINT moves_target_fkey REFERENCES cells (name),
        phase text NOT NULL CONSTRAINT moves_phase_check CHECK (phase IN
            ('copying', 'erasing', 'done', 'rolled_back')),
        started_at timestamptz NOT NULL DEFAULT now(),
        flipped_at timestamptz,
        ended_at timestamptz,
        unavailable_milliseconds integer,
        error text
    )""",
    """CREATE UNIQUE INDEX IF NOT EXISTS moves_unfinished_key ON moves (library_id)
        WHERE phase NOT IN ('done', 'rolled_back')""",
)
