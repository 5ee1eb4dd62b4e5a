"""Escrow: one row of balances a library, lines that are held, and money that only moves through doors."""

from alembic import op

revision = "0006"
down_revision = "0005"

# All accounts of a library stand in one row: one lock for every movement, and rules that the row itself can keep.
TABLES = """
CREATE TABLE new_balances (
    library_id text COLLATE "C" NOT NULL CONSTRAINT new_balances_pkey PRIMARY KEY,
    wallet bigint NOT NULL DEFAULT 0,
    escrow bigint NOT NULL DEFAULT 0,
    revenue bigint NOT NULL DEFAULT 0,
    granted bigint NOT NULL DEFAULT 0,
    overdraft bigint NOT NULL DEFAULT 0,
    frozen_at timestamptz,
    checked_at timestamptz,
    CONSTRAINT ledger_balances_zero_check CHECK (wallet + escrow + revenue + granted = 0),
    CONSTRAINT ledger_balances_wallet_check CHECK (wallet >= -overdraft),
    CONSTRAINT ledger_balances_signs_check CHECK (escrow >= 0 AND revenue >= 0 AND granted <= 0 AND overdraft >= 0)
);

INSERT INTO new_balances (library_id, wallet, escrow, revenue, granted)
SELECT library_id, coalesce(sum(millicredits) FILTER (WHERE account = 'wallet'), 0),
       coalesce(sum(millicredits) FILTER (WHERE account = 'escrow'), 0),
       coalesce(sum(millicredits) FILTER (WHERE account = 'revenue'), 0),
       coalesce(sum(millicredits) FILTER (WHERE account = 'grant'), 0)
  FROM ledger_balances GROUP BY library_id;

DROP TABLE ledger_balances;

ALTER TABLE new_balances RENAME TO ledger_balances;

ALTER INDEX new_balances_pkey RENAME TO ledger_balances_pkey;

CREATE INDEX ledger_balances_checked_at_idx ON ledger_balances (checked_at NULLS FIRST);

ALTER TABLE ledger_transactions
    ADD CONSTRAINT ledger_transactions_kind_check CHECK (kind IN ('grant', 'hold', 'capture', 'release'));

-- A line is captured or released, and only once, whatever the code above believes.
CREATE UNIQUE INDEX ledger_transactions_settled_key ON ledger_transactions (library_id, reference)
    WHERE kind IN ('capture', 'release');

CREATE TABLE escrow_lines (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    hold_id text COLLATE "C" NOT NULL,
    reservation_id text COLLATE "C",
    holder text COLLATE "C",
    video_id text COLLATE "C",
    action text NOT NULL,
    product text NOT NULL,
    language text,
    terms jsonb NOT NULL,
    duration_milliseconds bigint,
    pricing_version text NOT NULL,
    millicredits bigint NOT NULL CONSTRAINT escrow_lines_millicredits_check CHECK (millicredits > 0),
    state text NOT NULL CONSTRAINT escrow_lines_state_check CHECK (state IN ('open', 'captured', 'released')),
    created_at timestamptz NOT NULL,
    expires_at timestamptz,
    ended_at timestamptz,
    CONSTRAINT escrow_lines_pkey PRIMARY KEY (library_id, id),
    CONSTRAINT escrow_lines_ended_check CHECK ((state = 'open') = (ended_at IS NULL)),
    CONSTRAINT escrow_lines_expires_check CHECK ((reservation_id IS NULL) = (expires_at IS NULL)),
    CONSTRAINT escrow_lines_holder_check CHECK (reservation_id IS NOT NULL OR holder IS NOT NULL),
    CONSTRAINT escrow_lines_captured_check CHECK (state <> 'captured' OR holder IS NOT NULL)
);

CREATE INDEX escrow_lines_holder_idx ON escrow_lines (library_id, holder) WHERE holder IS NOT NULL;

CREATE INDEX escrow_lines_reservation_idx ON escrow_lines (library_id, reservation_id)
    WHERE reservation_id IS NOT NULL;

CREATE INDEX escrow_lines_open_idx ON escrow_lines (library_id, expires_at) WHERE state = 'open';

ALTER TABLE jobs ADD COLUMN bill jsonb
"""

FUNCTIONS = """
-- Every movement of money there is. Returns the wallet after it, or null where a hold is refused.
CREATE FUNCTION post_movement(of_library text, new_id text, movement text, about text, amount bigint, at timestamptz)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    giver text := CASE movement WHEN 'grant' THEN 'grant' WHEN 'hold' THEN 'wallet' ELSE 'escrow' END;
    taker text := CASE movement WHEN 'hold' THEN 'escrow' WHEN 'capture' THEN 'revenue' ELSE 'wallet' END;
    after bigint;
BEGIN
    IF amount <= 0 THEN
        RAISE EXCEPTION 'a movement must be positive' USING ERRCODE = 'check_violation';
    END IF;
    UPDATE ledger_balances SET
        wallet = wallet + CASE 'wallet' WHEN taker THEN amount WHEN giver THEN -amount ELSE 0 END,
        escrow = escrow + CASE 'escrow' WHEN taker THEN amount WHEN giver THEN -amount ELSE 0 END,
        revenue = revenue + CASE 'revenue' WHEN taker THEN amount ELSE 0 END,
        granted = granted - CASE 'grant' WHEN giver THEN amount ELSE 0 END
     WHERE library_id = of_library
       AND (movement <> 'hold' OR (frozen_at IS NULL AND wallet - amount >= -overdraft))
    RETURNING wallet INTO after;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    INSERT INTO ledger_transactions (library_id, id, kind, reference, created_at)
    VALUES (of_library, new_id, movement, about, at);
    INSERT INTO ledger_entries (library_id, transaction_id, account, millicredits)
    VALUES (of_library, new_id, giver, -amount), (of_library, new_id, taker, amount);
    RETURN after;
END $$;

-- What the application may do with it: hold, capture and release, in the library it is in. It cannot make money.
CREATE FUNCTION move_credits(of_library text, new_id text, movement text, about text, amount bigint, at timestamptz)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    IF movement NOT IN ('hold', 'capture', 'release')
       OR of_library IS DISTINCT FROM current_setting('cutroom.library_id', true) THEN
        RAISE EXCEPTION 'this movement is not allowed' USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN post_movement(of_library, new_id, movement, about, amount, at);
END $$;

-- Whatever is wrong with the books of one library, all seen in one snapshot; nothing when they are right.
CREATE FUNCTION ledger_faults(of_library text)
RETURNS TABLE (fault text, subject text, expected bigint, found bigint) LANGUAGE sql STABLE AS $$
    WITH transactions AS (
        SELECT t.id, t.kind, t.reference, coalesce(e.amount, 0) AS amount, coalesce(e.total, 0) AS total, e.sides
          FROM ledger_transactions t
          LEFT JOIN (SELECT transaction_id, sum(millicredits) FILTER (WHERE millicredits > 0)::bigint AS amount,
                            sum(millicredits)::bigint AS total,
                            string_agg(account, ' to ' ORDER BY millicredits) AS sides
                       FROM ledger_entries WHERE library_id = of_library GROUP BY transaction_id) e
                 ON e.transaction_id = t.id
         WHERE t.library_id = of_library
    ), sums AS (
        SELECT account, sum(millicredits)::bigint AS total
          FROM ledger_entries WHERE library_id = of_library GROUP BY account
    ), settled AS (
        SELECT reference, count(*) FILTER (WHERE kind = 'capture') AS captures,
               count(*) FILTER (WHERE kind = 'release') AS releases, sum(amount)::bigint AS amount
          FROM transactions WHERE kind IN ('capture', 'release') GROUP BY reference
    ), lines AS (
        SELECT l.*, coalesce(s.captures, 0) AS captures, coalesce(s.releases, 0) AS releases,
               coalesce(s.amount, 0) AS settled
          FROM escrow_lines l LEFT JOIN settled s ON s.reference = l.id WHERE l.library_id = of_library
    ), work AS (
        SELECT j.id, j.status, j.bill IS NOT NULL AS is_billed,
               CASE WHEN j.attempt = 1 THEN j.id ELSE j.id || '.' || j.attempt END AS holder
          FROM jobs j WHERE j.library_id = of_library
    )
    SELECT 'transaction does not sum to zero', id, 0::bigint, total FROM transactions WHERE total <> 0 OR amount = 0
    UNION ALL
    SELECT 'movement between the wrong accounts', id, 0, amount FROM transactions
     WHERE sides IS DISTINCT FROM CASE kind WHEN 'grant' THEN 'grant to wallet' WHEN 'hold' THEN 'wallet to escrow'
                                            WHEN 'capture' THEN 'escrow to revenue' ELSE 'escrow to wallet' END
    UNION ALL
    SELECT 'balance is not the sum of its entries', a.account, coalesce(s.total, 0), a.balance
      FROM ledger_balances b
     CROSS JOIN LATERAL (VALUES ('wallet', b.wallet), ('escrow', b.escrow), ('revenue', b.revenue),
                                ('grant', b.granted)) AS a (account, balance)
      LEFT JOIN sums s ON s.account = a.account
     WHERE b.library_id = of_library AND a.balance <> coalesce(s.total, 0)
    UNION ALL
    SELECT 'escrow is not the sum of open lines', 'escrow', coalesce(sum(millicredits), 0)::bigint, b.escrow
      FROM ledger_balances b LEFT JOIN lines l ON l.state = 'open'
     WHERE b.library_id = of_library GROUP BY b.escrow HAVING coalesce(sum(millicredits), 0) <> b.escrow
    UNION ALL
    SELECT 'line is not settled as it says', id, CASE state WHEN 'open' THEN 0 ELSE millicredits END, settled
      FROM lines WHERE captures <> (state = 'captured')::integer OR releases <> (state = 'released')::integer
        OR settled <> CASE state WHEN 'open' THEN 0 ELSE millicredits END
    UNION ALL
    SELECT 'settlement without a line', t.id, 0, t.amount
      FROM transactions t LEFT JOIN lines l ON l.id = t.reference
     WHERE t.kind IN ('capture', 'release') AND l.id IS NULL
    UNION ALL
    SELECT 'hold is not the sum of its lines', t.id, coalesce(sum(l.millicredits), 0)::bigint, t.amount
      FROM transactions t LEFT JOIN lines l ON l.hold_id = t.id
     WHERE t.kind = 'hold' GROUP BY t.id, t.amount HAVING coalesce(sum(l.millicredits), 0) <> t.amount
    UNION ALL
    SELECT 'line without a hold', l.id, l.millicredits, 0
      FROM lines l LEFT JOIN transactions t ON t.id = l.hold_id AND t.kind = 'hold' WHERE t.id IS NULL
    UNION ALL
    SELECT 'finished job holds escrow', l.id, 0, l.millicredits
      FROM lines l JOIN work j ON j.id = split_part(l.holder, '.', 1)
     WHERE l.state = 'open' AND (j.status IN ('ready', 'failed') OR j.holder <> l.holder)
    UNION ALL
    SELECT 'ready job was never charged', j.id, 1, 0 FROM work j
     WHERE j.status = 'ready' AND j.is_billed
       AND NOT EXISTS (SELECT FROM lines l WHERE l.holder = j.holder AND l.state = 'captured')
$$;

-- Look at the books of one library; where something is wrong, nothing more can be held there until an operator looked.
CREATE FUNCTION check_ledger(of_library text, at timestamptz)
RETURNS TABLE (fault text, subject text, expected bigint, found bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    RETURN QUERY SELECT * FROM ledger_faults(of_library);
    IF FOUND THEN
        UPDATE ledger_balances SET checked_at = at, frozen_at = coalesce(frozen_at, at) WHERE library_id = of_library;
    ELSE
        UPDATE ledger_balances SET checked_at = at WHERE library_id = of_library;
    END IF;
END $$;

CREATE FUNCTION ledgers_to_check(before timestamptz, at_most integer) RETURNS TABLE (library_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT b.library_id FROM ledger_balances b WHERE b.checked_at IS NULL OR b.checked_at < before
     ORDER BY b.checked_at NULLS FIRST LIMIT at_most
$$;
"""

INNER = ("post_movement(text, text, text, text, bigint, timestamptz)", "ledger_faults(text)")
DOORS = (
    "move_credits(text, text, text, text, bigint, timestamptz)",
    "check_ledger(text, timestamptz)",
    "ledgers_to_check(timestamptz, integer)",
)
RIGHTS = {
    "ledger_balances": "SELECT",
    "escrow_lines": "SELECT, INSERT, UPDATE (holder, state, ended_at)",
}


def upgrade() -> None:
    for statement in (TABLES.strip() + "\n\n" + FUNCTIONS.strip()).split("\n\n"):
        op.execute(statement)
    condition = "library_id = current_setting('cutroom.library_id', true)"
    for table, rights in RIGHTS.items():
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY own_library ON {table} USING ({condition}) WITH CHECK ({condition})")
        op.execute(f"GRANT {rights} ON {table} TO cutroom_app")
    op.execute("REVOKE INSERT ON ledger_transactions, ledger_entries FROM cutroom_app")
    for function in (*INNER, *DOORS):
        op.execute(f"REVOKE ALL ON FUNCTION {function} FROM PUBLIC")
    for door in DOORS:
        op.execute(f"GRANT EXECUTE ON FUNCTION {door} TO cutroom_app")


def downgrade() -> None:
    raise RuntimeError("escrow is not undone: lines that are open would lose their money")
