"""Gives events a position in the log of their library, and partitions them by week, which their ids begin with.

Positions rise in the order in which transactions commit: a trigger assigns them at the very end of a transaction, under
a lock of the library's row in `event_logs` that is held until the commit is done. 0.1.0, which does not know positions,
runs with this version: its events get them too. Events from before have none and are not in the log.
"""

from alembic import op

revision = "0004"
down_revision = "0003"

_LOGS = """
CREATE TABLE event_logs (
    library_id text COLLATE "C" NOT NULL,
    last_position bigint NOT NULL,
    deleted_position bigint NOT NULL DEFAULT 0,
    CONSTRAINT event_logs_pkey PRIMARY KEY (library_id)
) WITH (fillfactor = 50)
"""
_CONFINE = """
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY
"""
_POLICY = """
CREATE POLICY own_library ON {table} USING (library_id = current_setting('cutroom.library_id', true))
    WITH CHECK (library_id = current_setting('cutroom.library_id', true))
"""
# The default makes no row be written again, and is for the rows of before only.
_OLD_TABLE = (
    """
    -- compatible with 0.1.0: the new table has its name and columns
    ALTER TABLE events RENAME TO events_before_positions
    """,
    """
    -- compatible with 0.1.0: it names no index
    ALTER INDEX events_created_at_idx RENAME TO events_before_positions_created_at_idx
    """,
    "ALTER TABLE events_before_positions ADD COLUMN position bigint DEFAULT 0",
    "ALTER TABLE events_before_positions ALTER COLUMN position SET DEFAULT NULL",
    """
    -- compatible with 0.1.0: it names no constraint
    ALTER TABLE events_before_positions RENAME CONSTRAINT events_pkey TO events_before_positions_pkey
    """,
)
_NEW_TABLE = (
    """
    CREATE TABLE events (
        library_id text COLLATE "C" NOT NULL,
        id text COLLATE "C" NOT NULL,
        type text NOT NULL,
        payload jsonb NOT NULL,
        created_at timestamptz NOT NULL,
        position bigint,
        CONSTRAINT events_pkey PRIMARY KEY (library_id, id)
    ) PARTITION BY RANGE (id)
    """,
    "CREATE INDEX events_created_at_idx ON events (created_at)",
    "CREATE INDEX events_position_idx ON events (library_id, position) WHERE position > 0",
    # For rows that arrive from another cell, and for as long as no worker creates partitions.
    "CREATE TABLE events_default PARTITION OF events DEFAULT",
)
# An id begins with its time in milliseconds: ten characters of five bits.
_FIRST_ID = """
CREATE FUNCTION first_id_at(at timestamptz) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', 1 + ((milliseconds >> (5 * place)) & 31)::integer, 1),
                      '' ORDER BY place DESC)
      FROM generate_series(0, 9) AS place, CAST(floor(extract(epoch FROM at) * 1000) AS bigint) AS milliseconds
$$
"""
_ATTACH = """
DO $$
DECLARE
    latest timestamptz := greatest(now(), (SELECT max(created_at) FROM events_before_positions));
BEGIN
    IF NOT EXISTS (SELECT FROM events_before_positions) THEN
        -- compatible with 0.1.0: there is nothing in it
        DROP TABLE events_before_positions;
        RETURN;
    END IF;
    EXECUTE format('ALTER TABLE events ATTACH PARTITION events_before_positions FOR VALUES FROM (MINVALUE) TO (%L)',
                   first_id_at(date_trunc('week', latest, 'UTC') + interval '168 hours'));
END $$
"""
# An event that was deleted in its own transaction needs no position, and an erased library no log.
_ASSIGN_POSITION = """
CREATE FUNCTION assign_event_position() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    next_position bigint;
BEGIN
    IF NOT EXISTS (SELECT FROM events e WHERE e.library_id = NEW.library_id AND e.id = NEW.id) THEN
        RETURN NULL;
    END IF;
    INSERT INTO event_logs AS l (library_id, last_position) VALUES (NEW.library_id, 1)
        ON CONFLICT (library_id) DO UPDATE SET last_position = l.last_position + 1
        RETURNING l.last_position INTO next_position;
    UPDATE events e SET position = next_position WHERE e.library_id = NEW.library_id AND e.id = NEW.id;
    RETURN NULL;
END $$
"""
_TRIGGER = """
CREATE CONSTRAINT TRIGGER events_position AFTER INSERT ON events DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
WHEN (NEW.position IS NULL) EXECUTE FUNCTION assign_event_position()
"""
_HEADS = """
CREATE FUNCTION event_heads(ids text[]) RETURNS TABLE (library_id text, last_position bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT each, coalesce((SELECT l.last_position FROM event_logs l WHERE l.library_id = each), 0)
      FROM unnest(ids) AS each
     WHERE (SELECT l.erased_at IS NULL FROM libraries l WHERE l.id = each)
       AND NOT EXISTS (SELECT FROM library_moves m WHERE m.id = each
                          AND (m.until IS NULL OR m.until > clock_timestamp()))
$$
"""
# For the libraries that an API process follows. It could enter each of them and read the same, one after the other.
_TAILS = """
CREATE FUNCTION event_tails(ids text[], positions bigint[], at_most integer)
RETURNS TABLE (library_id text, "position" bigint, id text, type text, created_at timestamptz, payload text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT f.library_id, e.position, e.id, e.type, e.created_at, e.payload::text
      FROM unnest(ids, positions) AS f (library_id, position)
     CROSS JOIN LATERAL (
           SELECT * FROM events t
            WHERE t.library_id = f.library_id AND t.position > f.position AND t.position > 0
            ORDER BY t.position LIMIT at_most) e
     ORDER BY f.library_id, e.position
$$
"""
# A table is attached, not created in place, because that does not lock out writers. A week that a partition covers
# already is left out, and so is one that the default partition has rows of.
_CREATE_PARTITIONS = """
CREATE FUNCTION create_event_partitions(at timestamptz) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    week timestamptz;
    partition_name text;
    created integer := 0;
BEGIN
    PERFORM set_config('lock_timeout', '2s', true);
    PERFORM pg_advisory_xact_lock(hashtextextended('event partitions', 0));
    FOR week IN
        SELECT date_trunc('week', at, 'UTC') + weeks * interval '168 hours' FROM generate_series(0, 4) AS weeks
    LOOP
        partition_name := 'events_' || to_char(week AT TIME ZONE 'UTC', 'YYYYMMDD');
        CONTINUE WHEN to_regclass(partition_name) IS NOT NULL;
        BEGIN
            EXECUTE format('CREATE TABLE %I (LIKE events INCLUDING DEFAULTS)', partition_name);
            EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', partition_name);
            EXECUTE format('ALTER TABLE events ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
                           partition_name, first_id_at(week), first_id_at(week + interval '168 hours'));
            created := created + 1;
        EXCEPTION WHEN invalid_object_definition OR check_violation THEN
            NULL;
        END;
    END LOOP;
    RETURN created;
END $$
"""
_EXPIRED_PARTITIONS = """
CREATE FUNCTION expired_event_partitions(before timestamptz) RETURNS SETOF regclass
LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
    SELECT i.inhrelid::regclass FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = 'events'::regclass
       AND substring(pg_get_expr(c.relpartbound, c.oid) FROM $re$TO [(]'([^']+)'[)]$re$) COLLATE "C"
           <= first_id_at(before)
$$
"""
# In a transaction of its own, before the partitions are dropped: who publishes an event holds a lock of the table
# and waits for the row of its log.
_MARK_EXPIRED = """
CREATE FUNCTION mark_expired_events(before timestamptz) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    expired regclass;
BEGIN
    FOR expired IN SELECT * FROM expired_event_partitions(before) LOOP
        EXECUTE format(
            'UPDATE event_logs l SET deleted_position = e.last FROM (
                 SELECT library_id, max(position) AS last FROM %s GROUP BY library_id) e
             WHERE l.library_id = e.library_id AND l.deleted_position < e.last', expired);
    END LOOP;
END $$
"""
_DROP_PARTITIONS = """
CREATE FUNCTION drop_expired_events(before timestamptz) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    expired regclass;
    dropped integer := 0;
BEGIN
    PERFORM set_config('lock_timeout', '2s', true);
    FOR expired IN SELECT * FROM expired_event_partitions(before) LOOP
        -- compatible with 0.1.0: it deletes the same events, one at a time
        EXECUTE format('DROP TABLE %s', expired);
        dropped := dropped + 1;
    END LOOP;
    RETURN dropped;
END $$
"""
# Only where partitions are not dropped in time.
_PURGE_EVENTS = """
CREATE OR REPLACE FUNCTION purge_events(before timestamptz, at_most integer) RETURNS integer
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH old AS (
        SELECT library_id, id FROM events WHERE created_at < before
           AND tableoid IN (to_regclass('events_default'), to_regclass('events_before_positions'))
        ORDER BY created_at LIMIT at_most FOR UPDATE SKIP LOCKED
    ), attempts AS (
        DELETE FROM delivery_attempts a USING old WHERE a.library_id = old.library_id AND a.event_id = old.id
    ), gone AS (
        DELETE FROM events e USING old WHERE e.library_id = old.library_id AND e.id = old.id
        RETURNING e.library_id, e.position
    ), marked AS (
        UPDATE event_logs l SET deleted_position = g.last
          FROM (SELECT library_id, max(position) AS last FROM gone GROUP BY library_id) g
         WHERE l.library_id = g.library_id AND l.deleted_position < g.last
    )
    SELECT count(*)::integer FROM gone
$$
"""
_ATTEMPTS_INDEX = "CREATE INDEX delivery_attempts_at_idx ON delivery_attempts (at)"
_PURGE_ATTEMPTS = """
CREATE FUNCTION purge_delivery_attempts(before timestamptz, at_most integer) RETURNS integer
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH old AS (
        SELECT library_id, event_id, endpoint_id, number FROM delivery_attempts WHERE at < before
        ORDER BY at LIMIT at_most FOR UPDATE SKIP LOCKED
    ), gone AS (
        DELETE FROM delivery_attempts a USING old
         WHERE (a.library_id, a.event_id, a.endpoint_id, a.number)
             = (old.library_id, old.event_id, old.endpoint_id, old.number)
        RETURNING 1
    )
    SELECT count(*)::integer FROM gone
$$
"""
_LOW_BALANCE = "ALTER TABLE ledger_balances ADD COLUMN low_balance bigint NOT NULL DEFAULT 10000"
_VIEWS = (
    """
    CREATE VIEW published_events WITH (security_invoker = true) AS
        SELECT library_id, id, type, payload, created_at FROM events
    """,
)
_ERASURE_TABLES = """
CREATE OR REPLACE FUNCTION erasure_tables() RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT ARRAY[{names}]
$$
"""
_TABLES_OF_LIBRARIES = "SELECT unnest(erasure_tables())"


def upgrade() -> None:
    op.execute(_LOGS)
    for statement in (*_OLD_TABLE, *_NEW_TABLE):
        op.execute(statement)
    for table in ("events", "event_logs"):
        op.execute(_CONFINE.format(table=table))
        op.execute(_POLICY.format(table=table))
    op.execute(_CONFINE.format(table="events_default"))
    for statement in (
        _FIRST_ID,
        _ATTACH,
        _ASSIGN_POSITION,
        _TRIGGER,
        _HEADS,
        _TAILS,
        _CREATE_PARTITIONS,
        "SELECT create_event_partitions(now())",
        _EXPIRED_PARTITIONS,
        _MARK_EXPIRED,
        _DROP_PARTITIONS,
        _PURGE_EVENTS,
        _ATTEMPTS_INDEX,
        _PURGE_ATTEMPTS,
        *_VIEWS,
        _LOW_BALANCE,
    ):
        op.execute(statement)
    _add_to_erasure("event_logs", before="webhook_endpoints")


def _add_to_erasure(table: str, *, before: str) -> None:
    names = list(op.get_bind().exec_driver_sql(_TABLES_OF_LIBRARIES).scalars())
    names.insert(names.index(before), table)
    op.execute(_ERASURE_TABLES.format(names=", ".join(f"'{name}'" for name in names)))


def downgrade() -> None:
    """Nothing to revert: 0.1.0 runs with this version."""
