"""The check of the books sees a balance that is gone, a holder that no work has, and lines that no bill asked for."""

from alembic import op

revision = "0010"
down_revision = "0009"

FUNCTIONS = """
ALTER FUNCTION ledger_faults(text) RENAME TO book_faults;

-- What books and the work that is paid by them say of each other.
CREATE FUNCTION work_faults(of_library text)
RETURNS TABLE (fault text, subject text, expected bigint, found bigint) LANGUAGE sql STABLE AS $$
    WITH lines AS (
        SELECT id, holder, millicredits, split_part(holder, '.', 1) AS job_id, split_part(holder, '.', 2) AS attempt,
               jsonb_build_object('action', action, 'product', product, 'language', language, 'terms', terms) AS work
          FROM escrow_lines WHERE library_id = of_library AND holder IS NOT NULL
    ), held AS (
        SELECT holder, count(*) AS number, jsonb_agg(work ORDER BY work) AS works FROM lines GROUP BY holder
    ), jobs AS (
        SELECT j.id, j.attempt, j.bill -> 'works' AS works,
               CASE WHEN j.attempt = 1 THEN j.id ELSE j.id || '.' || j.attempt END AS holder
          FROM jobs j WHERE j.library_id = of_library
    )
    SELECT 'balance is gone', 'wallet', coalesce(sum(e.millicredits) FILTER (WHERE e.account = 'wallet'), 0)::bigint,
           0::bigint
      FROM ledger_entries e WHERE e.library_id = of_library
    HAVING count(*) > 0 AND NOT EXISTS (SELECT FROM ledger_balances b WHERE b.library_id = of_library)
    UNION ALL
    SELECT 'line of a holder that no work has', l.id, 0, l.millicredits
      FROM lines l LEFT JOIN jobs j ON j.id = l.job_id
     WHERE j.id IS NULL
        OR CASE WHEN l.holder = j.id THEN false
                WHEN l.attempt ~ '^[0-9]{1,9}$' THEN l.attempt::integer NOT BETWEEN 2 AND j.attempt
                ELSE true END
    UNION ALL
    SELECT 'lines are not the works of the bill', j.holder, coalesce(jsonb_array_length(j.works), 0), h.number
      FROM jobs j JOIN held h ON h.holder = j.holder
     WHERE h.works IS DISTINCT FROM (SELECT jsonb_agg(w ORDER BY w) FROM jsonb_array_elements(j.works) AS each (w))
$$;

-- Whatever is wrong with the books of one library, all seen in one snapshot; nothing when they are right.
CREATE FUNCTION ledger_faults(of_library text)
RETURNS TABLE (fault text, subject text, expected bigint, found bigint) LANGUAGE sql STABLE AS $$
    SELECT * FROM book_faults(of_library) UNION ALL SELECT * FROM work_faults(of_library)
$$;

-- Where there is no balance a hold is refused, and nothing can be captured or released: lines would end without money.
CREATE OR REPLACE FUNCTION move_credits(
    of_library text, new_id text, movement text, about text, amount bigint, at timestamptz
) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    after bigint;
BEGIN
    IF movement NOT IN ('hold', 'capture', 'release')
       OR of_library IS DISTINCT FROM current_setting('cutroom.library_id', true) THEN
        RAISE EXCEPTION 'this movement is not allowed' USING ERRCODE = 'insufficient_privilege';
    END IF;
    after := post_movement(of_library, new_id, movement, about, amount, at);
    IF after IS NULL AND movement <> 'hold' THEN
        RAISE EXCEPTION 'the library has no balance' USING ERRCODE = 'foreign_key_violation';
    END IF;
    RETURN after;
END $$;

-- A balance that is gone comes back empty and frozen: nothing can be held there until an operator looked.
CREATE OR REPLACE FUNCTION check_ledger(of_library text, at timestamptz)
RETURNS TABLE (fault text, subject text, expected bigint, found bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    RETURN QUERY SELECT * FROM ledger_faults(of_library);
    IF FOUND THEN
        INSERT INTO ledger_balances AS b (library_id, checked_at, frozen_at) VALUES (of_library, at, at)
        ON CONFLICT (library_id) DO UPDATE SET checked_at = at, frozen_at = coalesce(b.frozen_at, at);
    ELSE
        UPDATE ledger_balances SET checked_at = at WHERE library_id = of_library;
    END IF;
END $$;

CREATE OR REPLACE FUNCTION ledgers_to_check(before timestamptz, at_most integer) RETURNS TABLE (library_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT due.library_id FROM (
        SELECT b.library_id, b.checked_at FROM ledger_balances b WHERE b.checked_at IS NULL OR b.checked_at < before
         UNION ALL
        SELECT l.id, NULL FROM libraries l
         WHERE NOT EXISTS (SELECT FROM ledger_balances b WHERE b.library_id = l.id)
           AND EXISTS (SELECT FROM ledger_transactions t WHERE t.library_id = l.id)
    ) due ORDER BY due.checked_at NULLS FIRST LIMIT at_most
$$;
"""


def upgrade() -> None:
    for statement in FUNCTIONS.strip().split("\n\n"):
        op.execute(statement)
    for function in ("work_faults(text)", "ledger_faults(text)"):
        op.execute(f"REVOKE ALL ON FUNCTION {function} FROM PUBLIC")


def downgrade() -> None:
    raise RuntimeError("escrow is not undone: lines that are open would lose their money")
