CREATE TABLE audit_entries (
    library_id text COLLATE "C" NOT NULL,
    sequence bigint NOT NULL CONSTRAINT audit_entries_sequence_check CHECK (sequence > 0),
    at timestamptz NOT NULL,
    action text NOT NULL,
    actor_kind text NOT NULL CONSTRAINT audit_entries_actor_kind_check
        CHECK (actor_kind IN ('key', 'token', 'person', 'system')),
    actor_id text COLLATE "C" NOT NULL,
    user_id text COLLATE "C",
    targets jsonb NOT NULL,
    client_address text,
    request_id text COLLATE "C",
    details jsonb NOT NULL,
    hash bytea NOT NULL,
    CONSTRAINT audit_entries_pkey PRIMARY KEY (library_id, sequence)
);

CREATE INDEX audit_entries_action_idx ON audit_entries (library_id, action, sequence);

CREATE TABLE audit_heads (
    library_id text COLLATE "C" NOT NULL CONSTRAINT audit_heads_pkey PRIMARY KEY,
    sequence bigint NOT NULL,
    hash bytea NOT NULL
);

-- The application's role has no privilege to change entries; the trigger also stops the schema owner. Only
-- erase_library_rows, which runs as the owner and names the library, may delete the log of a whole library.
CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_user = (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = TG_RELID) THEN
        IF OLD.library_id = current_setting('cutroom.erased_library', true) THEN
            RETURN OLD;
        END IF;
    END IF;
    RAISE EXCEPTION 'the audit log is append-only' USING ERRCODE = 'insufficient_privilege';
END
$$;

CREATE TRIGGER audit_entries_append_only BEFORE UPDATE OR DELETE ON audit_entries
    FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();

CREATE TRIGGER audit_entries_no_truncate BEFORE TRUNCATE ON audit_entries
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
