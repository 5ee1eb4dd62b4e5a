"""What each database role may do: the grants of every table and function, applied after each migration.

`docs/database-roles.md` describes the roles, and why each SECURITY DEFINER function exists.
"""

from collections.abc import Iterator

API, WORKER, RELAY = "cutroom_api", "cutroom_worker", "cutroom_relay"
ROLES = (API, WORKER, RELAY)

_NOTHING = ""
_READ = "SELECT"
_APPEND = "SELECT, INSERT"
_SAVE = "SELECT, INSERT, UPDATE"
_CHANGE = "SELECT, UPDATE"
_EVERYTHING = "SELECT, INSERT, UPDATE, DELETE"
_ESCROW = "SELECT, INSERT, UPDATE (holder, state, ended_at)"

# Table: privileges of the API and of the worker. The relay has none: it calls its functions.
TABLES = {
    "account_mails": (_EVERYTHING, _CHANGE),
    "account_security": (_SAVE, _NOTHING),
    "alembic_version": (_READ, _READ),
    "api_keys": (  # the worker exports them without their hashes
        _SAVE,
        "SELECT (id, library_id, user_id, name, scopes, legacy_speech, created_at, last_used_at, revoked_at)",
    ),
    "audit_entries": (_APPEND, _READ),
    "audit_heads": ("SELECT, INSERT, UPDATE (sequence, hash)", _READ),
    "brand_voices": (_EVERYTHING, _READ),
    "captions": ("SELECT, INSERT, UPDATE (segments, revision, previous), DELETE", _EVERYTHING),
    "cast_appearances": (_EVERYTHING, _EVERYTHING),
    "cast_exclusions": ("SELECT, INSERT, DELETE", "SELECT, DELETE"),
    "cast_members": (_EVERYTHING, _READ),
    "cast_runs": ("SELECT, INSERT, DELETE", _CHANGE),
    "cast_scopes": (_EVERYTHING, _READ),
    "character_images": (_EVERYTHING, _SAVE),
    "characters": (_EVERYTHING, _READ),
    "data_keys": (_APPEND, _APPEND),
    "delivery_attempts": (_READ, "SELECT, INSERT, DELETE"),
    "destinations": (_EVERYTHING, _READ),
    "dubs": ("SELECT, UPDATE (edits, revision, redub_job_id), DELETE", _EVERYTHING),
    "escrow_lines": (_ESCROW, _ESCROW),
    "event_logs": (_READ, _READ),
    "events": (_APPEND, "SELECT, INSERT, DELETE"),
    "export_files": (_NOTHING, _EVERYTHING),
    "export_parts": (_NOTHING, _EVERYTHING),
    "exports": ("SELECT, INSERT, UPDATE (deleted_at)", "SELECT, UPDATE, DELETE"),
    "folders": (_EVERYTHING, _READ),
    "glossary_terms": (_EVERYTHING, _READ),
    "hostings": (_NOTHING, _EVERYTHING),
    "idempotency_records": (_SAVE, _NOTHING),
    "invitations": (_SAVE, _NOTHING),
    "jobs": (_SAVE, _CHANGE),
    "key_ring": (_READ, _READ),
    "ledger_balances": (_READ, _READ),
    "ledger_entries": (_READ, _READ),
    "ledger_transactions": (_READ, _READ),
    "libraries": ("SELECT, UPDATE (refuses_drafts, urls_valid_from)", _READ),
    "library_moves": (_NOTHING, _NOTHING),
    "library_usage": (_SAVE, _SAVE),
    "members": (_EVERYTHING, _READ),
    "oauth_clients": (_NOTHING, _NOTHING),
    "oauth_grants": (_SAVE, _NOTHING),
    "oauth_refresh_tokens": (_SAVE, _NOTHING),
    "oauth_tokens": (_SAVE, "SELECT (id, library_id)"),
    "notification_preferences": (_SAVE, _READ),
    "notifications": (_APPEND, _EVERYTHING),
    "outbox": ("INSERT", "SELECT, INSERT, DELETE"),
    "output_copies": (_CHANGE, _EVERYTHING),
    "passkeys": (_EVERYTHING, _NOTHING),
    "playback_tracks": (_READ, _EVERYTHING),
    "playbacks": ("SELECT, INSERT, UPDATE (requested_edit)", _EVERYTHING),
    "push_subscriptions": (_EVERYTHING, "SELECT, DELETE"),
    "recovery_codes": (_EVERYTHING, _NOTHING),
    "retention_deletions": (_READ, _EVERYTHING),
    "retention_policies": (_SAVE, _READ),
    "review_comments": (_EVERYTHING, "SELECT, DELETE"),
    "review_links": (  # the worker exports them without their hashes
        "SELECT, INSERT, DELETE",
        "SELECT (library_id, id, video_id, role, label, created_by, created_at, expires_at), DELETE",
    ),
    "sessions": (_NOTHING, _NOTHING),
    "shorts_outputs": ("SELECT, UPDATE, DELETE", _EVERYTHING),
    "sources": (_SAVE, "SELECT, UPDATE, DELETE"),
    "started_workflows": (_NOTHING, _READ),
    "stock_voices": (_READ, _EVERYTHING),
    "storage_scans": (_READ, _SAVE),
    "storage_usage": (_READ, "SELECT, INSERT, DELETE"),
    "syntheses": (_SAVE, "SELECT, UPDATE, DELETE"),
    "thumbnail_requests": (_EVERYTHING, "SELECT, UPDATE, DELETE"),
    "thumbnails": ("SELECT, UPDATE (id), DELETE", _EVERYTHING),  # locked while it becomes the poster
    "transcript_revisions": ("SELECT, INSERT, DELETE", "SELECT, INSERT, DELETE"),
    "transcripts": ("SELECT, UPDATE (revision, optimized), DELETE", _EVERYTHING),
    "translation_routes": (_READ, _EVERYTHING),
    "upload_parts": (_EVERYTHING, "SELECT, DELETE"),
    "upload_sessions": (_SAVE, "SELECT, UPDATE, DELETE"),
    "user_passwords": (_NOTHING, _NOTHING),
    "users": (_READ, _READ),
    "videos": (_SAVE, "SELECT, UPDATE, DELETE"),
    "voice_consents": (_APPEND, _READ),
    "voices": (_SAVE, _CHANGE),
    "webhook_deliveries": (_SAVE, _EVERYTHING),
    "webhook_endpoints": (_SAVE, "SELECT, UPDATE (disabled_at, disabled_reason, failing_since)"),
}
# What other packages may read of a table, with the reader's own rights.
VIEWS = (
    "published_captions",
    "published_dubs",
    "published_events",
    "published_shorts",
    "published_sources",
    "published_storage_usage",
    "published_thumbnails",
    "published_titles",
    "published_transcripts",
    "published_voices",
)
# Function: roles that may execute it. All others are for the owner, for other functions and for triggers.
FUNCTIONS = {
    "authenticate_code(bytea)": (API,),
    "authenticate_invitation(bytea, timestamptz)": (API,),
    "authenticate_key(bytea)": (API,),
    "authenticate_mail_link(bytea, text, timestamptz)": (API,),
    "authenticate_refresh_token(bytea)": (API,),
    "authenticate_review_link(bytea, timestamptz)": (API,),
    "authenticate_session(bytea, timestamptz, interval)": (API,),
    "authenticate_token(bytea, timestamptz)": (API,),
    "begin_erasure(text, timestamptz)": (API,),
    "check_ledger(text, timestamptz)": (WORKER,),
    "claim_outbox_rows(integer, integer)": (RELAY,),
    "count_library_rows(text)": (WORKER,),
    "create_account(text, text, text, text, text, text, timestamptz)": (API,),
    "create_event_partitions(timestamptz)": (WORKER,),
    "create_oauth_client(text, text, text[], text, timestamptz)": (API,),
    "create_session(text, text, bytea, text, timestamptz, timestamptz, text, text)": (API,),
    "create_workspace(text, text, text, text, timestamptz)": (API,),
    "defer_outbox_rows(bigint[], integer)": (RELAY,),
    "delete_outbox_rows(bigint[])": (RELAY,),
    "drop_expired_events(timestamptz)": (WORKER,),
    "end_other_sessions(bytea, text)": (API,),
    "end_session(bytea)": (API,),
    "enter_library(text)": (API, WORKER),
    "erase_library_rows(text)": (WORKER,),
    "erased_libraries(text[])": (WORKER,),
    "event_heads(text[])": (API,),
    "event_tails(text[], bigint[], integer)": (API,),
    "expired_exports(timestamptz, integer)": (WORKER,),
    "expired_uploads(timestamptz, integer)": (WORKER,),
    "find_account(text)": (API,),
    "find_passkey(bytea)": (API,),
    "find_password(text)": (API,),
    "ledgers_to_check(timestamptz, integer)": (WORKER,),
    "libraries_after(text, integer)": (WORKER,),
    "list_libraries(text)": (API,),
    "list_oauth_clients(text)": (API,),
    "list_sessions(bytea, timestamptz, interval)": (API,),
    "mark_expired_events(timestamptz)": (WORKER,),
    "measured_runs(text, text, text, integer)": (WORKER,),
    "move_credits(text, text, text, text, bigint, timestamptz)": (API, WORKER),
    "oauth_client(text)": (API,),
    "outbox_backlog(integer)": (RELAY,),
    "pending_uploads(integer)": (WORKER,),
    "purge_delivery_attempts(timestamptz, integer)": (WORKER,),
    "purge_deliveries(timestamptz, integer)": (WORKER,),
    "purge_events(timestamptz, integer)": (WORKER,),
    "purge_idempotency_records(timestamptz, integer)": (WORKER,),
    "purge_notifications(timestamptz, integer)": (WORKER,),
    "refresh_erased_statistics()": (WORKER,),
    "revoke_oauth_client(text, text, timestamptz)": (API,),
    "select_library(bytea, text)": (API,),
    "set_password(text, text, timestamptz)": (API,),
    "stale_jobs(timestamptz, timestamptz, integer)": (WORKER,),
    "stale_uploads(timestamptz, integer)": (WORKER,),
    "syntheses_to_purge(timestamptz, integer)": (WORKER,),
    "touch_keys(text[], timestamptz[])": (API,),
    "trashed_videos(timestamptz, integer)": (WORKER,),
    "unfinished_assemblies(timestamptz, integer)": (WORKER,),
    "voices_to_purge(timestamptz, integer)": (WORKER,),
    "webhook_endpoint_exists(text)": (API,),
    "with_attempt(jsonb, jsonb)": (API, WORKER),
    "with_marks(real[], real, double precision)": (API, WORKER),
    "with_step(jsonb, text, text, timestamptz, text)": (API, WORKER),
    "workspaces_owned_alone(text)": (API,),
}


def statements() -> Iterator[str]:
    """Statements that replace all privileges of the roles; idempotent."""
    everyone = ", ".join(("PUBLIC", *ROLES))
    for kind in ("TABLES", "SEQUENCES", "FUNCTIONS"):
        yield f"REVOKE ALL ON ALL {kind} IN SCHEMA public FROM {everyone}"
    yield "REVOKE CREATE ON SCHEMA public FROM PUBLIC"
    yield f"GRANT USAGE ON SCHEMA public TO {', '.join(ROLES)}"
    for table, of_roles in TABLES.items():
        for role, privileges in zip((API, WORKER), of_roles, strict=True):
            if privileges:
                yield f"GRANT {privileges} ON {table} TO {role}"
    yield f"GRANT SELECT ON {', '.join(VIEWS)} TO {API}, {WORKER}"
    for function, roles in FUNCTIONS.items():
        yield f"GRANT EXECUTE ON FUNCTION {function} TO {', '.join(roles)}"
