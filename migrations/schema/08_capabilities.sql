CREATE TABLE translation_routes (
    engine text NOT NULL,
    source text NOT NULL,
    target text NOT NULL,
    quality text NOT NULL CONSTRAINT translation_routes_quality_check
        CHECK (quality IN ('publishable', 'review', 'draft')),
    share double precision,
    is_rule_based boolean NOT NULL DEFAULT false,
    via text[] NOT NULL,
    seen_at timestamptz NOT NULL,
    CONSTRAINT translation_routes_pkey PRIMARY KEY (engine, source, target)
);

CREATE TABLE stock_voices (
    id text COLLATE "C" NOT NULL,
    engine text NOT NULL,
    name text NOT NULL,
    title text NOT NULL,
    language text NOT NULL,
    gender text NOT NULL,
    age text NOT NULL,
    seen_at timestamptz NOT NULL,
    CONSTRAINT stock_voices_pkey PRIMARY KEY (id)
);
