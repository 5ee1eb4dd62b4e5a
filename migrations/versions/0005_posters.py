"""Videos get posters."""

from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.execute("ALTER TABLE videos ADD COLUMN poster_path text")


def downgrade() -> None:
    op.execute("ALTER TABLE videos DROP COLUMN poster_path")
