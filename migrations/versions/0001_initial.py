"""The whole schema: tables and functions by owner, row-level security, and the application's privileges."""

from pathlib import Path

from alembic import op

revision = "0001"
down_revision = None

SCHEMA = Path(__file__).parents[1] / "schema"

# Rows are visible only inside the library that the transaction has entered.
LIBRARY_TABLES = {
    "members": "SELECT, INSERT, UPDATE, DELETE",
    "api_keys": "SELECT, INSERT, UPDATE",
    "oauth_tokens": "SELECT, INSERT, UPDATE",
    "videos": "SELECT, INSERT, UPDATE, DELETE",
    "folders": "SELECT, INSERT, UPDATE, DELETE",
    "characters": "SELECT, INSERT, UPDATE, DELETE",
    "character_images": "SELECT, INSERT, UPDATE, DELETE",
    "brand_voices": "SELECT, INSERT, UPDATE, DELETE",
    "library_usage": "SELECT, INSERT, UPDATE",
    "webhook_endpoints": "SELECT, INSERT, UPDATE",
    "idempotency_records": "SELECT, INSERT, UPDATE, DELETE",
    "ledger_balances": "SELECT",
    "ledger_transactions": "SELECT",
    "ledger_entries": "SELECT",
    "jobs": "SELECT, INSERT, UPDATE",
    "outbox": "INSERT",
    "started_workflows": "SELECT",
    "data_keys": "SELECT, INSERT",
    "sources": "SELECT, INSERT, UPDATE, DELETE",
    "upload_sessions": "SELECT, INSERT, UPDATE, DELETE",
    "upload_parts": "SELECT, INSERT, UPDATE, DELETE",
    "events": "SELECT, INSERT",
    "delivery_attempts": "SELECT, INSERT",
    "escrow_lines": "SELECT, INSERT, UPDATE (holder, state, ended_at)",
    "transcripts": "SELECT, INSERT, UPDATE, DELETE",
    "captions": "SELECT, INSERT, UPDATE, DELETE",
    "voices": "SELECT, INSERT, UPDATE, DELETE",
    "voice_consents": "SELECT, INSERT",
    "syntheses": "SELECT, INSERT, UPDATE, DELETE",
    "dubs": "SELECT, INSERT, UPDATE, DELETE",
    "shorts_outputs": "SELECT, INSERT, UPDATE, DELETE",
    "thumbnail_requests": "SELECT, INSERT, UPDATE, DELETE",
    "thumbnails": "SELECT, INSERT, UPDATE, DELETE",
    "playbacks": "SELECT, INSERT, UPDATE, DELETE",
    "playback_tracks": "SELECT, INSERT, UPDATE, DELETE",
    "hostings": "SELECT, INSERT, UPDATE, DELETE",
    "invitations": "SELECT, INSERT, UPDATE",
    "oauth_grants": "SELECT, INSERT, UPDATE",
    "oauth_refresh_tokens": "SELECT, INSERT, UPDATE",
    "retention_policies": "SELECT, INSERT, UPDATE",
    "storage_usage": "SELECT, INSERT, DELETE",
    "storage_scans": "SELECT, INSERT, UPDATE",
    "retention_deletions": "SELECT, INSERT, UPDATE, DELETE",
    "audit_entries": "SELECT, INSERT",
    "audit_heads": "SELECT, INSERT, UPDATE (sequence, hash)",
    "exports": "SELECT, INSERT, UPDATE, DELETE",
    "export_files": "SELECT, INSERT, UPDATE, DELETE",
    "export_parts": "SELECT, INSERT, UPDATE, DELETE",
    "destinations": "SELECT, INSERT, UPDATE, DELETE",
    "output_copies": "SELECT, INSERT, UPDATE, DELETE",
}
# Reached only through SECURITY DEFINER functions.
CLOSED_TABLES = ("user_passwords", "sessions", "oauth_clients")
# Shared by all libraries: what workers advertise.
SHARED_TABLES = ("translation_routes", "stock_voices")
# Shared by all libraries, and changed by operators only: keys that are wrapped by the root secret.
READ_ONLY_TABLES = ("key_ring",)
# What other packages may read of a table.
PUBLISHED_VIEWS = (
    "published_captions",
    "published_dubs",
    "published_shorts",
    "published_sources",
    "published_storage_usage",
    "published_thumbnails",
    "published_transcripts",
)

# SECURITY DEFINER functions look across libraries; each returns no more than its caller needs.
APPLICATION_FUNCTIONS = (
    "authenticate_key(bytea)",
    "authenticate_token(bytea, timestamptz)",
    "touch_keys(text[], timestamptz[])",
    "webhook_endpoint_exists(text)",
    "purge_idempotency_records(timestamptz, integer)",
    "claim_outbox_rows(integer, integer)",
    "defer_outbox_rows(bigint[], integer)",
    "delete_outbox_rows(bigint[])",
    "discard_outbox_row(text, text)",
    "outbox_backlog(integer)",
    "measured_runs(text, text, text, integer)",
    "stale_jobs(timestamptz, timestamptz, integer)",
    "stale_uploads(timestamptz, integer)",
    "unfinished_assemblies(timestamptz, integer)",
    "purge_events(timestamptz, integer)",
    "delete_video_events(text)",
    "pending_uploads(integer)",
    "expired_uploads(timestamptz, integer)",
    "move_credits(text, text, text, text, bigint, timestamptz)",
    "check_ledger(text, timestamptz)",
    "ledgers_to_check(timestamptz, integer)",
    "trashed_videos(timestamptz, integer)",
    "voices_to_purge(timestamptz, integer)",
    "syntheses_to_purge(timestamptz, integer)",
    "expired_exports(timestamptz, integer)",
    "find_password(text)",
    "set_password(text, text, timestamptz)",
    "create_account(text, text, text, text, text, text, timestamptz)",
    "create_workspace(text, text, text, text, timestamptz)",
    "create_session(text, text, bytea, text, timestamptz, timestamptz)",
    "authenticate_session(bytea, timestamptz, interval)",
    "select_library(bytea, text)",
    "list_libraries(text)",
    "end_session(bytea)",
    "authenticate_invitation(bytea, timestamptz)",
    "libraries_after(text, integer)",
    "oauth_client(text)",
    "list_oauth_clients(text)",
    "create_oauth_client(text, text, text[], text, timestamptz)",
    "revoke_oauth_client(text, text, timestamptz)",
    "authenticate_code(bytea)",
    "authenticate_refresh_token(bytea)",
    "workspaces_owned_alone(text)",
    "begin_erasure(text, timestamptz)",
    "count_library_rows(text)",
    "drop_library_starts(text)",
    "erase_library_rows(text)",
    "erased_libraries(text[])",
    "refresh_erased_statistics()",
)
OWNER_FUNCTIONS = (
    "post_movement(text, text, text, text, bigint, timestamptz)",
    "ledger_faults(text)",
    "ledger_job_faults(text)",
    "ledger_entry_faults(text)",
    "erasure_tables()",
    "require_erasure(text)",
    "erase_user_rows(text)",
    "apply_revocation(text, text, text, timestamptz)",
)


def upgrade() -> None:
    for path in sorted(SCHEMA.glob("*.sql")):
        for statement in path.read_text().strip().split("\n\n"):  # the driver takes one statement at a time
            op.execute(statement)
    library = "current_setting('cutroom.library_id', true)"
    for table, privileges in LIBRARY_TABLES.items():
        _confine(table, privileges, f"library_id = {library}")
    _confine("libraries", "SELECT, UPDATE (refuses_drafts, urls_valid_from)", f"id = {library}")
    _confine("users", "SELECT", "EXISTS (SELECT FROM members m WHERE m.user_id = users.id)")
    for table in CLOSED_TABLES:
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
    for table in SHARED_TABLES:
        op.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO cutroom_app")
    for name in (*PUBLISHED_VIEWS, *READ_ONLY_TABLES):
        op.execute(f"GRANT SELECT ON {name} TO cutroom_app")
    for function in (*APPLICATION_FUNCTIONS, *OWNER_FUNCTIONS):
        op.execute(f"REVOKE ALL ON FUNCTION {function} FROM PUBLIC")
    for function in APPLICATION_FUNCTIONS:
        op.execute(f"GRANT EXECUTE ON FUNCTION {function} TO cutroom_app")
    op.execute("GRANT SELECT ON alembic_version TO cutroom_app")


def _confine(table: str, privileges: str, condition: str) -> None:
    op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY own_library ON {table} USING ({condition}) WITH CHECK ({condition})")
    op.execute(f"GRANT {privileges} ON {table} TO cutroom_app")


def downgrade() -> None:
    raise RuntimeError("The initial migration cannot be reverted; drop the database instead.")
