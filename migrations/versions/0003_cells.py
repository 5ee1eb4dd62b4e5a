"""Lets a library move to another cell: no process commits to it while it is copied, or after it has left.

Signatures and results are unchanged, so that 0.1.0 runs with either version; its processes do not know `enter_library`,
so a cell moves libraries only once all of them have been upgraded.
"""

from alembic import op

revision = "0003"
down_revision = "0002"

# No column is named `library_id`: the row outlives the library's others, which are erased where it has left.
_TABLE = """
CREATE TABLE library_moves (
    id text COLLATE "C" NOT NULL CONSTRAINT library_moves_pkey PRIMARY KEY,
    state text NOT NULL CONSTRAINT library_moves_state_check CHECK (state IN ('frozen', 'left', 'arriving')),
    until timestamptz, -- a frozen library thaws by itself if whoever moves it has died
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT library_moves_until_check CHECK ((state = 'frozen') = (until IS NOT NULL))
)
"""
_CLOSE_TABLE = "ALTER TABLE library_moves ENABLE ROW LEVEL SECURITY"
# The shared lock is held until the transaction ends; the process that freezes the library takes the exclusive one and
# so waits for all transactions that are in progress. Each statement of a PL/pgSQL function sees what was committed
# before it.
_REQUIRE_PRESENT = """
CREATE FUNCTION require_present(of_library text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('library ' || of_library, 0));
    IF EXISTS (SELECT FROM library_moves m WHERE m.id = of_library
                  AND (m.until IS NULL OR m.until > clock_timestamp())) THEN
        RAISE EXCEPTION 'the library is moving, or has left this cell' USING ERRCODE = 'CM001';
    END IF;
END $$
"""
_ENTER_LIBRARY = """
CREATE FUNCTION enter_library(of_library text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    PERFORM require_present(of_library);
    PERFORM set_config('cutroom.library_id', of_library, true);
END $$
"""
_SET_LIBRARY_CONTEXT = """
CREATE OR REPLACE FUNCTION set_library_context(entered text, member_role text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF member_role IS NULL THEN
        PERFORM set_config('cutroom.library_id', '', false);
    ELSE
        PERFORM require_present(entered);
        PERFORM set_config('cutroom.library_id', entered, false);
    END IF;
END $$
"""
# The lock is tried: the relay never waits for one library while others have work. It is held until the relay's
# transaction ends, so a library is not frozen between the start of a workflow and its record.
_STAYS_PRESENT = """
CREATE FUNCTION stays_present(of_library text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    IF NOT pg_try_advisory_xact_lock_shared(hashtextextended('library ' || of_library, 0)) THEN
        RETURN false;
    END IF;
    RETURN NOT EXISTS (SELECT FROM library_moves m WHERE m.id = of_library
                          AND (m.until IS NULL OR m.until > clock_timestamp()));
END $$
"""
_CLAIM_OUTBOX_ROWS = """
CREATE OR REPLACE FUNCTION claim_outbox_rows(at_most integer, running_cap integer)
RETURNS TABLE (id bigint, library_id text, workflow text, workflow_id text, queue text, argument jsonb,
               is_job boolean, trace_context jsonb)
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH ranked AS (
        SELECT o.id, o.library_id, o.is_job,
               row_number() OVER (PARTITION BY o.library_id, o.is_job ORDER BY o.id) AS place
          FROM (SELECT * FROM outbox
                 WHERE outbox.set_aside_at IS NULL AND (outbox.retry_at IS NULL OR outbox.retry_at <= now())
                   AND NOT EXISTS (SELECT FROM library_moves m WHERE m.id = outbox.library_id
                                      AND (m.until IS NULL OR m.until > clock_timestamp()))
                 ORDER BY outbox.id LIMIT 20000) o
    ), running AS (
        SELECT j.library_id, count(*) AS jobs FROM jobs j
         WHERE j.status = 'processing' AND j.library_id IN (SELECT r.library_id FROM ranked r WHERE r.is_job)
         GROUP BY j.library_id
    ), allowed AS (
        SELECT r.id FROM ranked r LEFT JOIN running ON running.library_id = r.library_id
         WHERE NOT r.is_job OR r.place <= running_cap - coalesce(running.jobs, 0)
         ORDER BY r.place, r.id LIMIT at_most
    ), claimed AS MATERIALIZED (
        SELECT o.id, o.library_id, o.workflow, o.workflow_id, o.queue, o.argument, o.is_job, o.trace_context
          FROM outbox o JOIN allowed USING (id) FOR UPDATE OF o SKIP LOCKED
    )
    SELECT * FROM claimed c WHERE stays_present(c.library_id)
$$
"""
# A copied row keeps its revision.
_NEXT_REVISION = """
CREATE OR REPLACE FUNCTION next_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('cutroom.copied_library', true) IS DISTINCT FROM NEW.library_id THEN
        NEW.revision := OLD.revision + 1;
    END IF;
    RETURN NEW;
END $$
"""
# For the owner of the schema only. Unlike an erasure it touches nothing that a user has in other libraries.
_FORGET_LIBRARY = """
CREATE FUNCTION forget_library(of_library text) RETURNS bigint
LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    each_table text;
    deleted bigint;
    total bigint := 0;
    of_users text[];
BEGIN
    IF NOT EXISTS (SELECT FROM library_moves m WHERE m.id = of_library AND m.state IN ('left', 'arriving')) THEN
        RAISE EXCEPTION 'the library has not left this cell' USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    SELECT coalesce(array_agg(m.user_id), '{}') INTO of_users FROM members m WHERE m.library_id = of_library;
    PERFORM set_config('cutroom.erased_library', of_library, true);
    FOREACH each_table IN ARRAY erasure_tables() LOOP
        EXECUTE format('DELETE FROM %I WHERE library_id = $1', each_table) USING of_library;
        GET DIAGNOSTICS deleted = ROW_COUNT;
        total := total + deleted;
    END LOOP;
    PERFORM set_config('cutroom.erased_library', '', true);
    DELETE FROM sessions WHERE chosen_library = of_library;
    DELETE FROM libraries WHERE id = of_library;
    DELETE FROM sessions s WHERE s.user_id = ANY (of_users)
       AND NOT EXISTS (SELECT FROM members m WHERE m.user_id = s.user_id);
    DELETE FROM user_passwords p WHERE p.user_id = ANY (of_users)
       AND NOT EXISTS (SELECT FROM members m JOIN libraries l ON l.id = m.library_id AND l.kind = 'personal'
                        WHERE m.user_id = p.user_id);
    DELETE FROM users u WHERE u.id = ANY (of_users)
       AND NOT EXISTS (SELECT FROM members m WHERE m.user_id = u.id)
       AND NOT EXISTS (SELECT FROM api_keys k WHERE k.user_id = u.id)
       AND NOT EXISTS (SELECT FROM oauth_tokens t WHERE t.user_id = u.id)
       AND NOT EXISTS (SELECT FROM oauth_clients c WHERE c.owner_id = u.id);
    RETURN total;
END $$
"""
# Callers take a short page for the last one, so this one leaves them out before it counts.
_LIBRARIES_AFTER = """
CREATE OR REPLACE FUNCTION libraries_after(last_id text, at_most integer) RETURNS TABLE (library_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT l.id FROM libraries l
     WHERE l.id > last_id AND NOT EXISTS (SELECT FROM library_moves m WHERE m.id = l.id
                                             AND (m.until IS NULL OR m.until > clock_timestamp()))
     ORDER BY l.id LIMIT at_most
$$
"""
# What sweeps of all libraries find. Each is a single query; the moving libraries are left out of its result.
LISTING_FUNCTIONS = (
    "expired_exports",
    "expired_uploads",
    "ledgers_to_check",
    "pending_uploads",
    "stale_jobs",
    "stale_uploads",
    "syntheses_to_purge",
    "trashed_videos",
    "unfinished_assemblies",
    "voices_to_purge",
)
_DEFINITION = """
SELECT pg_get_function_arguments(p.oid), pg_get_function_result(p.oid), p.prosrc
FROM pg_proc p WHERE p.proname = '{name}' AND p.pronamespace = 'public'::regnamespace
"""
_LISTING = """
CREATE OR REPLACE FUNCTION {name}({arguments}) RETURNS {result}
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT * FROM ({query}) AS listed ({columns})
     WHERE NOT EXISTS (SELECT FROM library_moves moving WHERE moving.id = listed.library_id
                          AND (moving.until IS NULL OR moving.until > clock_timestamp()))
$$
"""


def upgrade() -> None:
    for statement in (
        _TABLE,
        _CLOSE_TABLE,
        _REQUIRE_PRESENT,
        _ENTER_LIBRARY,
        _SET_LIBRARY_CONTEXT,
        _STAYS_PRESENT,
        _CLAIM_OUTBOX_ROWS,
        _NEXT_REVISION,
        _FORGET_LIBRARY,
        _LIBRARIES_AFTER,
    ):
        op.execute(statement)
    for name in LISTING_FUNCTIONS:
        _leave_out_moving_libraries(name)


def _leave_out_moving_libraries(name: str) -> None:
    arguments, result, query = op.get_bind().exec_driver_sql(_DEFINITION.format(name=name)).one()
    columns = ", ".join(each.split()[0] for each in result.removeprefix("TABLE(").split(", "))
    op.get_bind().exec_driver_sql(
        _LISTING.format(name=name, arguments=arguments, result=result, query=query.strip(), columns=columns)
    )


def downgrade() -> None:
    """Nothing to revert: without rows in `library_moves` every function returns what it returned."""
