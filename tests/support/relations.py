"""Reads tables and views from the database catalog, so that new tables are covered automatically."""

from dataclasses import dataclass

import asyncpg

from cutroom.platform.db import Connection

_RELATIONS = """
SELECT format('%I', c.relname) AS name, c.relkind::text AS kind, c.relispartition AS is_partition,
       c.relrowsecurity AND EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid) AS has_policy,
       pg_get_userbyid(c.relowner) = $1::name AS is_owned,
       has_any_column_privilege($1, c.oid, 'SELECT') AS readable,
       has_table_privilege($1, c.oid, 'TRUNCATE') AS can_truncate,
       array_agg(format('%I', a.attname) ORDER BY a.attnum) FILTER (WHERE a.attgenerated = '') AS columns
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
GROUP BY c.oid ORDER BY c.relname
"""
_NEEDED_COLUMNS = """
SELECT format('%I', a.attname) AS name, format_type(a.atttypid, a.atttypmod) AS type, t.typcategory::text AS category
FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
WHERE a.attrelid = $1::text::regclass AND a.attnum > 0 AND NOT a.attisdropped AND a.attname <> 'library_id'
  AND a.attnotnull AND NOT a.atthasdef AND a.attidentity = ''
"""
_CONSTRAINTS = (
    "SELECT format('%I', conname) AS name FROM pg_constraint WHERE conrelid = $1::text::regclass AND contype = ANY($2)"
)
_PLAIN_VALUES = {"N": "0", "D": "2026-01-01", "B": "false", "A": "{}", "T": "0 s"}  # by kind of type
_OTHER_VALUES = {"json": "{}", "jsonb": "{}", "uuid": "00000000-0000-0000-0000-000000000000"}


@dataclass(frozen=True, slots=True)
class Relation:
    """A table or view, and whether row-level security protects it."""

    name: str
    is_table: bool
    has_library: bool
    readable: bool  # by the role
    is_partition: bool
    columns: tuple[str, ...]  # that can be inserted
    fault: str | None


async def read_relations(connection: Connection, *, role: str) -> list[Relation]:
    return [_relation(row) for row in await connection.fetch(_RELATIONS, role)]


def _relation(row: asyncpg.Record) -> Relation:
    is_table, has_library = row["kind"] in {"r", "p"}, "library_id" in row["columns"]
    fault = None
    if row["is_owned"] or row["can_truncate"]:
        fault = "the role owns it or may truncate it, which bypasses its policy"
    elif is_table and has_library and not row["has_policy"] and (row["readable"] or not row["is_partition"]):
        fault = "it has a library_id, but no row-level security with a policy"
    return Relation(
        name=row["name"],
        is_table=is_table,
        has_library=has_library,
        readable=row["readable"],
        is_partition=row["is_partition"],
        columns=tuple(row["columns"]),
        fault=fault,
    )


async def fill_empty_tables(connection: Connection, library_id: str) -> None:
    """Insert a row into each table that has none for the library, so that its policy has something to hide.

    The rows are arbitrary, so constraints are dropped first; only for a scratch database.
    """
    for relation in await read_relations(connection, role="public"):
        if relation.is_table and relation.has_library and not relation.is_partition:
            sql = f"SELECT EXISTS (SELECT FROM {relation.name} WHERE library_id = $1)"  # noqa: S608
            if not await connection.fetchval(sql, library_id):
                await _fill(connection, relation.name, library_id)


async def _fill(connection: Connection, table: str, library_id: str) -> None:
    for constraint in await connection.fetch(_CONSTRAINTS, table, [b"c", b"f"]):
        await connection.execute(f"ALTER TABLE {table} DROP CONSTRAINT {constraint['name']}")
    await connection.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
    names, values = ["library_id"], ["$1"]
    for column in await connection.fetch(_NEEDED_COLUMNS, table):
        # Text and bytes may have to be unique.
        own = {**_OTHER_VALUES, "bytea": rf"\x{library_id.encode().hex()}"}
        value = own.get(column["type"], {**_PLAIN_VALUES, "S": library_id}.get(column["category"]))
        if value is None:
            raise RuntimeError(f"no value for type {column['type']}; add one for {table}.{column['name']} here")
        names.append(column["name"])
        values.append(f"'{value}'::{column['type']}")
    await connection.execute(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join(values)})", library_id)  # noqa: S608
