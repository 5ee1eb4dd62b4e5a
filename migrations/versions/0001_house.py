"""Accounts, library, webhook endpoints, ledger and retained answers, each behind row-level security."""

from alembic import op

revision = "0001"
down_revision = None

# Tables whose every row belongs to one library, with what the application role may do to them.
LIBRARY_TABLES = {
    "members": "SELECT, INSERT, UPDATE, DELETE",
    "api_keys": "SELECT, INSERT, UPDATE",
    "oauth_tokens": "SELECT, INSERT, UPDATE",
    "videos": "SELECT, INSERT, UPDATE, DELETE",
    "folders": "SELECT, INSERT, UPDATE, DELETE",
    "characters": "SELECT, INSERT, UPDATE, DELETE",
    "character_images": "SELECT, INSERT, UPDATE, DELETE",
    "brand_voices": "SELECT, INSERT, UPDATE, DELETE",
    "webhook_endpoints": "SELECT, INSERT, UPDATE",
    "idempotency_records": "SELECT, INSERT, UPDATE, DELETE",
    "ledger_balances": "SELECT, INSERT, UPDATE",
    "ledger_transactions": "SELECT, INSERT",  # append-only
    "ledger_entries": "SELECT, INSERT",  # append-only
}

TABLES = """
CREATE TABLE users (
    id text COLLATE "C" CONSTRAINT users_pkey PRIMARY KEY,
    email text NOT NULL CONSTRAINT users_email_key UNIQUE,
    name text NOT NULL,
    created_at timestamptz NOT NULL
);

CREATE TABLE libraries (
    id text COLLATE "C" CONSTRAINT libraries_pkey PRIMARY KEY,
    kind text NOT NULL CONSTRAINT libraries_kind_check CHECK (kind IN ('personal', 'workspace')),
    name text NOT NULL,
    plan text NOT NULL,
    suspended_at timestamptz,
    created_at timestamptz NOT NULL
);

CREATE TABLE members (
    library_id text COLLATE "C" NOT NULL CONSTRAINT members_library_id_fkey REFERENCES libraries (id),
    user_id text COLLATE "C" NOT NULL CONSTRAINT members_user_id_fkey REFERENCES users (id),
    role text NOT NULL CONSTRAINT members_role_check CHECK (role IN ('owner', 'admin', 'editor', 'viewer')),
    created_at timestamptz NOT NULL,
    CONSTRAINT members_pkey PRIMARY KEY (library_id, user_id)
);

CREATE INDEX members_user_id_idx ON members (user_id);

CREATE TABLE api_keys (
    id text COLLATE "C" CONSTRAINT api_keys_pkey PRIMARY KEY,
    library_id text COLLATE "C" NOT NULL CONSTRAINT api_keys_library_id_fkey REFERENCES libraries (id),
    user_id text COLLATE "C" NOT NULL CONSTRAINT api_keys_user_id_fkey REFERENCES users (id),
    name text NOT NULL,
    hash bytea NOT NULL CONSTRAINT api_keys_hash_key UNIQUE,
    hint text NOT NULL,
    scopes text[] NOT NULL,
    legacy_speech boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL,
    last_used_at timestamptz,
    revoked_at timestamptz
);

CREATE INDEX api_keys_library_id_idx ON api_keys (library_id, id);

CREATE TABLE oauth_tokens (
    id text COLLATE "C" CONSTRAINT oauth_tokens_pkey PRIMARY KEY,
    library_id text COLLATE "C" NOT NULL CONSTRAINT oauth_tokens_library_id_fkey REFERENCES libraries (id),
    user_id text COLLATE "C" NOT NULL CONSTRAINT oauth_tokens_user_id_fkey REFERENCES users (id),
    client_id text NOT NULL,
    hash bytea NOT NULL CONSTRAINT oauth_tokens_hash_key UNIQUE,
    scopes text[] NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    revoked_at timestamptz
);

CREATE INDEX oauth_tokens_library_id_idx ON oauth_tokens (library_id, id);

CREATE TABLE videos (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    status text NOT NULL CONSTRAINT videos_status_check
        CHECK (status IN ('queued', 'processing', 'ready', 'failed')),
    title text,
    description text,
    duration_seconds double precision,
    provider text,
    media_type text CONSTRAINT videos_media_type_check CHECK (media_type IN ('video', 'audio')),
    default_language_code text,
    folder_ids text[] NOT NULL DEFAULT '{}',
    import_status text CONSTRAINT videos_import_status_check
        CHECK (import_status IN ('queued', 'processing', 'ready', 'failed')),
    import_language text,
    transcript_status text CONSTRAINT videos_transcript_status_check
        CHECK (transcript_status IN ('queued', 'processing', 'ready', 'failed')),
    transcript_language text,
    created_at timestamptz NOT NULL,
    CONSTRAINT videos_pkey PRIMARY KEY (library_id, id)
);

CREATE TABLE folders (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    parent_id text COLLATE "C",
    name text NOT NULL CONSTRAINT folders_name_check CHECK (char_length(name) BETWEEN 1 AND 120),
    depth smallint NOT NULL CONSTRAINT folders_depth_check CHECK (depth BETWEEN 1 AND 3),
    created_at timestamptz NOT NULL,
    CONSTRAINT folders_pkey PRIMARY KEY (library_id, id),
    CONSTRAINT folders_parent_fkey FOREIGN KEY (library_id, parent_id) REFERENCES folders (library_id, id),
    CONSTRAINT folders_root_check CHECK ((parent_id IS NULL) = (depth = 1))
);

CREATE TABLE characters (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    name text NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT characters_pkey PRIMARY KEY (library_id, id)
);

CREATE TABLE character_images (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    character_id text COLLATE "C" NOT NULL,
    storage_path text NOT NULL,
    CONSTRAINT character_images_pkey PRIMARY KEY (library_id, id),
    CONSTRAINT character_images_character_fkey FOREIGN KEY (library_id, character_id)
        REFERENCES characters (library_id, id) ON DELETE CASCADE
);

CREATE INDEX character_images_character_idx ON character_images (library_id, character_id, id);

CREATE TABLE brand_voices (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    name text NOT NULL,
    guidelines text NOT NULL,
    colors text[],
    created_at timestamptz NOT NULL,
    CONSTRAINT brand_voices_pkey PRIMARY KEY (library_id, id)
);

CREATE TABLE webhook_endpoints (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    url text NOT NULL,
    events text[] NOT NULL,
    sealed_secret bytea NOT NULL,
    created_at timestamptz NOT NULL,
    deleted_at timestamptz,
    CONSTRAINT webhook_endpoints_pkey PRIMARY KEY (library_id, id)
);

CREATE UNIQUE INDEX webhook_endpoints_url_key ON webhook_endpoints (library_id, url) WHERE deleted_at IS NULL;

CREATE TABLE idempotency_records (
    principal_id text COLLATE "C" NOT NULL,
    key text NOT NULL,
    library_id text COLLATE "C" NOT NULL,
    path text NOT NULL,
    body_hash bytea NOT NULL,
    status smallint NOT NULL,
    sealed_body bytea NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT retained_answers_pkey PRIMARY KEY (principal_id, key)
);

CREATE INDEX retained_answers_created_at_idx ON idempotency_records (created_at);

CREATE TABLE ledger_balances (
    library_id text COLLATE "C" NOT NULL,
    account text NOT NULL CONSTRAINT ledger_balances_account_check
        CHECK (account IN ('wallet', 'escrow', 'revenue', 'grant')),
    millicredits bigint NOT NULL,
    CONSTRAINT ledger_balances_pkey PRIMARY KEY (library_id, account)
);

CREATE TABLE ledger_transactions (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    kind text NOT NULL,
    reference text NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT ledger_transactions_pkey PRIMARY KEY (library_id, id)
);

CREATE UNIQUE INDEX ledger_transactions_reference_key ON ledger_transactions (library_id, kind, reference);

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
"""

# The doors through the wall. Each runs as the schema's owner, does one thing, and says no more than it must.
FUNCTIONS = """
CREATE FUNCTION enter_library(entered text, member_role text) RETURNS void
LANGUAGE sql AS $$
    SELECT set_config('cutroom.library_id', CASE WHEN member_role IS NULL THEN '' ELSE entered END, false)
$$;

CREATE FUNCTION enter_with_key(credential_hash bytea)
RETURNS TABLE (credential_id text, user_id text, library_id text, library_kind text, plan text,
               suspended boolean, role text, scopes text[], legacy_speech boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    SELECT k.id, k.user_id, k.library_id, l.kind, l.plan, l.suspended_at IS NOT NULL, m.role, k.scopes,
           k.legacy_speech
      INTO credential_id, user_id, library_id, library_kind, plan, suspended, role, scopes, legacy_speech
      FROM api_keys k
      JOIN libraries l ON l.id = k.library_id
      LEFT JOIN members m ON m.library_id = k.library_id AND m.user_id = k.user_id
     WHERE k.hash = credential_hash AND k.revoked_at IS NULL;
    IF FOUND THEN
        PERFORM enter_library(library_id, role);
        RETURN NEXT;
    END IF;
END $$;

CREATE FUNCTION enter_with_token(credential_hash bytea, at timestamptz)
RETURNS TABLE (credential_id text, user_id text, library_id text, library_kind text, plan text,
               suspended boolean, role text, scopes text[], legacy_speech boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    SELECT t.id, t.user_id, t.library_id, l.kind, l.plan, l.suspended_at IS NOT NULL, m.role, t.scopes, false
      INTO credential_id, user_id, library_id, library_kind, plan, suspended, role, scopes, legacy_speech
      FROM oauth_tokens t
      JOIN libraries l ON l.id = t.library_id
      LEFT JOIN members m ON m.library_id = t.library_id AND m.user_id = t.user_id
     WHERE t.hash = credential_hash AND t.revoked_at IS NULL AND t.expires_at > at;
    IF FOUND THEN
        PERFORM enter_library(library_id, role);
        RETURN NEXT;
    END IF;
END $$;

CREATE FUNCTION touch_keys(key_ids text[], used_at timestamptz[]) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    UPDATE api_keys k SET last_used_at = greatest(k.last_used_at, u.used)
      FROM unnest(key_ids, used_at) AS u (id, used) WHERE k.id = u.id
$$;

-- The contract answers 403, not 404, when somebody else's endpoint is deleted: existence is all this tells.
CREATE FUNCTION webhook_endpoint_exists(endpoint_id text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT EXISTS (SELECT FROM webhook_endpoints WHERE id = endpoint_id AND deleted_at IS NULL)
$$;

CREATE INDEX webhook_endpoints_id_idx ON webhook_endpoints (id);

CREATE FUNCTION purge_idempotency_records(before timestamptz, at_most integer) RETURNS integer
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH old AS (
        SELECT principal_id, key FROM idempotency_records WHERE created_at < before
        ORDER BY created_at LIMIT at_most FOR UPDATE SKIP LOCKED
    ), gone AS (
        DELETE FROM idempotency_records r USING old WHERE r.principal_id = old.principal_id AND r.key = old.key
        RETURNING 1
    )
    SELECT count(*)::integer FROM gone
$$;

CREATE FUNCTION ledger_transaction_is_balanced() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT sum(millicredits) FROM ledger_entries
         WHERE library_id = NEW.library_id AND transaction_id = NEW.transaction_id) IS DISTINCT FROM 0 THEN
        RAISE EXCEPTION 'ledger transaction % does not sum to zero', NEW.transaction_id
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER ledger_entries_balanced AFTER INSERT ON ledger_entries
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ledger_transaction_is_balanced();
"""

DOORS = (
    "enter_with_key(bytea)",
    "enter_with_token(bytea, timestamptz)",
    "touch_keys(text[], timestamptz[])",
    "webhook_endpoint_exists(text)",
    "purge_idempotency_records(timestamptz, integer)",
)


def upgrade() -> None:
    for statement in (TABLES + FUNCTIONS).strip().split("\n\n"):  # the driver takes one at a time
        op.execute(statement)
    here = "current_setting('cutroom.library_id', true)"
    for table, rights in LIBRARY_TABLES.items():
        _wall(table, rights, f"library_id = {here}")
    _wall("libraries", "SELECT", f"id = {here}")
    seen = "EXISTS (SELECT FROM members m WHERE m.user_id = users.id)"  # members is itself behind the wall
    _wall("users", "SELECT", seen)
    for door in DOORS:
        op.execute(f"REVOKE ALL ON FUNCTION {door} FROM PUBLIC")
        op.execute(f"GRANT EXECUTE ON FUNCTION {door} TO cutroom_app")
    op.execute("GRANT SELECT ON alembic_version TO cutroom_app")


def _wall(table: str, rights: str, condition: str) -> None:
    op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY own_library ON {table} USING ({condition}) WITH CHECK ({condition})")
    op.execute(f"GRANT {rights} ON {table} TO cutroom_app")


def downgrade() -> None:
    raise RuntimeError("the first migration is not undone; drop the database instead")
