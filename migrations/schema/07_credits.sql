CREATE TABLE ledger_balances (
    library_id text COLLATE "C" NOT NULL CONSTRAINT ledger_balances_pkey PRIMARY KEY,
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

CREATE INDEX ledger_balances_checked_at_idx ON ledger_balances (checked_at NULLS FIRST);

CREATE TABLE ledger_transactions (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    kind text NOT NULL,
    reference text NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT ledger_transactions_pkey PRIMARY KEY (library_id, id),
    CONSTRAINT ledger_transactions_kind_check CHECK (kind IN ('grant', 'hold', 'capture', 'release'))
);

CREATE UNIQUE INDEX ledger_transactions_reference_key ON ledger_transactions (library_id, kind, reference);

-- A hold is captured or released exactly once, enforced by the database.
CREATE UNIQUE INDEX ledger_transactions_settled_key ON ledger_transactions (library_id, reference)
    WHERE kind IN ('capture', 'release');

CREATE TABLE ledger_entries (
    library_id text COLLATE "C" NOT NULL,
    transaction_id text COLLATE "C" NOT NULL,
    account text NOT NULL CONSTRAINT ledger_entries_account_check
        CHECK (account IN ('wallet', 'escrow', 'revenue', 'grant')),
    millicredits bigint NOT NULL,
    CONSTRAINT ledger_entries_pkey PRIMARY KEY (library_id, transaction_id, account),
    CONSTRAINT ledger_entries_transaction_fkey FOREIGN KEY (library_id, transaction_id)
        REFERENCES ledger_transactions (library_id, id)
);

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
    replaces text COLLATE "C",
    CONSTRAINT escrow_lines_pkey PRIMARY KEY (library_id, id),
    CONSTRAINT escrow_lines_ended_check CHECK ((state = 'open') = (ended_at IS NULL)),
    CONSTRAINT escrow_lines_expires_check CHECK ((reservation_id IS NULL) = (expires_at IS NULL)),
    CONSTRAINT escrow_lines_holder_check CHECK (reservation_id IS NOT NULL OR holder IS NOT NULL),
    CONSTRAINT escrow_lines_captured_check CHECK (state <> 'captured' OR holder IS NOT NULL)
);

CREATE INDEX escrow_lines_holder_idx ON escrow_lines (library_id, holder) WHERE holder IS NOT NULL;

CREATE INDEX escrow_lines_reservation_idx ON escrow_lines (library_id, reservation_id)
    WHERE reservation_id IS NOT NULL;

CREATE UNIQUE INDEX escrow_lines_replaces_key ON escrow_lines (library_id, replaces) WHERE replaces IS NOT NULL;

CREATE INDEX escrow_lines_open_idx ON escrow_lines (library_id, expires_at) WHERE state = 'open';

CREATE FUNCTION ledger_transaction_is_balanced() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT sum(millicredits) FROM ledger_entries
         WHERE library_id = NEW.library_id AND transaction_id = NEW.transaction_id) IS DISTINCT FROM 0 THEN
        RAISE EXCEPTION 'ledger transaction % does not sum to zero', NEW.transaction_id
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NULL;
END $$;

-- Posts one double-entry movement. Returns the wallet balance after it, or null if a hold is refused.
CREATE FUNCTION post_movement(of_library text, new_id text, movement text, about text, amount bigint, at timestamptz)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    from_account text := CASE movement WHEN 'grant' THEN 'grant' WHEN 'hold' THEN 'wallet' ELSE 'escrow' END;
    to_account text := CASE movement WHEN 'hold' THEN 'escrow' WHEN 'capture' THEN 'revenue' ELSE 'wallet' END;
    after bigint;
BEGIN
    IF amount <= 0 THEN
        RAISE EXCEPTION 'a movement must be positive' USING ERRCODE = 'check_violation';
    END IF;
    UPDATE ledger_balances SET
        wallet = wallet + CASE 'wallet' WHEN to_account THEN amount WHEN from_account THEN -amount ELSE 0 END,
        escrow = escrow + CASE 'escrow' WHEN to_account THEN amount WHEN from_account THEN -amount ELSE 0 END,
        revenue = revenue + CASE 'revenue' WHEN to_account THEN amount ELSE 0 END,
        granted = granted - CASE 'grant' WHEN from_account THEN amount ELSE 0 END
     WHERE library_id = of_library
       AND (movement <> 'hold' OR (frozen_at IS NULL AND wallet - amount >= -overdraft))
    RETURNING wallet INTO after;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    INSERT INTO ledger_transactions (library_id, id, kind, reference, created_at)
    VALUES (of_library, new_id, movement, about, at);
    INSERT INTO ledger_entries (library_id, transaction_id, account, millicredits)
    VALUES (of_library, new_id, from_account, -amount), (of_library, new_id, to_account, amount);
    RETURN after;
END $$;

-- The movements open to the application: hold, capture and release, in the current library only.
-- Without a balance row, holds are refused and captures and releases raise.
CREATE FUNCTION move_credits(
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

-- Inconsistencies between ledger entries, balances and escrow lines.
CREATE FUNCTION ledger_entry_faults(of_library text)
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
        SELECT j.id, j.status, j.charge IS NOT NULL AS is_billed,
               CASE WHEN j.attempt = 1 THEN j.id ELSE j.id || '.' || j.attempt END AS holder
          FROM jobs j WHERE j.library_id = of_library
    )
    SELECT 'transaction does not sum to zero', id, 0::bigint, total FROM transactions WHERE total <> 0 OR amount = 0
    UNION ALL
    SELECT 'transaction between the wrong accounts', id, 0, amount FROM transactions
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
    SELECT 'line state does not match its settlement', id, CASE state WHEN 'open' THEN 0 ELSE millicredits END, settled
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
    SELECT 'replaced line is not a released one that cost more', l.id, l.millicredits, r.millicredits
      FROM lines l JOIN lines r ON r.replaces = l.id
     WHERE l.state <> 'released' OR r.millicredits >= l.millicredits OR r.holder IS DISTINCT FROM l.holder
    UNION ALL
    SELECT 'finished job holds escrow', l.id, 0, l.millicredits
      FROM lines l JOIN work j ON j.id = split_part(l.holder, '.', 1)
     WHERE l.state = 'open' AND (j.status IN ('ready', 'failed') OR j.holder <> l.holder)
    UNION ALL
    SELECT 'ready job was never charged', j.id, 1, 0 FROM work j
     WHERE j.status = 'ready' AND j.is_billed
       AND NOT EXISTS (SELECT FROM lines l WHERE l.holder = j.holder AND l.state = 'captured')
$$;

-- Checks one library's ledger; on a fault the wallet is frozen until an operator clears it.
-- A missing balance row is recreated empty and frozen.
CREATE FUNCTION check_ledger(of_library text, at timestamptz)
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

CREATE FUNCTION ledgers_to_check(before timestamptz, at_most integer) RETURNS TABLE (library_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT due.library_id FROM (
        SELECT b.library_id, b.checked_at FROM ledger_balances b WHERE b.checked_at IS NULL OR b.checked_at < before
         UNION ALL
        SELECT l.id, NULL FROM libraries l
         WHERE NOT EXISTS (SELECT FROM ledger_balances b WHERE b.library_id = l.id)
           AND EXISTS (SELECT FROM ledger_transactions t WHERE t.library_id = l.id)
    ) due ORDER BY due.checked_at NULLS FIRST LIMIT at_most
$$;

-- Inconsistencies between escrow lines and the jobs that hold them.
CREATE FUNCTION ledger_job_faults(of_library text)
RETURNS TABLE (fault text, subject text, expected bigint, found bigint) LANGUAGE sql STABLE AS $$
    WITH lines AS (
        SELECT id, holder, millicredits, split_part(holder, '.', 1) AS job_id, split_part(holder, '.', 2) AS attempt,
               -- The class of a translation may be found out after it was charged for, or reserved.
               jsonb_build_object('action', action, 'product', product, 'language', language, 'terms', terms - 'draft')
                   AS work
          FROM escrow_lines l WHERE library_id = of_library AND holder IS NOT NULL
           AND NOT EXISTS (SELECT FROM escrow_lines r WHERE r.library_id = of_library AND r.replaces = l.id)
    ), held AS (
        SELECT holder, count(*) AS number, jsonb_agg(work ORDER BY work) AS items FROM lines GROUP BY holder
    ), jobs AS (
        SELECT j.id, j.attempt, j.charge -> 'items' AS items,
               CASE WHEN j.attempt = 1 THEN j.id ELSE j.id || '.' || j.attempt END AS holder
          FROM jobs j WHERE j.library_id = of_library
    )
    SELECT 'balance row is missing', 'wallet', coalesce(sum(e.millicredits) FILTER (WHERE e.account = 'wallet'), 0)::bigint,
           0::bigint
      FROM ledger_entries e WHERE e.library_id = of_library
    HAVING count(*) > 0 AND NOT EXISTS (SELECT FROM ledger_balances b WHERE b.library_id = of_library)
    UNION ALL
    SELECT 'holder of a line has no job', l.id, 0, l.millicredits
      FROM lines l LEFT JOIN jobs j ON j.id = l.job_id
     WHERE j.id IS NULL
        OR CASE WHEN l.holder = j.id THEN false
                WHEN l.attempt ~ '^[0-9]{1,9}$' THEN l.attempt::integer NOT BETWEEN 2 AND j.attempt
                ELSE true END
    UNION ALL
    SELECT 'escrow lines do not match the charge', j.holder, coalesce(jsonb_array_length(j.items), 0), h.number
      FROM jobs j JOIN held h ON h.holder = j.holder
     WHERE h.items IS DISTINCT FROM (SELECT jsonb_agg(w #- '{terms,draft}' ORDER BY w #- '{terms,draft}')
                                       FROM jsonb_array_elements(j.items) AS each (w))
$$;

-- All inconsistencies of one library's ledger, read in one snapshot.
CREATE FUNCTION ledger_faults(of_library text)
RETURNS TABLE (fault text, subject text, expected bigint, found bigint) LANGUAGE sql STABLE AS $$
    SELECT * FROM ledger_entry_faults(of_library) UNION ALL SELECT * FROM ledger_job_faults(of_library)
$$;

CREATE CONSTRAINT TRIGGER ledger_entries_balanced AFTER INSERT ON ledger_entries
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ledger_transaction_is_balanced();
