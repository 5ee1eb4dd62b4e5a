"""The whole schema: tables and functions by owner, and row-level security."""

from pathlib import Path

from alembic import op

revision = "0001"
down_revision = None

SCHEMA = Path(__file__).parents[1] / "schema"

# Rows are visible only inside the library that the transaction has entered. Tables without a condition and without a
# `library_id` are closed: only SECURITY DEFINER functions reach them.
CONDITIONS = {
    "libraries": "id = current_setting('cutroom.library_id', true)",
    "users": "EXISTS (SELECT FROM members m WHERE m.user_id = users.id)",
}
OF_LIBRARY = "library_id = current_setting('cutroom.library_id', true)"
# For all libraries: what workers advertise, and keys that are wrapped by the root secret.
SHARED_TABLES = frozenset({"alembic_version", "key_ring", "translation_routes", "stock_voices"})
_TABLES = """
SELECT c.relname, EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'library_id')
FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') ORDER BY c.relname
"""


def upgrade() -> None:
    for path in sorted(SCHEMA.glob("*.sql")):
        for statement in path.read_text().strip().split("\n\n"):  # the driver takes one statement at a time
            op.execute(statement)
    for table, has_library in op.get_bind().exec_driver_sql(_TABLES).all():
        if table not in SHARED_TABLES:
            _confine(table, OF_LIBRARY if has_library else CONDITIONS.get(table))


def _confine(table: str, condition: str | None) -> None:
    op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
    if condition is not None:
        op.execute(f"CREATE POLICY own_library ON {table} USING ({condition}) WITH CHECK ({condition})")


def downgrade() -> None:
    raise RuntimeError("The initial migration cannot be reverted; drop the database instead.")
