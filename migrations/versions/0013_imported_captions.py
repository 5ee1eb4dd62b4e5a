"""Captions that were imported, and optimized scripts of transcripts.

Only a view without captions whose files are not stored yet, which 0.1.0 never has, and a column without a value: 0.1.0
runs with either version.
"""

from alembic import op

revision = "0013"
down_revision = "0012"

# The files of imported captions follow a moment after the row.
_VIEW = """
CREATE OR REPLACE VIEW published_captions WITH (security_invoker = true) AS
    SELECT library_id, video_id, language, segments, quality, coalesce(published_at, created_at) AS created_at
      FROM captions WHERE published_revision > 0
"""
_SCRIPT = """
ALTER TABLE transcripts ADD COLUMN optimized jsonb -- texts for voices, by segment; null if there are none
"""


def upgrade() -> None:
    op.execute(_VIEW)
    op.execute(_SCRIPT)


def downgrade() -> None:
    """Nothing to revert: 0.1.0 does not use the new column."""
