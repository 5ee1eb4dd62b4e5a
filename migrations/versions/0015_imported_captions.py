"""Captions that were imported.

Only a view without captions whose files are not stored yet, which 0.1.0 never has: it runs with either version.
"""

from alembic import op

revision = "0015"
down_revision = "0010"

# The files of imported captions follow a moment after the row.
_VIEW = """
CREATE OR REPLACE VIEW published_captions WITH (security_invoker = true) AS
    SELECT library_id, video_id, language, segments, quality, coalesce(published_at, created_at) AS created_at
      FROM captions WHERE published_revision > 0
"""


def upgrade() -> None:
    op.execute(_VIEW)


def downgrade() -> None:
    """Nothing to revert: 0.1.0 publishes captions with their files."""
