"""OAuth: clients, what people granted them, and refresh tokens."""

from alembic import op

revision = "0021"
down_revision = "0020"

TABLES = """
CREATE TABLE oauth_clients (
    id text COLLATE "C" CONSTRAINT oauth_clients_pkey PRIMARY KEY,
    name text NOT NULL,
    redirect_uris text[] NOT NULL,
    owner_id text COLLATE "C" CONSTRAINT oauth_clients_owner_id_fkey REFERENCES users (id),
    created_at timestamptz NOT NULL,
    revoked_at timestamptz
);

CREATE INDEX oauth_clients_owner_id_idx ON oauth_clients (owner_id);

CREATE TABLE oauth_grants (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    client_id text COLLATE "C" NOT NULL,
    scopes text[] NOT NULL,
    redirect_uri text NOT NULL,
    code_hash bytea NOT NULL CONSTRAINT oauth_grants_code_hash_key UNIQUE,
    code_challenge text NOT NULL,
    code_expires_at timestamptz NOT NULL,
    code_used_at timestamptz,
    created_at timestamptz NOT NULL,
    revoked_at timestamptz,
    CONSTRAINT oauth_grants_pkey PRIMARY KEY (library_id, id)
);

CREATE INDEX oauth_grants_user_id_idx ON oauth_grants (library_id, user_id, id);

CREATE TABLE oauth_refresh_tokens (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    grant_id text COLLATE "C" NOT NULL,
    hash bytea NOT NULL CONSTRAINT oauth_refresh_tokens_hash_key UNIQUE,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    used_at timestamptz,
    CONSTRAINT oauth_refresh_tokens_pkey PRIMARY KEY (library_id, id)
);

ALTER TABLE oauth_tokens ADD COLUMN grant_id text COLLATE "C";

CREATE INDEX oauth_tokens_grant_id_idx ON oauth_tokens (library_id, grant_id) WHERE grant_id IS NOT NULL;
"""

FUNCTIONS = """
CREATE FUNCTION oauth_client(wanted text) RETURNS TABLE (id text, name text, redirect_uris text[])
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT c.id, c.name, c.redirect_uris FROM oauth_clients c WHERE c.id = wanted AND c.revoked_at IS NULL
$$;

CREATE FUNCTION oauth_clients_of(owner text)
RETURNS TABLE (id text, name text, redirect_uris text[], created_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT c.id, c.name, c.redirect_uris, c.created_at FROM oauth_clients c
     WHERE c.owner_id = owner AND c.revoked_at IS NULL ORDER BY c.id DESC LIMIT 100
$$;

CREATE FUNCTION put_oauth_client(new_id text, called text, uris text[], owner text, at timestamptz) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    INSERT INTO oauth_clients (id, name, redirect_uris, owner_id, created_at) VALUES (new_id, called, uris, owner, at)
$$;

-- A client that is gone takes everything with it that was granted to it, in every library.
CREATE FUNCTION revoke_oauth_client(wanted text, owner text, at timestamptz) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    UPDATE oauth_clients c SET revoked_at = at
     WHERE c.id = wanted AND c.owner_id IS NOT DISTINCT FROM owner AND c.revoked_at IS NULL;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE oauth_grants g SET revoked_at = at WHERE g.client_id = wanted AND g.revoked_at IS NULL;
    UPDATE oauth_tokens t SET revoked_at = at WHERE t.client_id = wanted AND t.revoked_at IS NULL;
    RETURN true;
END $$;

CREATE FUNCTION enter_with_code(given bytea)
RETURNS TABLE (grant_id text, library_id text, user_id text, client_id text, scopes text[], redirect_uri text,
               code_challenge text, code_expires_at timestamptz, code_used_at timestamptz, revoked boolean, role text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    SELECT g.id, g.library_id, g.user_id, g.client_id, g.scopes, g.redirect_uri, g.code_challenge,
           g.code_expires_at, g.code_used_at, g.revoked_at IS NOT NULL
      INTO grant_id, library_id, user_id, client_id, scopes, redirect_uri, code_challenge,
           code_expires_at, code_used_at, revoked
      FROM oauth_grants g WHERE g.code_hash = given FOR UPDATE;
    IF FOUND THEN
        SELECT m.role INTO role FROM members m WHERE m.library_id = enter_with_code.library_id
           AND m.user_id = enter_with_code.user_id;
        PERFORM enter_library(library_id, role);
        RETURN NEXT;
    END IF;
END $$;

CREATE FUNCTION enter_with_refresh(given bytea)
RETURNS TABLE (token_id text, grant_id text, library_id text, user_id text, client_id text, scopes text[],
               expires_at timestamptz, used_at timestamptz, revoked boolean, role text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    SELECT r.id, g.id, g.library_id, g.user_id, g.client_id, g.scopes, r.expires_at, r.used_at,
           g.revoked_at IS NOT NULL
      INTO token_id, grant_id, library_id, user_id, client_id, scopes, expires_at, used_at, revoked
      FROM oauth_refresh_tokens r
      JOIN oauth_grants g ON g.library_id = r.library_id AND g.id = r.grant_id
     WHERE r.hash = given FOR UPDATE;
    IF FOUND THEN
        SELECT m.role INTO role FROM members m WHERE m.library_id = enter_with_refresh.library_id
           AND m.user_id = enter_with_refresh.user_id;
        PERFORM enter_library(library_id, role);
        RETURN NEXT;
    END IF;
END $$;
"""

DOORS = (
    "oauth_client(text)",
    "oauth_clients_of(text)",
    "put_oauth_client(text, text, text[], text, timestamptz)",
    "revoke_oauth_client(text, text, timestamptz)",
    "enter_with_code(bytea)",
    "enter_with_refresh(bytea)",
)


def upgrade() -> None:
    for statement in (TABLES + FUNCTIONS).strip().split("\n\n"):  # the driver takes one at a time
        op.execute(statement)
    op.execute("ALTER TABLE oauth_clients ENABLE ROW LEVEL SECURITY")  # no policy: through doors only
    condition = "library_id = current_setting('cutroom.library_id', true)"
    for table in ("oauth_grants", "oauth_refresh_tokens"):
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY own_library ON {table} USING ({condition}) WITH CHECK ({condition})")
        op.execute(f"GRANT SELECT, INSERT, UPDATE ON {table} TO cutroom_app")
    for door in DOORS:
        op.execute(f"REVOKE ALL ON FUNCTION {door} FROM PUBLIC")
        op.execute(f"GRANT EXECUTE ON FUNCTION {door} TO cutroom_app")


def downgrade() -> None:
    for door in DOORS:
        op.execute(f"DROP FUNCTION {door}")
    op.execute("ALTER TABLE oauth_tokens DROP COLUMN grant_id")
    for table in ("oauth_refresh_tokens", "oauth_grants", "oauth_clients"):
        op.execute(f"DROP TABLE {table}")
