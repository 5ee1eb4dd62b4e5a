"""Explains the library's queries: the index used, rows and buffer pages."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cutroom.platform.db import Connection, Database

INDEX = "videos_pkey"
INDEX_DEPTH = 6  # pages from the index root to a row and to the next leaf, with some slack
# PostgreSQL uses custom plans first and may switch to a generic plan later; both must be good.
PLAN_MODES = ("force_custom_plan", "force_generic_plan")


@dataclass(frozen=True, slots=True)
class Query:
    """A query of the service, and its expected row count."""

    name: str
    sql: str
    library_id: str
    rest: tuple[str | int, ...]
    rows: int

    @property
    def max_pages(self) -> int:
        """Each row may be in a different page."""
        return self.rows + INDEX_DEPTH


@dataclass(frozen=True, slots=True)
class Plan:
    """Buffer pages of an executed query, and what is wrong with its plan."""

    pages: int
    fault: str | None


async def explain(database: Database, query: Query, mode: str) -> Plan:
    """Execute the query as the application's role in its library, and evaluate its plan."""
    async with database.transaction(query.library_id) as connection:
        await connection.execute("SELECT set_config('plan_cache_mode', $1, true)", mode)
        await connection.execute(f"PREPARE explained AS {query.sql}")
        try:
            return _evaluate(await _plan(connection, query), query)
        finally:
            await connection.execute("DEALLOCATE explained")


async def _plan(connection: Connection, query: Query) -> dict[str, Any]:
    values = ", ".join(repr(value) for value in (query.library_id, *query.rest))  # ids and numbers without quotes
    output = await connection.fetchval(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE explained({values})")
    plan: dict[str, Any] = json.loads(output)[0]["Plan"]
    return plan


def _evaluate(plan: dict[str, Any], query: Query) -> Plan:
    # The caller's own row of `libraries` is read as well, without an index if all of them fit into a few pages.
    nodes = [node for node in _nodes(plan) if node.get("Relation Name") != "libraries"]
    own_row = [node for node in _nodes(plan) if node.get("Relation Name") == "libraries"]
    kinds = [node["Node Type"] for node in nodes]
    scans = [node for node in nodes if node["Node Type"] == "Index Scan" and node["Index Name"] == INDEX]
    removed = sum(node.get("Rows Removed by Filter", 0) for node in nodes)
    pages = _pages(plan) - sum(_pages(node) for node in own_row)
    fault = None
    if len(scans) != 1 or set(kinds) - {"Limit", "Index Scan", "Result"}:
        fault = f"plan: {', '.join(kinds)}"
    elif plan["Actual Rows"] != query.rows or removed:
        fault = f"rows: {plan['Actual Rows']} found, {removed} filtered out"
    elif pages > query.max_pages:
        fault = f"pages: {pages}"
    return Plan(pages=pages, fault=fault)


def _pages(node: Mapping[str, Any]) -> int:
    """Buffer pages of a node and those below it."""
    pages: int = node["Shared Hit Blocks"] + node["Shared Read Blocks"]
    return pages


def scanned_tables(plan: Mapping[str, Any]) -> set[str]:
    """The tables that a plan scans sequentially."""
    return {node["Relation Name"] for node in _nodes(plan) if node["Node Type"] == "Seq Scan"}


def _nodes(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from _nodes(child)
