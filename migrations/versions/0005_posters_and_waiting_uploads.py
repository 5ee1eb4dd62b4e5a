"""Videos get posters; uploads that go past us are found."""

from alembic import op

revision = "0005"
down_revision = "0004"

WAITING_UPLOADS = """
CREATE FUNCTION waiting_uploads(at_most integer) RETURNS TABLE (library_id text, video_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT j.library_id, j.video_id FROM jobs j
     WHERE j.status = 'queued' AND j.type = 'import' AND j.depends_on @> ARRAY['upload_' || j.video_id]
     ORDER BY j.updated_at DESC LIMIT at_most
$$
"""


def upgrade() -> None:
    op.execute("ALTER TABLE videos ADD COLUMN poster_path text")
    op.execute(WAITING_UPLOADS)
    op.execute("REVOKE ALL ON FUNCTION waiting_uploads(integer) FROM PUBLIC")
    op.execute("GRANT EXECUTE ON FUNCTION waiting_uploads(integer) TO cutroom_app")


def downgrade() -> None:
    op.execute("DROP FUNCTION waiting_uploads(integer)")
    op.execute("ALTER TABLE videos DROP COLUMN poster_path")
