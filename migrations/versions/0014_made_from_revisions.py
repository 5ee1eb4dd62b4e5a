"""The revision of the transcript that shorts were made from, and the words that streams leave out.

Only columns that may be null: 0.1.0 runs with either version.
"""

from alembic import op

revision = "0014"
down_revision = "0013"

_SHORTS = "ALTER TABLE shorts_outputs ADD COLUMN transcript_revision integer"
_STREAMS = """
ALTER TABLE playbacks
    ADD COLUMN requested_edit jsonb, -- the revision whose deleted words are to be left out
    ADD COLUMN planned_edit jsonb, -- the same with its cuts, while it is packaged
    ADD COLUMN packaged_edit jsonb -- what the published stream leaves out
"""


def upgrade() -> None:
    for statement in (_SHORTS, _STREAMS):
        op.execute(statement)


def downgrade() -> None:
    """Nothing to revert: 0.1.0 does not use the new columns."""
