"""Glossary terms of libraries.

Only a new table, and a column with a default: 0.1.0 runs with either version.
"""

from alembic import op

revision = "0010"
down_revision = "0009"

_OF_LIBRARY = "library_id = current_setting('cutroom.library_id', true)"
TABLE = "glossary_terms"

_TERMS = """
CREATE TABLE glossary_terms (
    library_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    folder_id text COLLATE "C", -- where it applies; everywhere if it is null
    term text NOT NULL,
    term_key text NOT NULL, -- folded, unless the case counts
    language text NOT NULL,
    keep boolean NOT NULL,
    case_sensitive boolean NOT NULL,
    translations jsonb NOT NULL DEFAULT '{}',
    pronunciations jsonb NOT NULL DEFAULT '{}',
    note text,
    created_at timestamptz NOT NULL,
    revision integer NOT NULL DEFAULT 1,
    CONSTRAINT glossary_terms_pkey PRIMARY KEY (library_id, id),
    CONSTRAINT glossary_terms_term_key UNIQUE NULLS NOT DISTINCT (library_id, folder_id, language, term_key),
    CONSTRAINT glossary_terms_library_id_folder_id_fkey FOREIGN KEY (library_id, folder_id)
        REFERENCES folders (library_id, id) ON DELETE CASCADE
)
"""
_REVISION = """
CREATE TRIGGER glossary_terms_revision BEFORE UPDATE ON glossary_terms FOR EACH ROW
WHEN ((OLD.folder_id, OLD.term, OLD.language, OLD.keep, OLD.case_sensitive, OLD.translations, OLD.pronunciations,
       OLD.note)
    IS DISTINCT FROM (NEW.folder_id, NEW.term, NEW.language, NEW.keep, NEW.case_sensitive, NEW.translations,
       NEW.pronunciations, NEW.note))
EXECUTE FUNCTION next_revision()
"""
_BROKEN_TERMS = "ALTER TABLE dubs ADD COLUMN broken_terms jsonb NOT NULL DEFAULT '[]'"
_ERASURE_TABLES = """
CREATE OR REPLACE FUNCTION erasure_tables() RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT ARRAY[{names}]
$$
"""


def upgrade() -> None:
    for statement in (_TERMS, _REVISION, _BROKEN_TERMS):
        op.execute(statement)
    op.execute(f"ALTER TABLE {TABLE} ENABLE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY own_library ON {TABLE} USING ({_OF_LIBRARY}) WITH CHECK ({_OF_LIBRARY})")
    listed: list[str] = op.get_bind().exec_driver_sql("SELECT erasure_tables()").scalar_one()
    names = [TABLE, *(each for each in listed if each != TABLE)]  # before the folders
    op.execute(_ERASURE_TABLES.format(names=", ".join(f"'{each}'" for each in names)))


def downgrade() -> None:
    """Nothing to revert: 0.1.0 does not use the new table and column."""
