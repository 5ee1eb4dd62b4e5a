"""Review links and comments of videos.

Only new tables, a function, and a further kind of actor in the audit log: 0.1.0 runs with either version. It cannot
list a log that has an entry of a guest, which only later versions write.
"""

from alembic import op

revision = "0011"
down_revision = "0010"

_OF_LIBRARY = "library_id = current_setting('cutroom.library_id', true)"
# Neither refers to the other: a comment stays when the link that it came by is revoked.
NEW_TABLES = ("review_links", "review_comments")

_LINKS = """
CREATE TABLE review_links (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    video_id text COLLATE "C" NOT NULL,
    hash bytea NOT NULL, -- of the secret in its URL
    role text NOT NULL CONSTRAINT review_links_role_check CHECK (role IN ('view', 'comment', 'edit')),
    label text,
    created_by text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    CONSTRAINT review_links_pkey PRIMARY KEY (library_id, id),
    CONSTRAINT review_links_hash_key UNIQUE (hash)
)
"""
_LINKS_VIDEO = "CREATE INDEX review_links_video_id_idx ON review_links (library_id, video_id, id)"
_COMMENTS = """
CREATE TABLE review_comments (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    video_id text COLLATE "C" NOT NULL,
    time_seconds double precision NOT NULL,
    segment_id text,
    language text, -- of a dub or captions; none for the original
    text text NOT NULL,
    author_kind text NOT NULL CONSTRAINT review_comments_author_kind_check
        CHECK (author_kind IN ('person', 'key', 'guest')),
    user_id text COLLATE "C", -- none for a guest
    guest_id text COLLATE "C", -- of one browser that opened the link
    guest_name text,
    link_id text COLLATE "C",
    resolved_at timestamptz,
    created_at timestamptz NOT NULL,
    revision integer NOT NULL DEFAULT 1,
    CONSTRAINT review_comments_pkey PRIMARY KEY (library_id, id)
)
"""
_COMMENTS_VIDEO = "CREATE INDEX review_comments_video_id_idx ON review_comments (library_id, video_id, id)"
_REVISION = """
CREATE TRIGGER review_comments_revision BEFORE UPDATE ON review_comments FOR EACH ROW
WHEN ((OLD.text, OLD.resolved_at) IS DISTINCT FROM (NEW.text, NEW.resolved_at))
EXECUTE FUNCTION next_revision()
"""
# As with API keys, the link of a former member stops working.
_AUTHENTICATE = """
CREATE FUNCTION authenticate_review_link(link_hash bytea, at timestamptz)
RETURNS TABLE (link_id text, library_id text, library_kind text, plan text, suspended boolean,
               refuses_drafts boolean, video_id text, video_title text, role text, created_by text,
               expires_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    SELECT r.id, r.library_id, l.kind, l.plan, l.suspended_at IS NOT NULL, l.refuses_drafts, r.video_id, v.title,
           r.role, r.created_by, r.expires_at
      INTO link_id, library_id, library_kind, plan, suspended, refuses_drafts, video_id, video_title, role,
           created_by, expires_at
      FROM review_links r
      JOIN libraries l ON l.id = r.library_id AND l.erased_at IS NULL
      JOIN members m ON m.library_id = r.library_id AND m.user_id = r.created_by
      JOIN videos v ON v.library_id = r.library_id AND v.id = r.video_id AND v.deleted_at IS NULL
     WHERE r.hash = link_hash AND r.expires_at > at;
    IF FOUND THEN
        PERFORM set_library_context(library_id, role);
        RETURN NEXT;
    END IF;
END $$
"""
# Every row that is there satisfies it, so that none is read under the lock.
_ACTORS = """
-- compatible with 0.1.0: the constraint accepts all that the one before did
ALTER TABLE audit_entries
    DROP CONSTRAINT audit_entries_actor_kind_check,
    ADD CONSTRAINT audit_entries_actor_kind_check
        CHECK (actor_kind IN ('key', 'token', 'person', 'guest', 'system')) NOT VALID
"""
_ERASURE_TABLES = """
CREATE OR REPLACE FUNCTION erasure_tables() RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT ARRAY[{names}]
$$
"""


def upgrade() -> None:
    for statement in (_LINKS, _LINKS_VIDEO, _COMMENTS, _COMMENTS_VIDEO, _REVISION, _AUTHENTICATE, _ACTORS):
        op.execute(statement)
    for table in NEW_TABLES:
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY own_library ON {table} USING ({_OF_LIBRARY}) WITH CHECK ({_OF_LIBRARY})")
    listed: list[str] = op.get_bind().exec_driver_sql("SELECT erasure_tables()").scalar_one()
    names = [*(each for each in NEW_TABLES if each not in listed), *listed]
    op.execute(_ERASURE_TABLES.format(names=", ".join(f"'{each}'" for each in names)))


def downgrade() -> None:
    """Nothing to revert: 0.1.0 does not use the new tables."""
