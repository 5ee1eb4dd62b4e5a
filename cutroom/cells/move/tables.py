"""The tables of a library, from the same catalogue as its erasure, and statements that copy and compare their rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cutroom.platform.db import Connection

# Their ids are assigned by the database: they are added when the library arrives (`workflows.py`).
ADDED_LATER = frozenset({"outbox"})
# Changes without a transaction of the library, and is of no consequence.
NOT_COMPARED: Mapping[str, frozenset[str]] = {"api_keys": frozenset({"last_used_at"})}


@dataclass(frozen=True, slots=True)
class LibraryTable:
    """A table with rows of libraries. Names come from the schema, never from callers."""

    name: str
    owner: str  # the column that says whose a row is
    columns: tuple[str, ...]
    key: Mapping[str, str]  # types by column

    @property
    def _listed(self) -> str:
        return ", ".join(self.columns)

    @property
    def rows(self) -> str:
        return f"SELECT {self._listed} FROM {self.name} WHERE {self.owner} = $1"  # noqa: S608

    @property
    def changed_rows(self) -> str:
        """Rows written by transactions that had not ended at a snapshot, or began later ($2 is its oldest)."""
        return f"{self.rows} AND age(xmin) <= age($2::text::xid) ORDER BY {', '.join(self.key)}"

    @property
    def has_changed(self) -> str:
        return (
            f"SELECT '{self.name}' AS name WHERE EXISTS "  # noqa: S608
            f"(SELECT 1 FROM {self.name} WHERE {self.owner} = $1 AND age(xmin) <= age($2::text::xid))"
        )

    @property
    def count(self) -> str:
        return f"SELECT '{self.name}' AS name, count(*) AS rows FROM {self.name} WHERE {self.owner} = $1"  # noqa: S608

    @property
    def keys(self) -> str:
        return f"SELECT {', '.join(self.key)} FROM {self.name} WHERE {self.owner} = $1"  # noqa: S608

    @property
    def delete(self) -> str:
        """Takes one array for each column of the key: rows that refer to one another go in one statement."""
        arrays = ", ".join(f"${number}::{type_}[]" for number, type_ in enumerate(self.key.values(), 1))
        same = " AND ".join(f"{self.name}.{name} = gone.{name}" for name in self.key)
        return f"DELETE FROM {self.name} USING unnest({arrays}) AS gone ({', '.join(self.key)}) WHERE {same}"  # noqa: S608

    @property
    def save(self) -> str:
        """Inserts or replaces a row; one that is the same is left alone."""
        places = ", ".join(f"${number}" for number in range(1, len(self.columns) + 1))
        others = [name for name in self.columns if name not in self.key]
        head = f"INSERT INTO {self.name} AS stored ({self._listed}) VALUES ({places}) "  # noqa: S608
        if not others:
            return head + "ON CONFLICT DO NOTHING"
        given = ", ".join(f"excluded.{name}" for name in others)
        stored = ", ".join(f"stored.{name}" for name in others)
        assigned = ", ".join(f"{name} = excluded.{name}" for name in others)
        return (
            head + f"ON CONFLICT ({', '.join(self.key)}) "
            f"DO UPDATE SET {assigned} WHERE ROW({stored}) IS DISTINCT FROM ROW({given})"
        )

    @property
    def checksum(self) -> str:
        compared = [name for name in self.columns if name not in NOT_COMPARED.get(self.name, frozenset())]
        return (
            f"SELECT '{self.name}' AS name, count(*) AS rows, "  # noqa: S608
            f"coalesce(sum(hashtextextended(ROW({', '.join(compared)})::text, 0)::numeric), 0) AS sum "
            f"FROM {self.name} WHERE {self.owner} = $1"
        )


def of_all(queries: Sequence[str]) -> str:
    """One query of many tables, because their requests wait for every round trip while a library is frozen."""
    return " UNION ALL ".join(f"({query})" for query in queries)


_COLUMNS = """
SELECT a.attname AS name FROM pg_attribute a
 WHERE a.attrelid = $1::text::regclass AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
 ORDER BY a.attname
"""
_KEY = """
SELECT a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type FROM pg_index i
  JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
 WHERE i.indrelid = $1::text::regclass AND i.indisprimary ORDER BY array_position(i.indkey, a.attnum)
"""


async def library_tables(connection: Connection) -> Sequence[LibraryTable]:
    """Parents before children, the library itself first."""
    listed: list[str] = await connection.fetchval("SELECT erasure_tables()")
    names = [each for each in reversed(listed) if each not in ADDED_LATER]
    return [
        await _table(connection, "libraries", owner="id"),
        *[await _table(connection, name, owner="library_id") for name in names],
    ]


async def _table(connection: Connection, name: str, *, owner: str) -> LibraryTable:
    columns = [row["name"] for row in await connection.fetch(_COLUMNS, name)]
    key = {row["name"]: row["type"] for row in await connection.fetch(_KEY, name)}
    return LibraryTable(name, owner, tuple(columns), key)
