"""The revision of the transcript that shorts were made from.

Only a column that may be null: 0.1.0 runs with either version.
"""

from alembic import op

revision = "0013"
down_revision = "0010"

_SHORTS = "ALTER TABLE shorts_outputs ADD COLUMN transcript_revision integer"


def upgrade() -> None:
    op.execute(_SHORTS)


def downgrade() -> None:
    """Nothing to revert: 0.1.0 does not use the new column."""
