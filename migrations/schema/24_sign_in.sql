-- What belongs to an account is stored with its personal library: the same policies confine it, and the same erasure deletes it.
CREATE TABLE account_security (
    library_id text COLLATE "C" CONSTRAINT account_security_pkey PRIMARY KEY,
    must_verify_email boolean NOT NULL DEFAULT false,
    email_verified_at timestamptz,
    totp_secret bytea,
    totp_enabled_at timestamptz,
    totp_last_step bigint NOT NULL DEFAULT 0,
    failed_codes integer NOT NULL DEFAULT 0,
    codes_blocked_until timestamptz
);

CREATE TABLE recovery_codes (
    library_id text COLLATE "C" NOT NULL,
    hash bytea NOT NULL,
    used_at timestamptz,
    CONSTRAINT recovery_codes_pkey PRIMARY KEY (library_id, hash)
);

CREATE TABLE account_mails (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    kind text NOT NULL,
    recipient text NOT NULL,
    hash bytea CONSTRAINT account_mails_hash_key UNIQUE,
    sealed_secret bytea,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    outcome text CONSTRAINT account_mails_outcome_check CHECK (outcome IN ('sent', 'refused')),
    used_at timestamptz,
    CONSTRAINT account_mails_pkey PRIMARY KEY (library_id, id)
);

CREATE TABLE passkeys (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    credential_id bytea NOT NULL CONSTRAINT passkeys_credential_id_key UNIQUE,
    public_key bytea NOT NULL,
    sign_count bigint NOT NULL,
    name text NOT NULL,
    created_at timestamptz NOT NULL,
    last_used_at timestamptz,
    last_challenge_at timestamptz NOT NULL,
    CONSTRAINT passkeys_pkey PRIMARY KEY (library_id, id)
);

-- The account of a passkey that a browser names before it is signed in; its signature is verified afterwards.
CREATE FUNCTION find_passkey(credential bytea) RETURNS TABLE (passkey_id text, library_id text, user_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT p.id, l.id, m.user_id FROM passkeys p
      JOIN libraries l ON l.id = p.library_id AND l.kind = 'personal' AND l.erased_at IS NULL
      JOIN members m ON m.library_id = l.id
     WHERE p.credential_id = credential
$$;

-- Finds an account without a session, to send it a mail. Callers respond in the same way if there is none.
CREATE FUNCTION find_account(address text) RETURNS TABLE (user_id text, library_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT u.id, l.id FROM users u
      JOIN members m ON m.user_id = u.id
      JOIN libraries l ON l.id = m.library_id AND l.kind = 'personal' AND l.erased_at IS NULL
     WHERE u.email = address
$$;

-- The account of a link that was mailed to its current address, and is neither used nor expired.
CREATE FUNCTION authenticate_mail_link(link_hash bytea, of_kind text, at timestamptz)
RETURNS TABLE (mail_id text, library_id text, user_id text, email text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT a.id, l.id, u.id, u.email FROM account_mails a
      JOIN libraries l ON l.id = a.library_id AND l.kind = 'personal' AND l.erased_at IS NULL
      JOIN members m ON m.library_id = l.id
      JOIN users u ON u.id = m.user_id AND u.email = a.recipient
     WHERE a.hash = link_hash AND a.kind = of_kind AND a.used_at IS NULL AND a.expires_at > at
$$;
