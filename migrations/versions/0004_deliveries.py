"""Events, the attempts to deliver them, and endpoints that were disabled by their receivers."""

from alembic import op

revision = "0004"
down_revision = "0003"

# Every key begins with the library, as partitions by library would; the one index across libraries is in order of
# time, so that it only grows at its end and shrinks at its beginning.
TABLES = """
ALTER TABLE webhook_endpoints ADD COLUMN disabled_at timestamptz, ADD COLUMN disabled_reason text;

CREATE TABLE events (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    type text NOT NULL,
    payload jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT events_pkey PRIMARY KEY (library_id, id)
);

CREATE INDEX events_created_at_idx ON events (created_at);

CREATE TABLE delivery_attempts (
    library_id text COLLATE "C" NOT NULL,
    event_id text COLLATE "C" NOT NULL,
    endpoint_id text COLLATE "C" NOT NULL,
    number smallint NOT NULL,
    at timestamptz NOT NULL,
    status smallint,
    outcome text NOT NULL CONSTRAINT delivery_attempts_outcome_check
        CHECK (outcome IN ('delivered', 'refused', 'gone', 'unreachable')),
    milliseconds integer NOT NULL,
    asked_pause_seconds integer,
    CONSTRAINT delivery_attempts_pkey PRIMARY KEY (library_id, event_id, endpoint_id, number),
    CONSTRAINT delivery_attempts_status_check CHECK ((outcome = 'unreachable') = (status IS NULL))
);
"""

FUNCTIONS = """
-- The oldest events and all attempts to deliver them; a batch at a time, so that no lock is held for long.
CREATE FUNCTION purge_events(before timestamptz, at_most integer) RETURNS integer
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH old AS (
        SELECT library_id, id FROM events WHERE created_at < before
        ORDER BY created_at LIMIT at_most FOR UPDATE SKIP LOCKED
    ), attempts AS (
        DELETE FROM delivery_attempts a USING old WHERE a.library_id = old.library_id AND a.event_id = old.id
    ), gone AS (
        DELETE FROM events e USING old WHERE e.library_id = old.library_id AND e.id = old.id
        RETURNING 1
    )
    SELECT count(*)::integer FROM gone
$$;
"""

DOORS = ("purge_events(timestamptz, integer)",)
LIBRARY_TABLES = {
    "events": "SELECT, INSERT",  # append-only
    "delivery_attempts": "SELECT, INSERT",  # append-only
}


def upgrade() -> None:
    for statement in (TABLES + FUNCTIONS).strip().split("\n\n"):
        op.execute(statement)
    condition = "library_id = current_setting('cutroom.library_id', true)"
    for table, rights in LIBRARY_TABLES.items():
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY own_library ON {table} USING ({condition}) WITH CHECK ({condition})")
        op.execute(f"GRANT {rights} ON {table} TO cutroom_app")
    for door in DOORS:
        op.execute(f"REVOKE ALL ON FUNCTION {door} FROM PUBLIC")
        op.execute(f"GRANT EXECUTE ON FUNCTION {door} TO cutroom_app")


def downgrade() -> None:
    for door in DOORS:
        op.execute(f"DROP FUNCTION {door}")
    for table in LIBRARY_TABLES:
        op.execute(f"DROP TABLE {table}")
    op.execute("ALTER TABLE webhook_endpoints DROP COLUMN disabled_at, DROP COLUMN disabled_reason")
