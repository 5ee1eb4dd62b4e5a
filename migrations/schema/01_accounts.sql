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
    refuses_drafts boolean NOT NULL DEFAULT false,
    urls_valid_from timestamptz,
    storage_bytes_quota bigint,
    media_minutes_quota bigint,
    unfinished_jobs_quota bigint,
    created_at timestamptz NOT NULL,
    erased_at timestamptz,
    CONSTRAINT libraries_quotas_check
        CHECK (least(storage_bytes_quota, media_minutes_quota, unfinished_jobs_quota) >= 0)
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
    revoked_at timestamptz,
    grant_id text COLLATE "C"
);

CREATE INDEX oauth_tokens_library_id_idx ON oauth_tokens (library_id, id);

CREATE INDEX oauth_tokens_grant_id_idx ON oauth_tokens (library_id, grant_id) WHERE grant_id IS NOT NULL;

CREATE TABLE user_passwords (
    user_id text COLLATE "C" CONSTRAINT user_passwords_pkey PRIMARY KEY
        CONSTRAINT user_passwords_user_id_fkey REFERENCES users (id),
    hash text NOT NULL,
    changed_at timestamptz NOT NULL
);

CREATE TABLE sessions (
    id text COLLATE "C" CONSTRAINT sessions_pkey PRIMARY KEY,
    user_id text COLLATE "C" NOT NULL CONSTRAINT sessions_user_id_fkey REFERENCES users (id),
    hash bytea NOT NULL CONSTRAINT sessions_hash_key UNIQUE,
    chosen_library text COLLATE "C" NOT NULL CONSTRAINT sessions_chosen_library_fkey REFERENCES libraries (id),
    created_at timestamptz NOT NULL,
    seen_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    client_address text,
    user_agent text
);

CREATE INDEX sessions_user_id_idx ON sessions (user_id);

CREATE TABLE invitations (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    email text NOT NULL,
    role text NOT NULL CONSTRAINT invitations_role_check CHECK (role IN ('owner', 'admin', 'editor', 'viewer')),
    hash bytea NOT NULL CONSTRAINT invitations_hash_key UNIQUE,
    invited_by text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    ended_at timestamptz,
    CONSTRAINT invitations_pkey PRIMARY KEY (library_id, id)
);

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

-- Without a role, also because a credential is unknown, a connection enters no library.
CREATE FUNCTION set_library_context(entered text, member_role text) RETURNS void
LANGUAGE sql AS $$
    SELECT set_config('cutroom.library_id', CASE WHEN member_role IS NULL THEN '' ELSE entered END, false)
$$;

CREATE FUNCTION authenticate_key(credential_hash bytea)
RETURNS TABLE (credential_id text, user_id text, library_id text, library_kind text, plan text,
               suspended boolean, refuses_drafts boolean, role text, scopes text[], legacy_speech boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    SELECT k.id, k.user_id, k.library_id, l.kind, l.plan, l.suspended_at IS NOT NULL, l.refuses_drafts, m.role,
           k.scopes, k.legacy_speech
      INTO credential_id, user_id, library_id, library_kind, plan, suspended, refuses_drafts, role,
           scopes, legacy_speech
      FROM api_keys k
      JOIN libraries l ON l.id = k.library_id
      LEFT JOIN members m ON m.library_id = k.library_id AND m.user_id = k.user_id
     WHERE k.hash = credential_hash AND k.revoked_at IS NULL;
    PERFORM set_library_context(library_id, role);
    IF credential_id IS NOT NULL THEN
        RETURN NEXT;
    END IF;
END $$;

CREATE FUNCTION authenticate_token(credential_hash bytea, at timestamptz)
RETURNS TABLE (credential_id text, user_id text, library_id text, library_kind text, plan text,
               suspended boolean, refuses_drafts boolean, role text, scopes text[], legacy_speech boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    SELECT t.id, t.user_id, t.library_id, l.kind, l.plan, l.suspended_at IS NOT NULL, l.refuses_drafts, m.role,
           t.scopes, false
      INTO credential_id, user_id, library_id, library_kind, plan, suspended, refuses_drafts, role,
           scopes, legacy_speech
      FROM oauth_tokens t
      JOIN libraries l ON l.id = t.library_id
      LEFT JOIN members m ON m.library_id = t.library_id AND m.user_id = t.user_id
     WHERE t.hash = credential_hash AND t.revoked_at IS NULL AND t.expires_at > at;
    PERFORM set_library_context(library_id, role);
    IF credential_id IS NOT NULL THEN
        RETURN NEXT;
    END IF;
END $$;

CREATE FUNCTION touch_keys(key_ids text[], used_at timestamptz[]) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    UPDATE api_keys k SET last_used_at = greatest(k.last_used_at, u.used)
      FROM unnest(key_ids, used_at) AS u (id, used) WHERE k.id = u.id
$$;

CREATE FUNCTION find_password(address text) RETURNS TABLE (user_id text, library_id text, hash text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT u.id, l.id, p.hash FROM users u
      JOIN user_passwords p ON p.user_id = u.id
      JOIN members m ON m.user_id = u.id
      JOIN libraries l ON l.id = m.library_id AND l.kind = 'personal'
     WHERE u.email = address
$$;

-- Changing a password ends every session of the user.
CREATE FUNCTION set_password(of_user text, new_hash text, at timestamptz) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    INSERT INTO user_passwords (user_id, hash, changed_at) VALUES (of_user, new_hash, at)
        ON CONFLICT (user_id) DO UPDATE SET hash = excluded.hash, changed_at = excluded.changed_at;
    DELETE FROM sessions WHERE user_id = of_user
$$;

CREATE FUNCTION create_account(
    new_user text, address text, display_name text, new_hash text, new_library text, on_plan text, at timestamptz
) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    INSERT INTO users (id, email, name, created_at) VALUES (new_user, address, display_name, at)
        ON CONFLICT (email) DO NOTHING;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO libraries (id, kind, name, plan, created_at) VALUES (new_library, 'personal', display_name, on_plan, at);
    INSERT INTO members (library_id, user_id, role, created_at) VALUES (new_library, new_user, 'owner', at);
    INSERT INTO user_passwords (user_id, hash, changed_at) VALUES (new_user, new_hash, at);
    RETURN true;
END $$;

CREATE FUNCTION create_workspace(new_library text, display_name text, owner_id text, on_plan text, at timestamptz)
RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    INSERT INTO libraries (id, kind, name, plan, created_at) VALUES (new_library, 'workspace', display_name, on_plan, at);
    INSERT INTO members (library_id, user_id, role, created_at) VALUES (new_library, owner_id, 'owner', at)
$$;

-- A user has at most 50 sessions: those that were used last, and the new one.
CREATE FUNCTION create_session(
    new_id text, of_user text, session_hash bytea, in_library text, at timestamptz, until timestamptz,
    from_address text, from_agent text
) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    DELETE FROM sessions WHERE user_id = of_user AND expires_at <= at;
    DELETE FROM sessions WHERE id IN (
        SELECT s.id FROM sessions s WHERE s.user_id = of_user ORDER BY s.seen_at DESC, s.id DESC OFFSET 49);
    INSERT INTO sessions (id, user_id, hash, chosen_library, created_at, seen_at, expires_at, client_address, user_agent)
        VALUES (new_id, of_user, session_hash, in_library, at, at, until, from_address, from_agent)
$$;

-- The live sessions of the user who holds this one, which is the proof that they may see them.
CREATE FUNCTION list_sessions(session_hash bytea, at timestamptz, idle interval)
RETURNS TABLE (session_id text, is_current boolean, created_at timestamptz, seen_at timestamptz, client_address text,
               user_agent text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT s.id, s.hash = session_hash, s.created_at, s.seen_at, s.client_address, s.user_agent
      FROM sessions s JOIN sessions own ON own.user_id = s.user_id AND own.hash = session_hash
     WHERE s.expires_at > at AND s.seen_at > at - idle
     ORDER BY s.hash = session_hash DESC, s.seen_at DESC, s.id DESC LIMIT 50
$$;

-- Ends one other session of the user who holds this one, or all others if none is named.
CREATE FUNCTION end_other_sessions(session_hash bytea, only_session text) RETURNS TABLE (session_id text)
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    DELETE FROM sessions s USING sessions own
     WHERE own.hash = session_hash AND s.user_id = own.user_id AND s.hash <> session_hash
       AND (only_session IS NULL OR s.id = only_session)
    RETURNING s.id
$$;

-- A member removed from the session's workspace falls back to their personal library.
CREATE FUNCTION authenticate_session(session_hash bytea, at timestamptz, idle interval)
RETURNS TABLE (session_id text, user_id text, email text, name text, library_id text, library_kind text,
               library_name text, plan text, suspended boolean, refuses_drafts boolean, role text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    SELECT s.id, s.user_id, u.email, u.name, l.id, l.kind, l.name, l.plan, l.suspended_at IS NOT NULL,
           l.refuses_drafts, m.role
      INTO session_id, user_id, email, name, library_id, library_kind, library_name, plan, suspended,
           refuses_drafts, role
      FROM sessions s
      JOIN users u ON u.id = s.user_id
      JOIN members m ON m.user_id = s.user_id
      JOIN libraries l ON l.id = m.library_id
     WHERE s.hash = session_hash AND s.expires_at > at AND s.seen_at > at - idle
       AND (l.id = s.chosen_library OR l.kind = 'personal')
     ORDER BY l.id = s.chosen_library DESC LIMIT 1;
    IF FOUND THEN
        UPDATE sessions s SET seen_at = at WHERE s.hash = session_hash AND s.seen_at < at - interval '1 minute';
        PERFORM set_library_context(library_id, role);
        RETURN NEXT;
    END IF;
END $$;

CREATE FUNCTION select_library(session_hash bytea, chosen text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    UPDATE sessions s SET chosen_library = chosen
     WHERE s.hash = session_hash
       AND EXISTS (SELECT FROM members m WHERE m.library_id = chosen AND m.user_id = s.user_id);
    RETURN FOUND;
END $$;

CREATE FUNCTION list_libraries(of_user text)
RETURNS TABLE (library_id text, kind text, name text, plan text, suspended boolean, role text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT l.id, l.kind, l.name, l.plan, l.suspended_at IS NOT NULL, m.role
      FROM members m JOIN libraries l ON l.id = m.library_id
     WHERE m.user_id = of_user ORDER BY l.kind, l.name, l.id LIMIT 200
$$;

CREATE FUNCTION end_session(session_hash bytea) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    DELETE FROM sessions WHERE hash = session_hash
$$;

CREATE FUNCTION authenticate_invitation(invitation_hash bytea, at timestamptz)
RETURNS TABLE (invitation_id text, library_id text, library_name text, email text, role text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    SELECT i.id, l.id, l.name, i.email, i.role INTO invitation_id, library_id, library_name, email, role
      FROM invitations i JOIN libraries l ON l.id = i.library_id
     WHERE i.hash = invitation_hash AND i.ended_at IS NULL AND i.expires_at > at;
    IF FOUND THEN
        PERFORM set_library_context(library_id, role);
        RETURN NEXT;
    END IF;
END $$;

CREATE FUNCTION oauth_client(client text) RETURNS TABLE (id text, name text, redirect_uris text[])
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT c.id, c.name, c.redirect_uris FROM oauth_clients c WHERE c.id = client AND c.revoked_at IS NULL
$$;

CREATE FUNCTION list_oauth_clients(owner text)
RETURNS TABLE (id text, name text, redirect_uris text[], created_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT c.id, c.name, c.redirect_uris, c.created_at FROM oauth_clients c
     WHERE c.owner_id = owner AND c.revoked_at IS NULL ORDER BY c.id DESC LIMIT 100
$$;

CREATE FUNCTION create_oauth_client(new_id text, display_name text, uris text[], owner text, at timestamptz) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    INSERT INTO oauth_clients (id, name, redirect_uris, owner_id, created_at) VALUES (new_id, display_name, uris, owner, at)
$$;

-- Revokes a client with all its grants and tokens, in every library.
CREATE FUNCTION revoke_oauth_client(client text, owner text, at timestamptz) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    UPDATE oauth_clients c SET revoked_at = at
     WHERE c.id = client AND c.owner_id IS NOT DISTINCT FROM owner AND c.revoked_at IS NULL;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE oauth_grants g SET revoked_at = at WHERE g.client_id = client AND g.revoked_at IS NULL;
    UPDATE oauth_tokens t SET revoked_at = at WHERE t.client_id = client AND t.revoked_at IS NULL;
    RETURN true;
END $$;

CREATE FUNCTION authenticate_code(credential_hash bytea)
RETURNS TABLE (grant_id text, library_id text, user_id text, client_id text, scopes text[], redirect_uri text,
               code_challenge text, code_expires_at timestamptz, code_used_at timestamptz, revoked boolean, role text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    SELECT g.id, g.library_id, g.user_id, g.client_id, g.scopes, g.redirect_uri, g.code_challenge,
           g.code_expires_at, g.code_used_at, g.revoked_at IS NOT NULL
      INTO grant_id, library_id, user_id, client_id, scopes, redirect_uri, code_challenge,
           code_expires_at, code_used_at, revoked
      FROM oauth_grants g WHERE g.code_hash = credential_hash FOR UPDATE;
    IF FOUND THEN
        SELECT m.role INTO role FROM members m WHERE m.library_id = authenticate_code.library_id
           AND m.user_id = authenticate_code.user_id;
        PERFORM set_library_context(library_id, role);
        RETURN NEXT;
    END IF;
END $$;

CREATE FUNCTION authenticate_refresh_token(credential_hash bytea)
RETURNS TABLE (token_id text, grant_id text, library_id text, user_id text, client_id text, scopes text[],
               expires_at timestamptz, used_at timestamptz, revoked boolean, role text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    SELECT r.id, g.id, g.library_id, g.user_id, g.client_id, g.scopes, r.expires_at, r.used_at,
           g.revoked_at IS NOT NULL
      INTO token_id, grant_id, library_id, user_id, client_id, scopes, expires_at, used_at, revoked
      FROM oauth_refresh_tokens r
      JOIN oauth_grants g ON g.library_id = r.library_id AND g.id = r.grant_id
     WHERE r.hash = credential_hash FOR UPDATE;
    IF FOUND THEN
        SELECT m.role INTO role FROM members m WHERE m.library_id = authenticate_refresh_token.library_id
           AND m.user_id = authenticate_refresh_token.user_id;
        PERFORM set_library_context(library_id, role);
        RETURN NEXT;
    END IF;
END $$;

-- Applies an entry of the revocation log to restored rows. For the owner of the schema only.
CREATE FUNCTION apply_revocation(kind text, of_library text, revoked text, at timestamptz) RETURNS void
LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    IF kind = 'key' THEN
        UPDATE api_keys SET revoked_at = at WHERE id = revoked AND revoked_at IS NULL;
    ELSIF kind = 'grant' THEN
        UPDATE oauth_grants SET revoked_at = at WHERE library_id = of_library AND id = revoked AND revoked_at IS NULL;
        UPDATE oauth_tokens SET revoked_at = at
         WHERE library_id = of_library AND grant_id = revoked AND revoked_at IS NULL;
    ELSIF kind = 'member' THEN -- unless they were added again later
        DELETE FROM members WHERE library_id = of_library AND user_id = revoked AND created_at <= at;
    ELSIF kind = 'suspension' THEN
        UPDATE libraries SET suspended_at = at WHERE id = of_library AND suspended_at IS NULL;
    ELSIF kind = 'resumption' THEN
        UPDATE libraries SET suspended_at = NULL WHERE id = of_library AND suspended_at <= at;
    ELSE
        RAISE EXCEPTION 'unknown kind of revocation: %', kind;
    END IF;
END $$;
