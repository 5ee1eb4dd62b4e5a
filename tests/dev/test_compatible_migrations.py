"""New migrations only add: the latest release keeps running on their schema."""

from pathlib import Path

import pytest

from dev.compatible_migrations import find_problems, statement_problems

PYTHON = '''"""Drop nothing."""
COLUMN = "ALTER TABLE jobs {change}"
def upgrade() -> None:
    """RENAME nothing."""
    op.execute(COLUMN)
def downgrade() -> None:
    op.execute("DROP TABLE prices")
'''


def test_new_migrations_of_this_version_are_compatible() -> None:
    assert find_problems() == []


@pytest.mark.parametrize(
    "sql",
    [
        "ALTER TABLE jobs DROP COLUMN stage",
        "drop function f()",
        "ALTER TABLE jobs RENAME COLUMN stage TO step",
        "ALTER TABLE jobs ALTER COLUMN stage SET NOT NULL",
        "ALTER TABLE jobs ALTER COLUMN progress TYPE double precision",
        "ALTER TABLE jobs ADD COLUMN cost bigint NOT NULL",
        "ALTER TABLE jobs ADD CONSTRAINT c CHECK (progress > 0)",
        "CREATE UNIQUE INDEX i ON jobs (stage)",
        "REVOKE SELECT ON jobs FROM cutroom_api",
        "-- compatible with 0.0.9: unused\nDROP TABLE prices",
        "-- compatible with 0.1.0: unused\nDROP TABLE prices; DROP TABLE jobs",
    ],
)
def test_incompatible_statement_is_found(sql: str) -> None:
    assert len(list(statement_problems(sql, "0.1.0"))) == 1


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TABLE prices (id text NOT NULL)",
        "ALTER TABLE jobs ADD COLUMN cost bigint",
        "ALTER TABLE jobs ADD COLUMN cost bigint NOT NULL DEFAULT 0",
        "ALTER TABLE jobs ALTER COLUMN stage DROP NOT NULL",
        "-- drops nothing\nCREATE INDEX i ON jobs (stage)",
        "-- compatible with 0.1.0: nothing reads it\nALTER TABLE jobs DROP COLUMN stage",
    ],
)
def test_compatible_statement_is_accepted(sql: str) -> None:
    assert list(statement_problems(sql, "0.1.0")) == []


def test_migrations_in_both_forms_are_read(tmp_path: Path) -> None:
    versions, schema = tmp_path / "migrations" / "versions", tmp_path / "migrations" / "schema"
    versions.mkdir(parents=True)
    schema.mkdir()
    (schema / "90_new.sql").write_text("CREATE TABLE a (id text);\nDROP TABLE b;\n")
    (versions / "0002_new.py").write_text(PYTHON.format(change="RENAME TO tasks"))
    (versions / "0003_new.py").write_text(PYTHON.format(change="ADD COLUMN cost bigint"))
    found = [each.split(":")[0] for each in find_problems(tmp_path)]
    assert found == ["migrations/schema/90_new.sql", "migrations/versions/0002_new.py"]
