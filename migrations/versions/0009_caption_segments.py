"""Caption tracks that are edited and regenerated per segment.

Only columns with defaults: 0.1.0 runs with either version. It reads the captions as they are, and tracks that it makes
are matched to the transcript by their times.
"""

from alembic import op

revision = "0009"
down_revision = "0008"

_COLUMNS = """
ALTER TABLE captions
    ADD COLUMN revision integer NOT NULL DEFAULT 1,
    ADD COLUMN published_revision integer NOT NULL DEFAULT 1, -- what the subtitle files contain
    ADD COLUMN published_at timestamptz, -- null if the files were never stored again
    ADD COLUMN previous jsonb NOT NULL DEFAULT '[]', -- segments before the last change by hand
    ADD COLUMN regenerated jsonb -- the job that changed the track last, and its result
"""
# Readers see when the files were stored last: playback packages a track again that is newer than its package.
_VIEW = """
CREATE OR REPLACE VIEW published_captions WITH (security_invoker = true) AS
    SELECT library_id, video_id, language, segments, quality, coalesce(published_at, created_at) AS created_at
      FROM captions
"""


def upgrade() -> None:
    op.execute(_COLUMNS)
    op.execute(_VIEW)


def downgrade() -> None:
    """Nothing to revert: 0.1.0 does not use the new columns."""
