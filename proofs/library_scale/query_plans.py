"""How PostgreSQL runs the library's own queries: by which index, over how many rows and pages of memory."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cutroom.platform.db import Connection, Database

INDEX = "videos_pkey"
INDEX_DEPTH = 6  # pages from the root of the index to a row's place, and over to the next leaf; with some room
# A statement is planned anew for its values at first, and once for all values later; both plans must be good.
PLAN_MODES = ("force_custom_plan", "force_generic_plan")


@dataclass(frozen=True, slots=True)
class Query:
    """A query as the service asks it, and how many rows it must find."""

    name: str
    sql: str
    library_id: str
    rest: tuple[str | int, ...]
    rows: int

    @property
    def max_pages(self) -> int:
        """Each row may lie in a page of its own."""
        return self.rows + INDEX_DEPTH


@dataclass(frozen=True, slots=True)
class Plan:
    """What a query did."""

    pages: int
    fault: str | None


async def explain(database: Database, query: Query, mode: str) -> Plan:
    """Run the query as the application does, confined to its library, and look at what it did."""
    async with database.transaction(query.library_id) as connection:
        await connection.execute("SELECT set_config('plan_cache_mode', $1, true)", mode)
        await connection.execute(f"PREPARE asked AS {query.sql}")
        try:
            return _judge(await _plan(connection, query), query)
        finally:
            await connection.execute("DEALLOCATE asked")


async def _plan(connection: Connection, query: Query) -> dict[str, Any]:
    values = ", ".join(repr(value) for value in (query.library_id, *query.rest))  # ids and numbers: no quotes in them
    told = await connection.fetchval(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE asked({values})")
    plan: dict[str, Any] = json.loads(told)[0]["Plan"]
    return plan


def _judge(plan: dict[str, Any], query: Query) -> Plan:
    nodes = list(_nodes(plan))
    kinds = [node["Node Type"] for node in nodes]
    scans = [node for node in nodes if node["Node Type"] == "Index Scan" and node["Index Name"] == INDEX]
    removed = sum(node.get("Rows Removed by Filter", 0) for node in nodes)
    pages = plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
    fault = None
    if len(scans) != 1 or set(kinds) - {"Limit", "Index Scan", "Result"}:
        fault = f"plan: {', '.join(kinds)}"
    elif plan["Actual Rows"] != query.rows or removed:
        fault = f"rows: {plan['Actual Rows']} found, {removed} thrown away"
    elif pages > query.max_pages:
        fault = f"pages: {pages}"
    return Plan(pages=pages, fault=fault)


def _nodes(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield plan
    for below in plan.get("Plans", ()):
        yield from _nodes(below)
