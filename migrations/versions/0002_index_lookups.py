"""Looks up keys and libraries by index at any size: the planner read tables of a thousand rows as a whole.

Signatures and results are unchanged, so that 0.1.0 runs with either version.
"""

from alembic import op

revision = "0002"
down_revision = "0001"

# A scalar subquery is not turned into a join.
_ERASED_LIBRARIES = """
CREATE OR REPLACE FUNCTION erased_libraries(ids text[]) RETURNS TABLE (library_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT each FROM unnest(ids) AS each
     WHERE (SELECT l.erased_at IS NULL FROM libraries l WHERE l.id = each) IS NOT TRUE
$$
"""
# Rows are locked in one order, so that two processes do not wait for each other.
_TOUCH_KEYS = """
CREATE OR REPLACE FUNCTION touch_keys(key_ids text[], used_at timestamptz[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    each record;
BEGIN
    FOR each IN SELECT u.id, u.used FROM unnest(key_ids, used_at) AS u (id, used) ORDER BY u.id LOOP
        UPDATE api_keys k SET last_used_at = greatest(k.last_used_at, each.used) WHERE k.id = each.id;
    END LOOP;
END $$
"""


def upgrade() -> None:
    op.execute(_ERASED_LIBRARIES)
    op.execute(_TOUCH_KEYS)


def downgrade() -> None:
    """Nothing to revert: the functions return what they returned."""
