"""Signing in: passwords, sessions and invitations."""

from alembic import op

revision = "0020"
down_revision = "0014"

# Of nobody's library: the application reaches the first two through doors only.
TABLES = """
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
    expires_at timestamptz NOT NULL
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
"""

FUNCTIONS = """
CREATE FUNCTION password_of(address text) RETURNS TABLE (user_id text, library_id text, hash text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT u.id, l.id, p.hash FROM users u
      JOIN user_passwords p ON p.user_id = u.id
      JOIN members m ON m.user_id = u.id
      JOIN libraries l ON l.id = m.library_id AND l.kind = 'personal'
     WHERE u.email = address
$$;

-- Whoever knew the old password is signed out with it.
CREATE FUNCTION put_password(of_user text, new_hash text, at timestamptz) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    INSERT INTO user_passwords (user_id, hash, changed_at) VALUES (of_user, new_hash, at)
        ON CONFLICT (user_id) DO UPDATE SET hash = excluded.hash, changed_at = excluded.changed_at;
    DELETE FROM sessions WHERE user_id = of_user
$$;

CREATE FUNCTION open_account(
    new_user text, address text, called text, new_hash text, new_library text, on_plan text, at timestamptz
) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    INSERT INTO users (id, email, name, created_at) VALUES (new_user, address, called, at)
        ON CONFLICT (email) DO NOTHING;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO libraries (id, kind, name, plan, created_at) VALUES (new_library, 'personal', called, on_plan, at);
    INSERT INTO members (library_id, user_id, role, created_at) VALUES (new_library, new_user, 'owner', at);
    INSERT INTO user_passwords (user_id, hash, changed_at) VALUES (new_user, new_hash, at);
    RETURN true;
END $$;

CREATE FUNCTION found_workspace(new_library text, called text, owner_id text, on_plan text, at timestamptz)
RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    INSERT INTO libraries (id, kind, name, plan, created_at) VALUES (new_library, 'workspace', called, on_plan, at);
    INSERT INTO members (library_id, user_id, role, created_at) VALUES (new_library, owner_id, 'owner', at)
$$;

CREATE FUNCTION begin_session(
    new_id text, of_user text, session_hash bytea, in_library text, at timestamptz, until timestamptz
) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    DELETE FROM sessions WHERE user_id = of_user AND expires_at <= at;
    INSERT INTO sessions (id, user_id, hash, chosen_library, created_at, seen_at, expires_at)
        VALUES (new_id, of_user, session_hash, in_library, at, at, until)
$$;

-- Whoever was taken out of the workspace they last worked in finds themselves in their own library.
CREATE FUNCTION enter_with_session(session_hash bytea, at timestamptz, idle interval)
RETURNS TABLE (session_id text, user_id text, email text, name text, library_id text, library_kind text,
               library_name text, plan text, suspended boolean, role text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    SELECT s.id, s.user_id, u.email, u.name, l.id, l.kind, l.name, l.plan, l.suspended_at IS NOT NULL, m.role
      INTO session_id, user_id, email, name, library_id, library_kind, library_name, plan, suspended, role
      FROM sessions s
      JOIN users u ON u.id = s.user_id
      JOIN members m ON m.user_id = s.user_id
      JOIN libraries l ON l.id = m.library_id
     WHERE s.hash = session_hash AND s.expires_at > at AND s.seen_at > at - idle
       AND (l.id = s.chosen_library OR l.kind = 'personal')
     ORDER BY l.id = s.chosen_library DESC LIMIT 1;
    IF FOUND THEN
        UPDATE sessions s SET seen_at = at WHERE s.hash = session_hash AND s.seen_at < at - interval '1 minute';
        PERFORM enter_library(library_id, role);
        RETURN NEXT;
    END IF;
END $$;

CREATE FUNCTION choose_library(session_hash bytea, chosen text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    UPDATE sessions s SET chosen_library = chosen
     WHERE s.hash = session_hash
       AND EXISTS (SELECT FROM members m WHERE m.library_id = chosen AND m.user_id = s.user_id);
    RETURN FOUND;
END $$;

CREATE FUNCTION libraries_of(of_user text)
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

CREATE FUNCTION enter_with_invitation(invitation_hash bytea, at timestamptz)
RETURNS TABLE (invitation_id text, library_id text, library_name text, email text, role text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    SELECT i.id, l.id, l.name, i.email, i.role INTO invitation_id, library_id, library_name, email, role
      FROM invitations i JOIN libraries l ON l.id = i.library_id
     WHERE i.hash = invitation_hash AND i.ended_at IS NULL AND i.expires_at > at;
    IF FOUND THEN
        PERFORM enter_library(library_id, role);
        RETURN NEXT;
    END IF;
END $$;
"""

DOORS = (
    "password_of(text)",
    "put_password(text, text, timestamptz)",
    "open_account(text, text, text, text, text, text, timestamptz)",
    "found_workspace(text, text, text, text, timestamptz)",
    "begin_session(text, text, bytea, text, timestamptz, timestamptz)",
    "enter_with_session(bytea, timestamptz, interval)",
    "choose_library(bytea, text)",
    "libraries_of(text)",
    "end_session(bytea)",
    "enter_with_invitation(bytea, timestamptz)",
)


def upgrade() -> None:
    for statement in (TABLES + FUNCTIONS).strip().split("\n\n"):  # the driver takes one at a time
        op.execute(statement)
    for table in ("user_passwords", "sessions", "invitations"):
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
    condition = "library_id = current_setting('cutroom.library_id', true)"
    op.execute(f"CREATE POLICY own_library ON invitations USING ({condition}) WITH CHECK ({condition})")
    op.execute("GRANT SELECT, INSERT, UPDATE ON invitations TO cutroom_app")
    for door in DOORS:
        op.execute(f"REVOKE ALL ON FUNCTION {door} FROM PUBLIC")
        op.execute(f"GRANT EXECUTE ON FUNCTION {door} TO cutroom_app")


def downgrade() -> None:
    for door in DOORS:
        op.execute(f"DROP FUNCTION {door}")
    for table in ("invitations", "sessions", "user_passwords"):
        op.execute(f"DROP TABLE {table}")
