-- Every table with a library's rows, children before parents. A test compares it with the schema.
CREATE FUNCTION erasure_tables() RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT ARRAY[
        'output_copies', 'destinations', 'export_parts', 'export_files', 'exports', 'retention_policies', 'retention_deletions', 'storage_usage',
        'storage_scans', 'delivery_attempts', 'events', 'webhook_endpoints', 'upload_parts', 'upload_sessions', 'playback_tracks',
        'playbacks', 'hostings', 'syntheses', 'voice_consents', 'voices', 'thumbnails', 'thumbnail_requests',
        'shorts_outputs', 'dubs', 'captions', 'transcripts', 'sources', 'character_images', 'characters',
        'brand_voices', 'videos', 'folders', 'library_usage', 'idempotency_records', 'escrow_lines', 'ledger_entries',
        'ledger_transactions', 'ledger_balances', 'jobs', 'outbox', 'started_workflows', 'data_keys', 'audit_entries',
        'audit_heads', 'account_mails', 'passkeys', 'recovery_codes', 'account_security', 'invitations',
        'oauth_refresh_tokens', 'oauth_grants', 'oauth_tokens', 'api_keys', 'members'
    ]
$$;

-- Workspaces that would be left without an owner.
CREATE FUNCTION workspaces_owned_alone(of_user text) RETURNS TABLE (library_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT m.library_id FROM members m JOIN libraries l ON l.id = m.library_id AND l.kind = 'workspace'
     WHERE m.user_id = of_user AND m.role = 'owner' AND NOT EXISTS (
           SELECT FROM members o WHERE o.library_id = m.library_id AND o.role = 'owner' AND o.user_id <> of_user)
     ORDER BY m.library_id
$$;

-- Ends all access to the current library at once; for a personal library, also that of its owner to every other one.
CREATE FUNCTION begin_erasure(of_library text, at timestamptz) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    of_user text;
BEGIN
    IF of_library IS DISTINCT FROM current_setting('cutroom.library_id', true) THEN
        RAISE EXCEPTION 'only the current library can be erased' USING ERRCODE = 'insufficient_privilege';
    END IF;
    UPDATE libraries l SET erased_at = at WHERE l.id = of_library AND l.erased_at IS NULL;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    SELECT m.user_id INTO of_user FROM members m JOIN libraries l ON l.id = m.library_id
     WHERE l.id = of_library AND l.kind = 'personal';
    UPDATE api_keys SET revoked_at = at WHERE (library_id = of_library OR user_id = of_user) AND revoked_at IS NULL;
    UPDATE oauth_tokens SET revoked_at = at WHERE (library_id = of_library OR user_id = of_user) AND revoked_at IS NULL;
    UPDATE oauth_grants SET revoked_at = at WHERE (library_id = of_library OR user_id = of_user) AND revoked_at IS NULL;
    UPDATE invitations SET ended_at = at WHERE library_id = of_library AND ended_at IS NULL;
    IF of_user IS NULL THEN
        UPDATE sessions s SET chosen_library = l.id FROM members m JOIN libraries l ON l.id = m.library_id
         WHERE s.chosen_library = of_library AND m.user_id = s.user_id AND l.kind = 'personal';
        DELETE FROM sessions WHERE chosen_library = of_library;
        DELETE FROM members WHERE library_id = of_library;
    ELSE
        DELETE FROM sessions WHERE user_id = of_user OR chosen_library = of_library;
        DELETE FROM user_passwords WHERE user_id = of_user;
        DELETE FROM account_mails WHERE library_id = of_library;
        DELETE FROM passkeys WHERE library_id = of_library;
        DELETE FROM members WHERE user_id = of_user AND library_id <> of_library;
    END IF;
    RETURN true;
END $$;

-- The application may erase only the current library, and only after its erasure was requested.
CREATE FUNCTION require_erasure(of_library text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF session_user <> current_user AND (of_library IS DISTINCT FROM current_setting('cutroom.library_id', true)
       OR EXISTS (SELECT FROM libraries l WHERE l.id = of_library AND l.erased_at IS NULL)) THEN
        RAISE EXCEPTION 'the erasure of this library was not requested' USING ERRCODE = 'insufficient_privilege';
    END IF;
END $$;

CREATE FUNCTION count_library_rows(of_library text) RETURNS TABLE (table_name text, row_count bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    PERFORM require_erasure(of_library);
    FOREACH table_name IN ARRAY erasure_tables() LOOP
        EXECUTE format('SELECT count(*) FROM %I WHERE library_id = $1', table_name) INTO row_count USING of_library;
        RETURN NEXT;
    END LOOP;
    table_name := 'libraries';
    SELECT count(*) INTO row_count FROM libraries l WHERE l.id = of_library;
    RETURN NEXT;
    table_name := 'users';
    SELECT count(*) INTO row_count FROM members m JOIN libraries l ON l.id = m.library_id
     WHERE l.id = of_library AND l.kind = 'personal';
    RETURN NEXT;
END $$;

-- What is left of a user outside their personal library. Ids in the audit logs of workspaces stay.
CREATE FUNCTION erase_user_rows(of_user text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM api_keys WHERE user_id = of_user;
    DELETE FROM oauth_tokens WHERE user_id = of_user;
    DELETE FROM oauth_refresh_tokens r USING oauth_grants g
     WHERE g.library_id = r.library_id AND g.id = r.grant_id AND g.user_id = of_user;
    DELETE FROM oauth_grants WHERE user_id = of_user;
    UPDATE oauth_grants g SET revoked_at = now() FROM oauth_clients c
     WHERE c.owner_id = of_user AND g.client_id = c.id AND g.revoked_at IS NULL;
    UPDATE oauth_tokens t SET revoked_at = now() FROM oauth_clients c
     WHERE c.owner_id = of_user AND t.client_id = c.id AND t.revoked_at IS NULL;
    DELETE FROM oauth_clients WHERE owner_id = of_user;
    DELETE FROM idempotency_records WHERE user_id = of_user;
    DELETE FROM invitations i USING users u WHERE u.id = of_user AND i.email = u.email;
    DELETE FROM sessions WHERE user_id = of_user;
    DELETE FROM user_passwords WHERE user_id = of_user;
    DELETE FROM members WHERE user_id = of_user;
    DELETE FROM users WHERE id = of_user;
END $$;

-- Deletes every row of a library and, with a personal library, its owner; running it again does nothing.
CREATE FUNCTION erase_library_rows(of_library text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    of_user text;
    each_table text;
    deleted bigint;
    total bigint := 0;
BEGIN
    PERFORM require_erasure(of_library);
    SELECT m.user_id INTO of_user FROM members m JOIN libraries l ON l.id = m.library_id
     WHERE l.id = of_library AND l.kind = 'personal';
    -- The trigger of the audit log lets the entries of this library go, for this transaction.
    PERFORM set_config('cutroom.erased_library', of_library, true);
    FOREACH each_table IN ARRAY erasure_tables() LOOP
        EXECUTE format('DELETE FROM %I WHERE library_id = $1', each_table) USING of_library;
        GET DIAGNOSTICS deleted = ROW_COUNT;
        total := total + deleted;
    END LOOP;
    PERFORM set_config('cutroom.erased_library', '', true);
    IF of_user IS NOT NULL THEN
        PERFORM erase_user_rows(of_user);
    END IF;
    DELETE FROM sessions WHERE chosen_library = of_library;
    DELETE FROM libraries WHERE id = of_library;
    RETURN total;
END $$;

-- Which of these libraries are erased or being erased, for the caches of workers.
CREATE FUNCTION erased_libraries(ids text[]) RETURNS TABLE (library_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT each FROM unnest(ids) AS each
     WHERE NOT EXISTS (SELECT FROM libraries l WHERE l.id = each AND l.erased_at IS NULL)
$$;

-- The planner's statistics contain values of rows; collecting them again replaces those that are gone.
CREATE FUNCTION refresh_erased_statistics() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    each_table text;
BEGIN
    FOREACH each_table IN ARRAY erasure_tables() || ARRAY['libraries', 'users', 'sessions', 'oauth_clients'] LOOP
        EXECUTE format('ANALYZE %I', each_table);
    END LOOP;
END $$;
