"""Lines of dubs that people edit, each with an id that stays the same.

Columns with defaults: 0.1.0 runs with either version. Edits were texts by the number of a line, which no
operation could write.
"""

from alembic import op

revision = "0008"
down_revision = "0007"

_COLUMNS = """
ALTER TABLE dubs
    ADD COLUMN revision integer NOT NULL DEFAULT 1, -- of the edits
    ADD COLUMN lines jsonb, -- what the published audio was made from; none of dubs of 0.1.0
    ADD COLUMN generation text NOT NULL DEFAULT '', -- the regeneration that published it
    ADD COLUMN redub_job_id text COLLATE "C" -- the last regeneration
"""
_EDITS = "UPDATE dubs SET edits = '{}' WHERE edits <> '{}'"


def upgrade() -> None:
    op.execute(_COLUMNS)
    op.execute(_EDITS)


def downgrade() -> None:
    """Nothing to revert: 0.1.0 does not use the new columns."""
