"""Measures the bytes of rows and index entries, instead of the pages of a new database, which are mostly empty."""

from cutroom.platform.db import Connection

TUPLE_BYTES = 24 + 4  # header and line pointer
INDEX_TUPLE_BYTES = 8 + 4
HEAP_FILL, INDEX_FILL = 0.9, 0.7  # usual share of a page that is used

_TABLES = """SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')"""
_INDEXES = """SELECT indrelid::regclass::text AS name, pg_get_expr(indpred, indrelid) AS predicate,
        array(SELECT pg_get_indexdef(indexrelid, n, true) FROM generate_series(1, indnkeyatts::int) AS n) AS keys
    FROM pg_index JOIN pg_class c ON c.oid = indrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')"""


async def row_bytes(connection: Connection) -> int:
    """Bytes of all rows and their index entries in pages of the usual fill; updated rows count once."""
    heap = indexes = 0.0
    for table in await connection.fetch(_TABLES):
        heap += await connection.fetchval(
            f"SELECT coalesce(sum(pg_column_size(t.*) + {TUPLE_BYTES}), 0)::float FROM {table['name']} t"  # noqa: S608
        )
    for index in await connection.fetch(_INDEXES):
        size = " + ".join(f"coalesce(pg_column_size({key}), 0)" for key in index["keys"])
        where = f" WHERE {index['predicate']}" if index["predicate"] else ""
        indexes += await connection.fetchval(
            f"SELECT coalesce(sum({size} + {INDEX_TUPLE_BYTES}), 0)::float FROM {index['name']}{where}"  # noqa: S608
        )
    return round(heap / HEAP_FILL + indexes / INDEX_FILL)
